package index

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"time"
)

// scan is the search of a segment.
type scan struct {
	texts
	number uint32 // of the segment, among those of the view
	query  *prepared

	newest   time.Time // of the first message
	next, to uint32    // the messages that are left; next is a match once the scan has advanced
	at       *Position // of that
	found    set       // messages that may match by their texts
	known    []known   // by place of an owner
}

// known is what is known of the conversation that has a part.
type known struct {
	asked  bool
	number uint32        // gone where it is
	wanted bool          // its messages are looked for
	titled bool          // its title matches
	whole  *Conversation // nil before it is read
}

// scans returns a scan for each segment with messages that the times and the position of a query
// let through.
func (v *View) scans(q *Query) (scans []*scan) {
	p := v.prepare(q)
	for i, of := range v.segments {
		if of.messages == 0 {
			continue
		}
		s := &scan{texts: texts{segment: of}, number: uint32(i), query: p, to: of.messages, known: make([]known, len(of.owners))} //nolint:gosec // a count
		s.newest = rows(of.part(secRows, 0, rowSize)).time(0)
		if s.bound(q); s.next < s.to {
			scans = append(scans, s)
		}
	}
	return scans
}

// bound leaves the messages that the times and the position of a query let through.
func (s *scan) bound(q *Query) {
	if q.Since.IsZero() && q.Until.IsZero() && (q.After == nil || compareTimes(s.newest, q.After.Time) > 0) {
		return // which is so of most segments
	}
	s.load()
	first := func(t time.Time, least int) uint32 { // that comes with a time, which is 0, or after it
		return uint32(sort.Search(int(s.to), func(n int) bool { return compareTimes(s.rows.time(uint32(n)), t) >= least })) //nolint:gosec // counts
	}
	switch {
	case !q.Since.IsZero():
		s.to = first(q.Since, 1)
	case !q.Until.IsZero():
		s.to = first(time.Time{}, 0)
	}
	if !q.Until.IsZero() {
		s.next = first(q.Until, 0)
	}
	if q.After != nil {
		s.next = max(s.next, first(q.After.Time, 0))
	}
}

// position returns that of a message of a conversation that is not gone.
func (s *scan) position(n uint32) *Position {
	c := s.conversation(n)
	return &Position{s.rows.time(n), c.Order, c.Key, s.rows.number(n)}
}

// conversation returns the conversation of a message, which is not gone.
func (s *scan) conversation(n uint32) *Conversation {
	k := s.of(n)
	if k.whole == nil {
		k.whole = s.query.view.conversation(k.number)
	}
	return k.whole
}

// of returns what is known of the conversation of a message.
func (s *scan) of(n uint32) *known {
	place := s.owner(n)
	k := &s.known[place]
	if k.asked {
		return k
	}
	k.asked, k.number = true, s.numbers()[place]
	if k.number != gone {
		k.wanted = s.query.Wanted == nil || s.query.Wanted(s.query.view.key(k.number))
		if k.titled = s.query.mayBeTitled(k.number); k.titled && !s.query.exact {
			at, _ := s.query.Find([]byte(s.conversation(n).Title))
			k.titled = at >= 0
		}
	}
	return k
}

// hit returns the next message.
func (s *scan) hit() *Hit {
	return &Hit{*s.at, s.rows.kind(s.next), s.conversation(s.next), s, s.next}
}

// look is how long it takes to look at a message, in units of what it takes to read one in a list.
const look = 500

// open finds the messages that may match: those that have all grams of the text, or so few more
// that it is as well to look at them.
func (s *scan) open(ctx context.Context) error {
	s.load()
	s.found = fullSet(s.messages)
	left := s.messages
	inVain := 0 // grams, one after the other, that were not worth it, as what is left may well match
	for _, g := range s.counted() {
		takes := 200 + g.count
		if err := ctx.Err(); err != nil || inVain == 2 || left*look < takes {
			return err
		}
		having := newSet(s.messages)
		for l := range s.lists(g.grams) {
			for _, n := range s.documents(l) {
				having.add(uint32(n))
			}
		}
		s.found.and(having)
		before := left
		left = s.found.count()
		if inVain++; takes < (before-left)*look {
			inVain = 0
		}
	}
	return ctx.Err()
}

// counted is grams with how many messages have one of them, or more, and how long their lists are together.
type counted struct {
	grams
	count, listed uint32
}

// counted returns the grams of the text, those first that the fewest messages have.
func (s *scan) counted() (all []counted) {
	for _, g := range s.query.grams {
		n := uint32(0)
		for l := range s.lists(g) {
			n += l.count
		}
		all = append(all, counted{g, min(n, s.messages), n})
	}
	slices.SortFunc(all, func(a, b counted) int { return cmp.Compare(a.count, b.count) })
	return all
}

// advance goes on to the next message that matches, from s.next on, and reports whether there is
// one.
func (s *scan) advance(ctx context.Context) (bool, error) {
	for looked := 1; ; looked++ {
		s.next = s.candidate()
		if s.next >= s.to {
			return false, nil
		}
		matches, err := s.matches(ctx, s.next)
		const askEvery = 1024 // messages of which the text is not read
		if looked%askEvery == 0 {
			err = cmp.Or(err, ctx.Err())
		}
		if err != nil || matches {
			return err == nil, err
		}
		s.next++
	}
}

// candidate returns the next message that may match.
func (s *scan) candidate() uint32 {
	n := s.found.next(s.next, s.to)
	if s.query.titled == nil {
		return n
	}
	numbers := s.numbers()
	for other := s.next; other < n; other++ {
		if s.query.mayBeTitled(numbers[s.owner(other)]) && s.of(other).titled {
			return other
		}
	}
	return n
}

func (s *scan) matches(ctx context.Context, n uint32) (bool, error) {
	q := s.query
	if q.Kinds != 0 && q.Kinds>>(s.rows.kind(n)&63)&1 == 0 {
		return false, nil
	}
	k := s.of(n)
	if !k.wanted || q.After != nil && s.position(n).Compare(q.After) <= 0 {
		return false, nil
	}
	if k.titled || q.exact && s.found.has(n) {
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	at, _ := q.Find(s.read(n))
	return at >= 0, nil
}

// count counts the messages that are left.
func (s *scan) count(ctx context.Context, c *Counting, n *Counted) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	for {
		found, err := s.advance(ctx)
		if !found {
			return err
		}
		kind := s.rows.kind(s.next)
		if c.ApartKinds>>(kind&63)&1 != 0 && c.IsApart(kind, s.extra(s.next)) {
			n.Apart++
		} else {
			n.Messages++
		}
		s.next++
	}
}
