package conversations

import (
	"context"
	"errors"

	"github.com/convtools/convtools/runtime/store"
)

// List implements [Source].
func (l *Library) List(ctx context.Context, q ListQuery) (Listing, error) {
	var listing Listing
	o, err := l.open(ctx)
	if err != nil {
		return listing, err
	}
	defer o.close()
	found, err := o.pick(ctx, q.Filter, &listing.Aside)
	if err != nil {
		return listing, err
	}
	contains := titleFilter(q.TitleContains)
	var entries []*entry
	for _, c := range found {
		if contains(c.Title) && (!q.UserOnly || c.UserOnly) {
			entries = append(entries, &entry{Listed: Listed{Conversation: c.Conversation}, stored: c})
		}
	}
	listing.Total = len(entries)
	if q.Sort.needsEvents() {
		if err := l.count(ctx, entries); err != nil {
			return listing, err
		}
	}
	sortBy(entries, q.Sort, q.Ascending, func(e *entry) *Listed { return &e.Listed })
	entries = entries[min(q.Offset, len(entries)):]
	if q.Limit > 0 {
		entries = entries[:min(q.Limit, len(entries))]
	}
	if !q.Sort.needsEvents() && !q.NoEvents {
		if err := l.count(ctx, entries); err != nil {
			return listing, err
		}
	}
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
	stored  store.Conversation
	badTime bool
}

// count fills in what only the events tell.
func (l *Library) count(ctx context.Context, entries []*entry) error {
	list := make([]store.Conversation, len(entries))
	for i, e := range entries {
		list[i] = e.stored
	}
	return l.readAll(ctx, list,
		func(ctx context.Context, i int, buffer *store.Buffer) {
			e := entries[i]
			totals, err := l.totals(ctx, &list[i], buffer)
			if err != nil {
				e.Damage = &Problem{ID: e.ID, Kind: Unreadable, Err: err}
				return
			}
			e.Events, e.LastEventAt, e.badTime = totals.Events, totals.LastAt, totals.BadTime
			if totals.Uncounted != nil {
				e.Damage = &Problem{ID: e.ID, Kind: DamagedEvents, Err: totals.Uncounted}
			}
		},
		func(int) error { return nil })
}

// totals reads a conversation to its end. The error is one of reading, not of
// damage.
func (l *Library) totals(ctx context.Context, c *store.Conversation, buffer *store.Buffer) (store.Totals, error) {
	events, err := c.Events(ctx, buffer)
	if err != nil {
		return store.Totals{}, err
	}
	defer events.Close()
	for events.Next(ctx) {
	}
	var damage *store.DamageError
	if err := events.Err(); err != nil && !errors.As(err, &damage) {
		return store.Totals{}, err
	}
	return events.Totals(), nil
}
