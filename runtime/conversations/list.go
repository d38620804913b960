package conversations

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// List implements [Source].
func (l *Library) List(ctx context.Context, q ListQuery) (Listing, error) {
	var listing Listing
	o, err := l.open(ctx, &q.Filter)
	if err != nil {
		return listing, err
	}
	defer o.close()
	in := l.inIndexes(ctx, &q.Filter)
	defer in.close()
	if len(in) > 0 {
		o.from = map[transcript.ID]store.Store{}
	}
	found, err := o.pick(ctx, q.Filter, &listing.Aside)
	if err != nil {
		return listing, err
	}
	contains := titleFilter(q.TitleContains)
	var entries []*entry
	for i := range found {
		if c := &found[i]; contains(c.Title) && (!q.UserOnly || c.UserOnly) {
			entries = append(entries, &entry{Listed: Listed{Conversation: c.Conversation}, stored: c})
		}
	}
	listing.Total = len(entries)
	var unknown []*entry // what the order depends on
	for _, e := range entries {
		if at := e.stored.LastAt; !at.IsZero() && q.Sort != BySize {
			e.LastEventAt = at
		} else {
			unknown = append(unknown, e)
		}
	}
	if q.Sort.needsEvents() {
		if err := l.fill(ctx, in, o.from, unknown, ListQuery{}); err != nil {
			return listing, err
		}
	}
	sortBy(entries, q.Sort, q.Ascending, func(e *entry) *Listed { return &e.Listed })
	entries = entries[min(q.Offset, len(entries)):]
	if q.Limit > 0 {
		entries = entries[:min(q.Limit, len(entries))]
	}
	if q.Sizes || !q.NoEvents {
		left := entries
		if !q.Sizes {
			left = slices.DeleteFunc(slices.Clone(entries), func(e *entry) bool { return e.filled })
		}
		if err := l.fill(ctx, in, o.from, left, q); err != nil {
			return listing, err
		}
	}
	listing.Conversations = slices.Grow(listing.Conversations, len(entries))
	for _, e := range entries {
		listing.Conversations = append(listing.Conversations, e.Listed)
		for _, p := range e.stored.Problems {
			if isBadField(p) {
				listing.Aside.Problems = append(listing.Aside.Problems, p)
			}
		}
		if e.badTime {
			listing.Aside.Problems = append(listing.Aside.Problems, Problem{
				ID: e.ID, Kind: BadField, Field: "timestamp", Event: e.Events - 1, Err: errBadTime,
			})
		}
	}
	return listing, nil
}

var errBadTime = errors.New("the time of its last event counts as missing: it cannot be read")

// entry is a conversation in the making of a [Listing].
type entry struct {
	Listed
	stored  *store.Conversation
	filled  bool // with what only the events tell
	badTime bool
}

// fill fills in what only the events tell, and sizes only where a query asks for them.
func (l *Library) fill(ctx context.Context, in inIndexes, from map[transcript.ID]store.Store, entries []*entry, q ListQuery) error {
	sizes := q.Sizes
	if len(in) > 0 {
		known := make([]store.Conversation, len(entries))
		for i, e := range entries {
			known[i] = *e.stored
		}
		if err := in.know(ctx, l, known, from); err != nil {
			return err
		}
		entries = in.fillKnown(entries, sizes)
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e *entry) bool {
		c, ok := keptCounts(e.stored)
		whole := ok && (c.Size != nil || !sizes)
		switch isLarge := exceeds(e.stored, q.MaxRead); {
		case whole || ok && isLarge:
			e.fill(&c, sizes)
		case !isLarge:
			return false
		case !e.filled:
			e.filled, e.Events = true, -1
		}
		e.Uncounted = !whole && e.Damage == nil
		return true
	})
	list := make([]store.Conversation, len(entries))
	for i, e := range entries {
		list[i] = *e.stored
	}
	return l.readAll(ctx, list,
		func(ctx context.Context, i int, buffer *store.Buffer) {
			e := entries[i]
			var size *Size
			if sizes {
				size = &Size{}
			}
			totals, err := l.totals(ctx, &list[i], size, buffer)
			if err != nil {
				e.filled = true
				e.Damage = &Problem{ID: e.ID, Kind: Unreadable, Err: err}
				return
			}
			c := counts{Events: totals.Events, LastAt: totals.LastAt, BadTime: totals.BadTime, Size: size}
			if totals.Uncounted != nil {
				c.Uncounted = totals.Uncounted.Error()
			}
			c.keep(&list[i])
			e.fill(&c, sizes)
		},
		func(int) error { return nil })
}

// exceeds reports whether more is read for the events of a conversation than a bound, where
// that is not 0.
func exceeds(c *store.Conversation, bound int64) bool {
	sized, ok := c.Record.(store.Sized)
	return ok && bound > 0 && sized.Size() > bound
}

// fill fills in what was counted.
func (e *entry) fill(c *counts, sizes bool) {
	e.filled, e.Events, e.LastEventAt, e.badTime, e.Damage, e.Size = true, c.Events, c.LastAt, c.BadTime, nil, nil
	if sizes {
		e.Size = c.Size
	}
	if c.Uncounted != "" {
		e.Damage = &Problem{ID: e.ID, Kind: DamagedEvents, Err: errors.New(c.Uncounted)}
	}
}

// totals reads a conversation to its end, and measures it where size is not nil.
// The error is one of reading, not of damage.
func (l *Library) totals(ctx context.Context, c *store.Conversation, size *Size, buffer *store.Buffer) (store.Totals, error) {
	events, err := c.Events(ctx, buffer)
	if err != nil {
		return store.Totals{}, err
	}
	defer events.Close()
	var numbering transcript.Numbering
	for events.Next(ctx) {
		if e := events.Event(); size != nil && numbering.Next(e.Kind) > 0 {
			size.Chars += countChars(e, buffer)
		}
	}
	var damage *store.DamageError
	if err := events.Err(); err != nil && !errors.As(err, &damage) {
		return store.Totals{}, err
	}
	totals := events.Totals()
	if size != nil {
		size.Turns, size.Requests, size.Numbered = totals.Turns, numbering.Requests, numbering.Events
	}
	return totals, nil
}

// countChars returns how long the text of an event is, in characters. It holds
// nothing of it: all of the text is before the part it asks for.
func countChars(e *transcript.Event, buffer *store.Buffer) int {
	_, info := appendBody(e, transcript.Limits{Text: 1, Part: math.MaxInt}, buffer)
	return info.Chars
}
