package conversations

import (
	"errors"
	"fmt"
	"strings"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// problemOf is what is wrong with a conversation whose events were read to the end; nil for
// nothing.
func problemOf(id transcript.ID, totals *store.Totals) *Problem {
	var left []string
	switch n := totals.TooLarge; n {
	case 0:
	case 1:
		left = append(left, "an event is too large to be read, and left out")
	default:
		left = append(left, fmt.Sprintf("%d events are too large to be read, and left out", n))
	}
	if totals.Cut {
		left = append(left, "it is far larger than the file that it is compressed to, and its end left out")
	}
	if len(left) == 0 {
		return nil
	}
	return &Problem{ID: id, Kind: TooLarge, Err: errors.New(strings.Join(left, "; "))}
}

// unreadable is the problem of a conversation whose events cannot be read, or not
// to the end.
func unreadable(id transcript.ID, err error) *Problem {
	var damage *store.DamageError
	if errors.As(err, &damage) {
		return &Problem{ID: id, Kind: DamagedEvents, Event: damage.Event, Err: damage}
	}
	return &Problem{ID: id, Kind: Unreadable, Err: err}
}

// note keeps a problem.
func (f *indexFacts) note(p *Problem) {
	f.Problem, f.ProblemAt, f.Why = int(p.Kind), p.Event, p.Err.Error()
	var told interface{ ForModel() string }
	if errors.As(p.Err, &told) {
		f.ForModel = told.ForModel()
	}
}

// problem returns the problem that was kept of a conversation.
func (f *indexFacts) problem(id transcript.ID) Problem {
	var err error = keptError{f.Why}
	if f.ForModel != "" {
		err = toldError{keptError{f.Why}, f.ForModel}
	}
	return Problem{ID: id, Kind: store.ProblemKind(f.Problem), Event: f.ProblemAt, Err: err}
}

// keptError is why a conversation could not be read when it was indexed.
type keptError struct{ why string }

func (e keptError) Error() string { return e.why }

// toldError is a [keptError] that a model is told of.
type toldError struct {
	keptError
	model string
}

func (e toldError) ForModel() string { return e.model }
