package conversations

import (
	"context"
	"errors"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/parallel"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/transcript"
)

// List implements [Source].
func (l *Library) List(ctx context.Context, q ListQuery) (Listing, error) {
	var listing Listing
	listed, done := l.listing()
	defer done()
	if q.Sizes && l.indexes.dir != "" && len(q.IDs) == 0 {
		var again Aside // of what cannot be read, the list tells as well
		if _, err := l.refreshFor(ctx, &q.Filter, listed, &again); err != nil {
			return listing, err
		}
	}
	o := l.ask(&q.Filter, listed, nil)
	o.from = map[transcript.ID]store.Store{}
	defer l.indexes.lists().Save()
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
		if err := fill(ctx, o, unknown, false); err != nil {
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
		if err := fill(ctx, o, left, q.Sizes); err != nil {
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

// fill fills in what only the events tell, and sizes where they are asked for: what is kept of it,
// or what reading tells.
func fill(ctx context.Context, o *asking, entries []*entry, sizes bool) error {
	books := map[store.Store]*filecache.Book{}
	for _, s := range o.stores {
		books[s] = o.library.indexes.lists().Of(s.Name(), s.Place())
	}
	parallel.Each(ctx, len(entries), func(numbers iter.Seq[int]) {
		for i := range numbers {
			e := entries[i]
			var sheet filecache.Sheet
			if version, err := e.stored.Version(ctx); err == nil {
				sheet = counted(books[o.from[e.ID]], e.stored, version)
			}
			e.count(ctx, sheet, sizes)
		}
	})
	return ctx.Err()
}

// count fills in what is counted.
func (e *entry) count(ctx context.Context, sheet filecache.Sheet, sizes bool) {
	c := &counts{}
	if !sheet.Get(c) || !c.sized && sizes {
		var err error
		if c, err = tally(ctx, e.stored, sizes); err != nil {
			e.filled = true
			e.Damage = &Problem{ID: e.ID, Kind: Unreadable, Err: err}
			return
		}
		c.keep(sheet)
	}
	e.fill(c, sizes)
}

// fill fills in what was counted.
func (e *entry) fill(c *counts, sizes bool) {
	e.filled, e.Events, e.LastEventAt, e.badTime, e.Damage, e.Size = true, c.Events, c.LastAt, c.BadTime, nil, nil
	if sizes && c.sized {
		e.Size = &c.Size
	}
	if c.Uncounted != "" {
		e.Damage = &Problem{ID: e.ID, Kind: DamagedEvents, Err: errors.New(c.Uncounted)}
	}
}

// tally reads a conversation to its end, and measures its texts where sizes are asked for. The
// error is one of reading, not of damage.
func tally(ctx context.Context, c *store.Conversation, sizes bool) (*counts, error) {
	var numbering transcript.Numbering
	chars := 0
	var measure func(e *transcript.Event) bool
	if sizes {
		measure = func(e *transcript.Event) bool {
			if numbering.Next(e.Kind) > 0 {
				chars += countChars(e)
			}
			return true
		}
	}
	totals, err := c.Read(ctx, nil, measure)
	var damage *store.DamageError
	if err != nil && !errors.As(err, &damage) {
		return nil, err
	}
	var size *Size
	if sizes {
		size = &Size{Turns: totals.Turns, Requests: numbering.Requests, Numbered: numbering.Events, Chars: chars}
	}
	return countsOf(&totals, size), nil
}

// countChars returns how long the text of an event is that is read, in characters.
func countChars(e *transcript.Event) int {
	body, _ := eventtext.Body(e)
	return utf8.RuneCount(body)
}
