package conversations

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Read implements [Source]. It goes through the events once to count them, and
// then again to hand over those that are asked for, so that no more is held in
// memory than one event.
func (l *Library) Read(ctx context.Context, q ReadQuery) (Reading, error) {
	var r Reading
	var f Filter
	if q.ID != "" {
		f.IDs = []string{q.ID}
	}
	listed, done := l.listing()
	defer done()
	c, err := l.ask(&f, listed, nil).read(ctx, q.ID, &r.Aside)
	if err != nil {
		return r, err
	}
	r.Conversation = c.Conversation
	for _, p := range c.Problems {
		if isBadField(p) {
			r.Aside.Problems = append(r.Aside.Problems, p)
		}
	}
	wanted, err := l.count(ctx, &q, &c, &r)
	if err != nil {
		return r, err
	}
	if q.Opened != nil {
		if err := q.Opened(&r); err != nil {
			return r, err
		}
	}
	if q.Event == nil || wanted.empty() {
		return r, nil
	}
	return r, handOver(ctx, &q, &c, wanted)
}

// read returns the conversation to read.
func (o *asking) read(ctx context.Context, text string, aside *Aside) (store.Conversation, error) {
	if text != "" {
		ids, err := o.library.parseIDs([]string{text})
		if err != nil {
			return store.Conversation{}, err
		}
		found, err := o.find(ctx, ids, aside)
		if err != nil {
			return store.Conversation{}, err
		}
		return found[0], nil
	}
	all, err := o.list(ctx, store.Live, aside)
	if err != nil {
		return store.Conversation{}, err
	}
	latest := -1
	var at time.Time
	for i, c := range all {
		used := c.LastActivatedAt
		if used.IsZero() {
			used = c.LastAt // only JP records activations
		}
		if !c.Hidden && (latest < 0 || !used.Before(at)) {
			latest, at = i, used
		}
	}
	if latest < 0 {
		return store.Conversation{}, &NoConversationError{Place: o.library.Place()}
	}
	return all[latest], nil
}

// selection is which events are asked for: those of some turns, or some numbered
// ones.
type selection struct {
	byNumber    bool
	first, last int // of the turns or the numbers; there are none where the last is before the first
}

func (s *selection) empty() bool { return s.last < s.first }

// count goes through all events, and returns which of them are asked for.
func (l *Library) count(ctx context.Context, q *ReadQuery, c *store.Conversation, r *Reading) (selection, error) {
	wanted := selection{byNumber: q.Events != EventRange{}, first: q.Events.First}
	var numbering transcript.Numbering
	totals, err := c.Read(ctx, nil, func(e *transcript.Event) bool {
		if n := numbering.Next(e.Kind); wanted.byNumber && q.Events.Has(n) {
			wanted.last, r.LastTurn = n, e.Turn
			if n == q.Events.First {
				r.FirstTurn = e.Turn
			}
		}
		return true
	})
	r.Turns, r.Events, r.Requests = totals.Turns, numbering.Events, numbering.Requests
	if ctx.Err() != nil {
		return wanted, ctx.Err()
	}
	var notFound *NotFoundError
	switch {
	case errors.As(err, &notFound):
		return wanted, notFound
	case err != nil:
		if r.Damage = unreadable(r.ID, err); r.Damage.Kind == Unreadable {
			return wanted, &UnreadableError{*r.Damage}
		}
	default:
		if p := problemOf(r.ID, &totals); p != nil {
			r.Aside.Problems = append(r.Aside.Problems, *p)
		}
	}
	if wanted.byNumber {
		if q.Events.First < 1 || q.Events.First > r.Events {
			return wanted, &EventRangeError{ID: r.ID, Number: q.Events.First, Events: r.Events}
		}
		return wanted, nil
	}
	if wanted.first, err = q.Turns.First.of(r, 1); err != nil {
		return wanted, err
	}
	if wanted.last, err = q.Turns.Last.of(r, r.Turns); err != nil {
		return wanted, err
	}
	if !wanted.empty() {
		r.FirstTurn, r.LastTurn = wanted.first, wanted.last
	}
	return wanted, nil
}

// of returns the turn that a bound means; otherwise where it is none.
func (b Bound) of(r *Reading, otherwise int) (int, error) {
	switch b.Kind {
	case Turn:
		if b.N < 1 || b.N > r.Turns {
			return 0, &TurnRangeError{ID: r.ID, Turn: b.N, Turns: r.Turns}
		}
		return b.N, nil
	case CountBack:
		return max(r.Turns-b.N+1, 1), nil
	case Count:
		return min(b.N, r.Turns), nil
	}
	return otherwise, nil
}

// handOver hands over the events that are asked for.
func handOver(ctx context.Context, q *ReadQuery, c *store.Conversation, wanted selection) error {
	var numbering transcript.Numbering
	var refused error
	_, err := c.Read(ctx, nil, func(e *transcript.Event) bool {
		out := Event{Index: e.Index, Number: numbering.Next(e.Kind), Request: numbering.Requests, Turn: e.Turn, Kind: e.Kind, Time: e.Time, AppendJSON: jsonOf(e)}
		at := e.Turn
		if wanted.byNumber {
			at = out.Number
		}
		if at > wanted.last {
			return false
		}
		if e.Kind.Global() || at < wanted.first || q.Kinds != nil && !q.Kinds(e.Kind) {
			return true
		}
		switch e.Kind {
		case transcript.KindToolCall:
			out.Name, out.CallID = e.Name, e.CallID
		case transcript.KindToolResult:
			out.CallID, out.IsError = e.CallID, e.Failed
		}
		if !q.NoText {
			body, info := eventtext.Body(e)
			out.Text, out.Encoding, out.JSON = body, info.Encoding, info.JSON
		}
		refused = q.Event(&out)
		return refused == nil
	})
	var damage *store.DamageError
	if errors.As(err, &damage) {
		err = nil // the reading says so
	}
	return cmp.Or(refused, ctx.Err(), err)
}

// jsonOf returns [Event.AppendJSON] of an event.
func jsonOf(e *transcript.Event) func([]byte, transcript.JSONOptions) []byte {
	return func(dst []byte, options transcript.JSONOptions) []byte {
		return eventtext.AppendJSON(dst, e, options)
	}
}
