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

// List implements [Source]. With Sizes or File, it first updates the indexes.
func (l *Library) List(ctx context.Context, q ListQuery) (Listing, error) {
	return twiceIfDamaged(func() (Listing, error) { return l.list(ctx, &q) })
}

// list answers a query once. If an index is damaged, it returns an error.
func (l *Library) list(ctx context.Context, q *ListQuery) (listing Listing, err error) {
	asked, err := l.newQuery(&q.Filter, &listing.Omitted)
	defer asked.closeLists()
	if err != nil {
		return listing, err
	}
	// An index, if there is a directory for it, keeps the sizes: the next query need not read the events again.
	keepsSizes := q.Sizes && len(q.IDs) == 0 && l.indexes.dir != ""
	if needsIndex := q.File != ""; keepsSizes || needsIndex { // a search in the index finds the changes of a file
		err = asked.refresh(ctx, &Omitted{}) // drops the problems, because selectConversations reports them
	}
	if err == nil {
		err = asked.selectConversations(ctx)
	}
	if err != nil {
		return listing, err
	}
	entries := asked.entries(q)
	listing.Total = len(entries)
	if q.Sort.needsEvents() { // fills entries in which the time or size to sort by is unknown
		fillAll(ctx, entries, q.Sizes, func(e *entry) bool { return e.LastEventAt.IsZero() || q.Sort == BySize })
	}
	sortBy(entries, q.Sort, q.Ascending, func(e *entry) *Listed { return &e.Listed })
	entries = entries[min(q.Offset, len(entries)):]
	if q.Limit > 0 {
		entries = entries[:min(q.Limit, len(entries))]
	}
	if q.Sizes || !q.NoEvents { // fills the other entries of the page
		fillAll(ctx, entries, q.Sizes, func(e *entry) bool { return !e.isFilled })
	}
	for _, e := range entries {
		listing.Conversations = append(listing.Conversations, e.Listed)
		listing.Problems = append(listing.Problems, e.problems...)
	}
	return listing, ctx.Err()
}

// entry is a conversation of a [Listing] in progress.
type entry struct {
	Listed
	stored   *store.Conversation
	in       *source
	isFilled bool      // the values from the events are set
	problems []Problem // with single fields
}

// entries returns the listed conversations with the title and the kind of store that a [ListQuery] asks for.
func (q *query) entries(asked *ListQuery) (entries []*entry) {
	title := excerpt.Literal(asked.TitleContains, true) // nil matches every title
	for _, s := range q.sources {
		for i := range s.list {
			c := &s.list[i]
			listed := Listed{Conversation: c.Conversation, LastEventAt: c.LastAt}
			listed.Title = q.shownTitle(c.Title)
			if (title == nil || title.IsIn([]byte(listed.Title))) && (!asked.UserOnly || c.UserOnly) {
				entries = append(entries, &entry{Listed: listed, stored: c, in: s, problems: badFields(c)})
			}
		}
	}
	return entries
}

// fillAll calls fill with sizes for each entry for which needs returns true.
func fillAll(ctx context.Context, entries []*entry, sizes bool, needs func(*entry) bool) {
	parallel.Each(ctx, len(entries), func(numbers iter.Seq[int]) {
		for i := range numbers {
			if e := entries[i]; needs(e) {
				e.fill(ctx, sizes)
			}
		}
	})
}

// fill sets the values that come from events, and also the size if sizes is set. It takes them from the index if that
// is current, and otherwise reads the conversation. If the conversation cannot be read, it sets Damage instead.
func (e *entry) fill(ctx context.Context, sizes bool) {
	e.isFilled = true
	f := e.in.indexedFacts(ctx, e.stored)
	if f == nil {
		var err error
		if f, err = countEvents(ctx, e.stored, sizes); err != nil {
			e.Damage = &Problem{ID: e.ID, Kind: store.Unreadable, Err: err}
			return
		}
	}
	e.Events, e.LastEventAt = f.Events, f.LastAt
	if sizes {
		e.Size = &f.Size
	}
	if f.Uncounted != "" {
		e.Damage = &Problem{ID: e.ID, Kind: store.DamagedEvents, Err: errors.New(f.Uncounted)}
	}
	if f.BadTime { // of the last event, the only one whose time a list shows
		err := errors.New("the time of its last event counts as missing: it cannot be read")
		e.problems = append(e.problems, Problem{ID: e.ID, Kind: store.BadField, Field: "timestamp", Event: e.Events - 1, Err: err})
	}
}

// indexedFacts returns the facts in the index about a conversation; nil if they are outdated or not of all its events.
func (s *source) indexedFacts(ctx context.Context, c *store.Conversation) *facts {
	if s.view == nil {
		return nil
	}
	entry := s.view.Lookup(string(c.ID))
	version, err := c.Version(ctx)
	if isCurrent := entry != nil && err == nil && entry.Version == indexVersion(version, c); !isCurrent {
		return nil
	}
	if f := readFacts(entry); f.Read {
		return &f
	}
	return nil
}

// countEvents reads a conversation to its end, and returns the facts about it, with the size only if sizes is set. Of a
// damaged conversation it returns the facts about the part before the damage, and no error.
func countEvents(ctx context.Context, c *store.Conversation, sizes bool) (*facts, error) {
	var counts counting
	var measure func(e *transcript.Event) bool
	if sizes {
		measure = func(e *transcript.Event) bool {
			counts.next(e)
			return true
		}
	}
	totals, err := c.Read(ctx, measure)
	if _, isDamage := errors.AsType[*store.DamageError](err); !isDamage && err != nil {
		return nil, err
	}
	f := facts{Conversation: c.Conversation}
	f.setCounts(&totals, &counts)
	return &f, nil
}

// counting counts the events of a conversation and the characters of their texts.
type counting struct {
	transcript.Numbering
	Chars int // of the texts of numbered events
}

// next counts the next event, and returns the number of the event; 0 if it has none.
func (c *counting) next(e *transcript.Event) int {
	number := c.Next(e.Kind)
	if number > 0 {
		c.Chars += utf8.RuneCount(eventtext.Body(e))
	}
	return number
}

// sortNames are the names of the orders.
var sortNames = [...]string{
	ByActivity: "activity", ByCreation: "created", ByActivation: "activated", ByUpdate: "updated", ByID: "id", ByExpiry: "expires",
	BySize: "messages", ByLocality: "local",
}

func (s Sort) String() string { return sortNames[s] }

// SortNamed returns the order with a name; ByActivity for an unknown name.
func SortNamed(name string) Sort { return Sort(max(slices.Index(sortNames[:], name), 0)) }

// needsEvents reports whether the order needs values from the events.
func (s Sort) needsEvents() bool { return s == ByActivity || s == ByUpdate || s == BySize }

// ActiveAt returns the time of the last event, or if it is not known the time of the creation.
func (l *Listed) ActiveAt() time.Time {
	if l.LastEventAt.IsZero() {
		return l.CreatedAt
	}
	return l.LastEventAt
}

// time returns the time by which a conversation is sorted, if s is an order by times.
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

// compare compares a and b by the value of the order, as [cmp.Compare]. A missing value comes last in both directions.
func (s Sort) compare(a, b *Listed, ascending bool) int {
	var order int
	var missingA, missingB bool // a or b has no value
	switch s {
	case ByID:
		order = a.ID.Compare(b.ID)
	case ByLocality:
		order = strings.Compare(a.Locality, b.Locality)
	case BySize:
		missingA, missingB = a.Damage != nil, b.Damage != nil
		order = cmp.Compare(a.Events, b.Events)
	default:
		timeA, timeB := s.time(a), s.time(b)
		missingA, missingB = timeA.IsZero(), timeB.IsZero()
		order = timeA.Compare(timeB)
	}
	switch {
	case missingA && missingB:
		return 0
	case missingA:
		return 1
	case missingB:
		return -1
	case ascending:
		return order
	}
	return -order
}

// sortBy sorts a list by an order; equal conversations by creation, then by id. listed returns that of an element.
func sortBy[E any](list []E, by Sort, ascending bool, listed func(E) *Listed) {
	slices.SortStableFunc(list, func(x, y E) int {
		a, b := listed(x), listed(y)
		return cmp.Or(by.compare(a, b, ascending), ByCreation.compare(a, b, true), a.ID.Compare(b.ID))
	})
}
