package conversations

import (
	"context"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// Caller is the conversation that a call comes from, as far as it is known.
type Caller struct {
	// IDs are the conversation and the conversations that it is part of; empty if it is not known.
	IDs []transcript.ID
	// Recorded reports whether the call comes from a program that records its conversations here. If IDs is empty,
	// an unknown one of these conversations is the caller.
	Recorded bool
}

// Caller returns the conversation that a call comes from. Evidence in the call itself counts more than evidence in
// the process: a program that was started from another one's shell has the environment of both. If two programs are
// as likely, it returns none.
func (l *Library) Caller(ctx context.Context, from caller.Caller) Caller {
	var best store.Caller
	name, several := "", false // the program of best, and whether another program is as likely
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
