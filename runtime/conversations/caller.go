package conversations

import (
	"context"
	"slices"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// Caller is what is known of the conversation that a call comes from.
type Caller struct {
	// IDs are the conversation, and behind it others that it is recorded to be a part
	// of. Empty where that is not known.
	IDs []transcript.ID
	// Recorded reports whether the call comes from a program that records its
	// conversations here: where IDs is empty, one of them is that of the call.
	Recorded bool
}

// Caller returns what is known of the conversation that a call comes from. What is known of the call itself counts before what is
// known of the process: a program that was started from another one's shell has the
// environment of both. Where two programs are as likely, nothing is known.
func (l *Library) Caller(ctx context.Context, from caller.Caller) Caller {
	var best store.Caller
	name, several := "", false // of the program, and whether another one is as likely
	for _, s := range l.stores {
		r, ok := s.(store.Recognizer)
		if !ok {
			continue
		}
		switch c := r.Caller(ctx, from); {
		case c.Evidence > best.Evidence, c.Evidence == best.Evidence && s.Name() == name && len(best.IDs) == 0:
			best, name, several = c, s.Name(), false
		case c.Evidence == best.Evidence && s.Name() != name:
			several = true
		}
		if best.Evidence == store.ByCall && len(best.IDs) > 0 {
			break
		}
	}
	c := Caller{Recorded: best.Evidence != store.NoEvidence}
	if !several {
		c.IDs = best.IDs
	}
	return c
}

// kin returns the conversations that belong to some others: those that these were
// begun or forked from, and from there on up, and those that were begun or forked from
// them, and from there on down.
func kin(all []store.Conversation, of []transcript.ID) []transcript.ID {
	if len(of) == 0 {
		return nil
	}
	parents := make(map[transcript.ID]transcript.ID, len(all))
	for i := range all {
		if all[i].Parent != "" {
			parents[all[i].ID] = all[i].Parent
		}
	}
	up := map[transcript.ID]bool{}
	for _, id := range of {
		for parent := parents[id]; parent != "" && !up[parent]; parent = parents[parent] {
			up[parent] = true
		}
	}
	down := map[transcript.ID]bool{} // whether it comes from one of them, of those looked at
	for _, id := range of {
		down[id] = true
	}
	var found []transcript.ID
	for i := range all {
		id := all[i].ID
		if (descends(id, parents, down) || up[id]) && !slices.Contains(of, id) {
			found = append(found, id)
		}
	}
	return found
}

// descends reports whether a conversation comes from one that is known to. A circle of
// parents comes from nowhere else.
func descends(id transcript.ID, parents map[transcript.ID]transcript.ID, known map[transcript.ID]bool) bool {
	var path []transcript.ID
	result := false
	for at := id; at != ""; at = parents[at] {
		if answer, ok := known[at]; ok {
			result = answer
			break
		}
		known[at] = false
		path = append(path, at)
	}
	for _, at := range path {
		known[at] = result
	}
	return result
}
