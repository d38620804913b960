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
func (l *Library) Read(ctx context.Context, q ReadQuery) (r Reading, err error) {
	var f Filter
	if q.ID != "" {
		f.IDs = []string{q.ID}
	}
	a, err := l.ask(&f, &r.Aside)
	defer a.done()
	if err != nil {
		return r, err
	}
	if err := a.list(ctx); err != nil {
		return r, err
	}
	c := a.latest()
	if c == nil {
		return r, &NotFoundError{Place: l.place}
	}
	r.Conversation = c.Conversation
	r.Aside.Problems = append(r.Aside.Problems, badFields(c)...)
	first, last, err := count(ctx, &q, c, &r)
	if err != nil {
		return r, err
	}
	if q.Opened != nil {
		if err := q.Opened(&r); err != nil {
			return r, err
		}
	}
	if q.Event == nil || last < first {
		return r, nil
	}
	return r, handOver(ctx, &q, c, first, last)
}

// latest returns the conversation that was used last, of those that are listed; nil where there
// is none. One that is hidden counts only where it is named.
func (a *asking) latest() (latest *store.Conversation) {
	var at time.Time
	for _, s := range a.sources {
		for i := range s.list {
			c := &s.list[i]
			used := c.LastActivatedAt
			if used.IsZero() {
				used = c.LastAt // only JP records activations
			}
			if (!c.Hidden || len(a.ids) > 0) && (latest == nil || !used.Before(at)) {
				latest, at = c, used
			}
		}
	}
	return latest
}

// count goes through all events, and returns the first and the last of the turns that are asked for,
// or of the numbered events; there are none where the last is before the first.
func count(ctx context.Context, q *ReadQuery, c *store.Conversation, r *Reading) (first, last int, err error) {
	var numbering transcript.Numbering
	byNumber := q.Events != EventRange{}
	totals, err := c.Read(ctx, func(e *transcript.Event) bool {
		if n := numbering.Next(e.Kind); byNumber && q.Events.Has(n) {
			last, r.LastTurn = n, e.Turn
			if n == q.Events.First {
				r.FirstTurn = e.Turn
			}
		}
		return true
	})
	r.Turns, r.Events, r.Requests = totals.Turns, numbering.Events, numbering.Requests
	if ctx.Err() != nil {
		return 0, 0, ctx.Err()
	}
	var notFound *NotFoundError
	switch {
	case errors.As(err, &notFound):
		return 0, 0, notFound
	case err != nil:
		if r.Damage = unreadable(r.ID, err); r.Damage.Kind == Unreadable {
			return 0, 0, &UnreadableError{*r.Damage}
		}
	default:
		if p := problemOf(r.ID, &totals); p != nil {
			r.Aside.Problems = append(r.Aside.Problems, *p)
		}
	}
	if byNumber {
		if q.Events.First < 1 || q.Events.First > r.Events {
			return 0, 0, &RangeError{ID: r.ID, Events: true, N: q.Events.First, Of: r.Events}
		}
		return q.Events.First, last, nil
	}
	first, last = 1, r.Turns
	if q.Turns != nil {
		first, last = q.Turns(r.Turns)
	}
	if last < first {
		return first, last, nil
	}
	for _, turn := range []int{first, last} {
		if turn < 1 || turn > r.Turns {
			return 0, 0, &RangeError{ID: r.ID, N: turn, Of: r.Turns}
		}
	}
	r.FirstTurn, r.LastTurn = first, last
	return first, last, nil
}

// handOver hands over the events that are asked for, from the first turn or number to the last.
func handOver(ctx context.Context, q *ReadQuery, c *store.Conversation, first, last int) error {
	var numbering transcript.Numbering
	var refused error
	_, err := c.Read(ctx, func(e *transcript.Event) bool {
		out := Event{Index: e.Index, Number: numbering.Next(e.Kind), Request: numbering.Requests, Turn: e.Turn, Kind: e.Kind, Time: e.Time, Recorded: e}
		at := e.Turn
		if q.Events != (EventRange{}) {
			at = out.Number
		}
		if at > last {
			return false
		}
		if e.Kind.Global() || at < first || q.Kinds != nil && !q.Kinds(e.Kind) {
			return true
		}
		switch e.Kind {
		case transcript.KindToolCall:
			out.Name, out.CallID = e.Name, e.CallID
		case transcript.KindToolResult:
			out.CallID, out.IsError = e.CallID, e.Failed
		}
		body, info := eventtext.Body(e)
		out.Text, out.Encoding, out.JSON = body, info.Encoding, info.JSON
		refused = q.Event(&out)
		return refused == nil
	})
	var damage *store.DamageError
	if errors.As(err, &damage) {
		err = nil // the reading says so
	}
	return cmp.Or(refused, ctx.Err(), err)
}
