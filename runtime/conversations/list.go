package conversations

import (
	"context"
	"errors"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/parallel"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/transcript"
)

// List implements [Source].
func (l *Library) List(ctx context.Context, q ListQuery) (Listing, error) {
	var listing Listing
	listed, done := l.listing()
	defer done()
	if q.Sizes && l.indexes.dir != "" && len(q.IDs) == 0 {
		var again Aside // of what cannot be read, the list tells as well
		if _, err := l.refresh(ctx, &q.Filter, listed, &again); err != nil {
			return listing, err
		}
	}
	o := l.ask(&q.Filter, listed, nil)
	o.from = map[transcript.ID]store.Store{}
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

// fill fills in what only the events tell, and sizes where they are asked for: what the indexes have of
// conversations as they are, or else what reading tells.
func fill(ctx context.Context, o *asking, entries []*entry, sizes bool) error {
	known := map[store.Store]*index.View{}
	for _, s := range o.stores {
		if view, err := o.library.indexes.of(s).View(); err == nil {
			known[s] = view
		}
	}
	parallel.Each(ctx, len(entries), func(numbers iter.Seq[int]) {
		for i := range numbers {
			e := entries[i]
			if f := factsIn(ctx, known[o.from[e.ID]], e.stored); f != nil {
				e.fill(f, sizes)
			} else if f, err := tally(ctx, e.stored, sizes); err == nil {
				e.fill(f, sizes)
			} else {
				e.filled, e.Damage = true, &Problem{ID: e.ID, Kind: Unreadable, Err: err}
			}
		}
	})
	return ctx.Err()
}

// factsIn returns what an index, if there is one, has of a conversation as it is; nil for nothing.
func factsIn(ctx context.Context, view *index.View, c *store.Conversation) *indexFacts {
	if view == nil {
		return nil
	}
	entry := view.Lookup(string(c.ID))
	if entry == nil {
		return nil
	}
	if version, err := c.Version(ctx); err != nil || indexVersion(version, c) != entry.Version {
		return nil
	}
	if f := readFacts(entry); f.Read {
		return &f
	}
	return nil
}

// fill fills in what was counted.
func (e *entry) fill(f *indexFacts, sizes bool) {
	e.filled, e.Events, e.LastEventAt, e.badTime = true, f.Events, f.LastAt, f.BadTime
	if sizes {
		e.Size = &f.Size
	}
	if f.Uncounted != "" {
		e.Damage = &Problem{ID: e.ID, Kind: DamagedEvents, Err: errors.New(f.Uncounted)}
	}
}

// tally reads a conversation to its end, and measures its texts where sizes are asked for. The
// error is one of reading, not of damage.
func tally(ctx context.Context, c *store.Conversation, sizes bool) (*indexFacts, error) {
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
	f := &indexFacts{}
	f.count(&totals, Size{Requests: numbering.Requests, Numbered: numbering.Events, Chars: chars})
	return f, nil
}

// countChars returns how long the text of an event is that is read, in characters.
func countChars(e *transcript.Event) int {
	body, _ := eventtext.Body(e)
	return utf8.RuneCount(body)
}
