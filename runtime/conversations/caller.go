package conversations

import (
	"context"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// Caller is the conversation that a call comes from, as far as it is known.
type Caller struct {
	IDs []transcript.ID // the conversation and the conversations that it is part of; empty if it is not known
	// Recorded reports whether the call comes from a program that records its conversations here. If IDs is empty,
	// an unknown one of these conversations is the caller.
	Recorded bool
}

// Caller returns the conversation that a call comes from, by the strongest evidence that a store has. Evidence in the
// call itself is stronger than that in the environment of the process: a program that was started from the shell of
// another program has the variables of both. If two programs have the strongest evidence, the result has no ids.
func (l *Library) Caller(ctx context.Context, from caller.Caller) Caller {
	var best store.Caller
	name, isTie := "", false // the program of best, and whether another program has evidence as strong as best
	for _, s := range l.stores {
		r, ok := s.(store.Recognizer)
		if !ok {
			continue
		}
		c := r.Caller(ctx, from)
		isEqual, isSameProgram := c.Evidence == best.Evidence, s.Name() == name
		if c.Evidence > best.Evidence || (isEqual && isSameProgram && len(best.IDs) == 0) { // another home may have the ids
			best, name, isTie = c, s.Name(), false
		} else if isEqual && !isSameProgram {
			isTie = true
		}
		if best.Evidence == store.ByCall && len(best.IDs) > 0 {
			break // no evidence is stronger
		}
	}
	c := Caller{Recorded: best.Evidence != store.NoEvidence}
	if !isTie {
		c.IDs = best.IDs
	}
	return c
}
