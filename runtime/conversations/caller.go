package conversations

import (
	"context"

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

// Caller returns what is known of the conversation that a call comes from. What is known of
// the call itself counts before what is known of the process: a program that was started from
// another one's shell has the environment of both. Where two programs are as likely, nothing
// is known.
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
