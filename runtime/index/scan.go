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
	of    []*Conversation // by place of an owner; nil where it is gone
	query *prepared

	next, to uint32    // the messages that are left; next is a match once the scan has advanced
	at       *Position // of that
	found    set       // messages that may match
	wanted   []answer  // by place of an owner: whether its messages are looked for
}

// answer is the answer to a question that may not have been asked.
type answer uint8

const (
	unasked answer = iota
	yes
	no
)

// scans returns a scan for each segment with messages that the times and the position of a query
// let through.
func (v *View) scans(q *Query) (scans []*scan) {
	p := v.prepare(q)
	for _, o := range v.segments {
		s := &scan{texts: texts{segment: o.segment}, of: o.of, query: p, to: o.messages, wanted: make([]answer, len(o.of))}
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
	s.prepare()
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

// conversation returns the conversation of a message; nil where it is gone.
func (s *scan) conversation(n uint32) *Conversation { return s.of[s.owner(n)] }

// position returns that of a message of a conversation that is not gone.
func (s *scan) position(n uint32) *Position {
	c := s.conversation(n)
	return &Position{s.rows.time(n), c.Order, c.Key, s.rows.number(n)}
}

// isWanted reports whether the messages of the conversation of a message are looked for.
func (s *scan) isWanted(n uint32) bool {
	known := &s.wanted[s.owner(n)]
	if *known == unasked {
		*known = no
		if c := s.conversation(n); c != nil && (s.query.Wanted == nil || s.query.Wanted(c.Key)) {
			*known = yes
		}
	}
	return *known == yes
}

// isTitled reports whether the title of the conversation of a message matches.
func (s *scan) isTitled(n uint32) bool {
	c := s.conversation(n)
	return len(s.query.titled) > 0 && c != nil && s.query.titled[c.number]
}

// look is how long it takes to look at a message, in units of what it takes to read one in a list.
const look = 500

// open finds the messages that may match: those whose titles do, and those that have all grams of the text,
// or so few more that it is as well to look at them.
func (s *scan) open(ctx context.Context) error {
	s.prepare()
	s.found = fullSet(s.messages)
	left := s.messages
	inVain := 0 // grams, one after the other, that were not worth it, as what is left may well match
	for _, g := range s.counted() {
		takes := 200 + g.count
		if err := ctx.Err(); err != nil {
			return err
		}
		if inVain == 2 || left*look < takes {
			break
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
	if len(s.query.titled) > 0 && slices.ContainsFunc(s.of, func(c *Conversation) bool { return c != nil && s.query.titled[c.number] }) {
		for n := s.next; n < s.to; n++ {
			if s.isTitled(n) {
				s.found.add(n)
			}
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
	s.prepare()
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
		s.next = s.found.next(s.next, s.to)
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

// matches reports whether a message that was found matches.
func (s *scan) matches(ctx context.Context, n uint32) (bool, error) {
	q := s.query
	if q.Kinds != 0 && q.Kinds>>(s.rows.kind(n)&63)&1 == 0 || !s.isWanted(n) || q.After != nil && s.position(n).Compare(q.After) <= 0 {
		return false, nil
	}
	if q.exact || s.isTitled(n) {
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	at, _ := q.Find(s.read(n))
	return at >= 0, nil
}
