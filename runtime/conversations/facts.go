package conversations

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/transcript"
)

// facts is what an index has of a conversation beside its messages.
type facts struct {
	// Conversation is what is known without reading the events and the same in every list.
	transcript.Conversation
	// Read is set where everything could be read. Of others there is what could be, for rankings
	// alone, and Problem and Why are the kind and the reason of what could not.
	Read      bool
	Problem   int
	ProblemAt int // [Problem.Event]
	Why       string
	ForModel  string // the same for a model; empty where a model is told nothing of it
	BadTime   bool
	Uncounted string // why the owner of the store counts nothing; empty where it does
	LastAt    time.Time
	Events    int
	Size      Size
}

// factsOf returns what is known of a conversation without reading its events.
func factsOf(c *store.Conversation) facts { return facts{Conversation: c.Conversation} }

// Fields implements [filecache.Fielder].
func (f *facts) Fields() []any {
	s := &f.Size
	return []any{
		&f.Read, &f.Problem, &f.ProblemAt, &f.Why, &f.ForModel, &f.BadTime, &f.Uncounted, &f.LastAt, &f.Events, &s.Turns, &s.Requests, &s.Numbered, &s.Chars,
		&f.NativeID, &f.Source, &f.Archived, &f.Hidden, (*string)(&f.Parent), &f.Dir, &f.CreatedAt,
	}
}

func (f *facts) encode() []byte { return filecache.AppendFields(nil, f.Fields()) }

// readFacts returns what an index has of a conversation.
func readFacts(c *index.Conversation) (f facts) {
	if !filecache.ReadFields(c.Facts, f.Fields()) {
		f = facts{}
	}
	f.ID, f.Title = transcript.ID(c.Key), c.Title
	return f
}

// indexVersion is the version that a conversation has in an index: what is recorded, and
// what a store makes of it only together with others.
func indexVersion(version string, c *store.Conversation) string {
	sum := sha256.Sum256(filecache.AppendFields(nil, []any{&version, &c.Title, (*string)(&c.Parent), &c.Order, &c.Hidden, &c.Archived}))
	return string(sum[:12])
}

// count fills in what was counted by reading the events to their end.
func (f *facts) count(totals *store.Totals, c *counting) {
	f.Read, f.Events, f.LastAt, f.BadTime = true, totals.Events, totals.LastAt, totals.BadTime
	f.Size = Size{Turns: totals.Turns, Requests: c.Requests, Numbered: c.Events, Chars: c.Chars}
	if totals.Uncounted != nil {
		f.Uncounted = totals.Uncounted.Error()
	}
}

// fail fills in why the events could not be read to their end.
func (f *facts) fail(p *Problem) {
	f.Problem, f.ProblemAt, f.Why = int(p.Kind), p.Event, p.Err.Error()
	var told interface{ ForModel() string }
	if errors.As(p.Err, &told) {
		f.ForModel = told.ForModel()
	}
}

// problem returns why the events could not be read to their end.
func (f *facts) problem() Problem {
	err := errors.New(f.Why)
	if f.ForModel != "" {
		err = &toldError{err, f.ForModel}
	}
	return Problem{ID: f.ID, Source: f.Source, Kind: store.ProblemKind(f.Problem), Event: f.ProblemAt, Err: err}
}

// toldError is an error that a model is told of.
type toldError struct {
	error
	model string
}

func (e *toldError) ForModel() string { return e.model }

// problemOf is what is wrong with a conversation whose events were read to the end; nil for
// nothing.
func problemOf(id transcript.ID, totals *store.Totals) *Problem {
	var left []string
	if n := totals.TooLarge; n == 1 {
		left = append(left, "an event is too large to be read, and left out")
	} else if n > 1 {
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
