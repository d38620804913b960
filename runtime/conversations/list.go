package conversations

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/parallel"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/transcript"
)

// List implements [Source].
func (l *Library) List(ctx context.Context, q ListQuery) (listing Listing, err error) {
	a, err := l.ask(&q.Filter, &listing.Aside)
	defer a.done()
	if q.Sizes && l.indexes.dir != "" && len(q.IDs) == 0 && err == nil {
		var again Aside // what cannot be read, the list tells as well
		err = a.refresh(ctx, &again)
	}
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return listing, err
	}
	if err := a.pick(ctx); err != nil {
		return listing, err
	}
	title := excerpt.Literal(q.TitleContains, true) // nil is in every title
	var entries []*entry
	for _, s := range a.sources {
		for i := range s.list {
			if c := &s.list[i]; (title == nil || title.IsIn([]byte(c.Title))) && (!q.UserOnly || c.UserOnly) {
				entries = append(entries, &entry{Listed: Listed{Conversation: c.Conversation, LastEventAt: c.LastAt}, stored: c, in: s})
			}
		}
	}
	listing.Total = len(entries)
	if q.Sort.needsEvents() {
		fill(ctx, entries, q.Sizes, func(e *entry) bool { return e.LastEventAt.IsZero() || q.Sort == BySize })
	}
	sortBy(entries, q.Sort, q.Ascending, func(e *entry) *Listed { return &e.Listed })
	entries = entries[min(q.Offset, len(entries)):]
	if q.Limit > 0 {
		entries = entries[:min(q.Limit, len(entries))]
	}
	if q.Sizes || !q.NoEvents {
		fill(ctx, entries, q.Sizes, func(e *entry) bool { return !e.filled })
	}
	listing.Conversations = slices.Grow(listing.Conversations, len(entries))
	for _, e := range entries {
		listing.Conversations = append(listing.Conversations, e.Listed)
		listing.Aside.Problems = append(listing.Aside.Problems, badFields(e.stored)...)
		if e.badTime {
			listing.Aside.Problems = append(listing.Aside.Problems, Problem{
				ID: e.ID, Kind: BadField, Field: "timestamp", Event: e.Events - 1, Err: errBadTime,
			})
		}
	}
	return listing, ctx.Err()
}

var errBadTime = errors.New("the time of its last event counts as missing: it cannot be read")

// entry is a conversation in the making of a [Listing].
type entry struct {
	Listed
	stored  *store.Conversation
	in      *source
	filled  bool // with what only the events tell
	badTime bool
}

// fill fills in what only the events of conversations tell, and sizes where they are asked for: what
// the indexes have of them as they are, or else what reading tells.
func fill(ctx context.Context, entries []*entry, sizes bool, needs func(*entry) bool) {
	parallel.Each(ctx, len(entries), func(numbers iter.Seq[int]) {
		for i := range numbers {
			if e := entries[i]; needs(e) {
				e.fill(ctx, sizes)
			}
		}
	})
}

func (e *entry) fill(ctx context.Context, sizes bool) {
	e.filled = true
	f, err := e.in.known(ctx, e.stored), error(nil)
	if f == nil {
		f, err = tally(ctx, e.stored, sizes)
	}
	if err != nil {
		e.Damage = &Problem{ID: e.ID, Kind: Unreadable, Err: err}
		return
	}
	e.Events, e.LastEventAt, e.badTime = f.Events, f.LastAt, f.BadTime
	if sizes {
		e.Size = &f.Size
	}
	if f.Uncounted != "" {
		e.Damage = &Problem{ID: e.ID, Kind: DamagedEvents, Err: errors.New(f.Uncounted)}
	}
}

// known returns what the index has of a conversation as it is; nil for nothing.
func (s *source) known(ctx context.Context, c *store.Conversation) *facts {
	if s.view == nil {
		return nil
	}
	entry := s.view.Lookup(string(c.ID))
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

// tally reads a conversation to its end, and measures its texts where sizes are asked for. The
// error is one of reading, not of damage.
func tally(ctx context.Context, c *store.Conversation, sizes bool) (*facts, error) {
	var counts counting
	var measure func(e *transcript.Event) bool
	if sizes {
		measure = func(e *transcript.Event) bool {
			counts.next(e)
			return true
		}
	}
	totals, err := c.Read(ctx, measure)
	var damage *store.DamageError
	if err != nil && !errors.As(err, &damage) {
		return nil, err
	}
	f := factsOf(c)
	f.count(&totals, &counts)
	return &f, nil
}

// counting counts the events of a conversation.
type counting struct {
	transcript.Numbering
	Chars int // of the texts of numbered events, as they are read
}

// next counts an event, and returns its number; 0 for none.
func (c *counting) next(e *transcript.Event) int {
	number := c.Next(e.Kind)
	if number > 0 {
		body := eventtext.Body(e)
		c.Chars += utf8.RuneCount(body)
	}
	return number
}

// sortNames are what the orders are called.
var sortNames = [...]string{
	ByActivity: "activity", ByCreation: "created", ByActivation: "activated", ByUpdate: "updated", ByID: "id", ByExpiry: "expires",
	BySize: "messages", ByLocality: "local",
}

func (s Sort) String() string { return sortNames[s] }

// SortNamed returns the order of a name; that by activity for any other name.
func SortNamed(name string) Sort { return Sort(max(slices.Index(sortNames[:], name), 0)) }

// needsEvents reports whether only the events tell where a conversation stands.
func (s Sort) needsEvents() bool { return s == ByActivity || s == ByUpdate || s == BySize }

// ActiveAt is when something last happened in a conversation: its last event, or
// else that it was created.
func (l *Listed) ActiveAt() time.Time {
	if l.LastEventAt.IsZero() {
		return l.CreatedAt
	}
	return l.LastEventAt
}

// time returns when a conversation stands, in an order by times.
func (s Sort) time(l *Listed) time.Time {
	switch s {
	case ByActivity:
		return l.ActiveAt()
	case ByActivation:
		return l.LastActivatedAt
	case ByUpdate:
		if at := l.ActiveAt(); at.After(l.LastActivatedAt) {
			return at
		}
		return l.LastActivatedAt
	case ByExpiry:
		return l.ExpiresAt
	}
	return l.CreatedAt
}

// compare compares conversations by what an order is of. Missing values stand last in either direction.
func (s Sort) compare(a, b *Listed, ascending bool) int {
	var order int
	missing := [2]bool{}
	switch s {
	case ByID:
		order = a.ID.Compare(b.ID)
	case ByLocality:
		order = strings.Compare(a.Locality, b.Locality)
	case BySize:
		missing = [2]bool{a.Damage != nil, b.Damage != nil}
		order = cmp.Compare(a.Events, b.Events)
	default:
		at, other := s.time(a), s.time(b)
		missing = [2]bool{at.IsZero(), other.IsZero()}
		order = at.Compare(other)
	}
	switch {
	case missing[0] && missing[1]:
		return 0
	case missing[0]:
		return 1
	case missing[1]:
		return -1
	case ascending:
		return order
	}
	return -order
}

// sortBy sorts conversations, those with equal values by creation, then by id.
func sortBy[E any](list []E, by Sort, ascending bool, listed func(E) *Listed) {
	slices.SortStableFunc(list, func(x, y E) int {
		a, b := listed(x), listed(y)
		return cmp.Or(by.compare(a, b, ascending), ByCreation.compare(a, b, true), a.ID.Compare(b.ID))
	})
}
