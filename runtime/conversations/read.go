package conversations

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// Read implements [Source]. It has read the whole conversation when it returns, because the selected turns may depend on
// the number of turns. The events end when the context is done.
func (l *Library) Read(ctx context.Context, q ReadQuery) (r Reading, selected iter.Seq[*Event], err error) {
	var f Filter
	if q.ID != "" {
		f.IDs = []string{q.ID}
	}
	var omitted Omitted
	asked, err := l.newQuery(&f, &omitted)
	defer asked.closeLists()
	if err == nil {
		err = asked.listStores(ctx)
	}
	r.Problems = omitted.Problems // listStores has added them: asked has a pointer to omitted
	if err != nil {
		return r, nil, err
	}
	c := asked.latest()
	if c == nil {
		return r, nil, &NotFoundError{Place: l.place}
	}
	r.Conversation = c.Conversation
	r.Title = l.shownTitle(c.Title)
	r.Problems = append(r.Problems, badFields(c)...)
	events, err := r.readEvents(ctx, c)
	if err == nil {
		events, err = r.selectEvents(&q, events)
	}
	selected = func(yield func(*Event) bool) {
		for i := range events {
			e := &events[i]
			if isWanted := q.Kinds == nil || q.Kinds(e.Kind); !isWanted {
				continue
			}
			e.Text, e.Arguments, e.Object = l.shown(e.Text), l.shown(e.Arguments), l.shown(e.Object)
			if ctx.Err() != nil || !yield(e) {
				return
			}
		}
	}
	return r, selected, err
}

// latest returns the listed conversation that was used last; nil if there is none. It passes over hidden conversations,
// unless the filter has ids.
func (q *query) latest() (latest *store.Conversation) {
	var latestUse time.Time
	for _, s := range q.sources {
		for i := range s.list {
			c := &s.list[i]
			used := c.LastActivatedAt
			if used.IsZero() {
				used = c.LastAt // only JP records activations
			}
			if isLatest := latest == nil || !used.Before(latestUse); isLatest && (!c.Hidden || len(q.ids) > 0) {
				latest, latestUse = c, used
			}
		}
	}
	return latest
}

// readEvents returns all events of a conversation, and sets the numbers and problems of the reading. If the record is
// damaged, it sets Damage and returns the events before the damage. The error is that of the context, a
// [*NotFoundError], or an [*UnreadableError].
func (r *Reading) readEvents(ctx context.Context, c *store.Conversation) (events []Event, err error) {
	var numbering transcript.Numbering
	totals, err := c.Read(ctx, func(recorded *transcript.Event) bool {
		e := Event{Event: *recorded, Number: numbering.Next(recorded.Kind), Request: numbering.Requests}
		for _, b := range []*[]byte{&e.Text, &e.Arguments, &e.Object} {
			*b = bytes.Clone(*b)
		}
		events = append(events, e)
		return true
	})
	r.Turns, r.Events = totals.Turns, numbering.Events
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if notFound, ok := errors.AsType[*NotFoundError](err); ok {
		return nil, notFound
	}
	if err != nil {
		r.Damage = unreadable(r.ID, err)
		if r.Damage.Kind == store.Unreadable {
			return nil, &UnreadableError{*r.Damage}
		}
	} else if p := problemOf(r.ID, &totals); p != nil {
		r.Problems = append(r.Problems, *p)
	}
	return events, nil
}

// selectEvents returns the events that a query selects, and sets FirstTurn and LastTurn. A query with a range of events
// selects the range; other queries select turns. selectEvents changes the slice events. The error is a [*RangeError].
func (r *Reading) selectEvents(q *ReadQuery, events []Event) ([]Event, error) {
	if q.Events != (EventRange{}) {
		if q.Events.First < 1 || q.Events.First > r.Events {
			return nil, &RangeError{Events: true, N: q.Events.First, Of: r.Events}
		}
		events = slices.DeleteFunc(events, func(e Event) bool { return !q.Events.Has(e.Number) })
		if len(events) > 0 {
			r.FirstTurn, r.LastTurn = events[0].Turn, events[len(events)-1].Turn
		}
		return events, nil
	}
	first, last := 1, r.Turns
	if q.Turns != nil {
		first, last = q.Turns(r.Turns)
	}
	if last < first { // no turn is selected
		return nil, nil
	}
	for _, turn := range []int{first, last} {
		if turn < 1 || turn > r.Turns {
			return nil, &RangeError{N: turn, Of: r.Turns}
		}
	}
	r.FirstTurn, r.LastTurn = first, last
	return slices.DeleteFunc(events, func(e Event) bool { return e.Kind.Global() || e.Turn < first || e.Turn > last }), nil
}
