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

	from, to uint32   // the messages that the times and the position of the query let through
	wanted   []bool   // by place of an owner: its messages are looked for; nil before prepare
	found    []uint16 // messages that are left, once it is open; the first one matches once it has advanced
	at       Position // of that
}

// scans returns a scan for each segment with messages that the times and the position of a query
// let through.
func (v *View) scans(q *Query) (scans []*scan) {
	p := v.prepare(q)
	for _, o := range v.segments {
		s := &scan{texts: texts{segment: o.segment}, of: o.of, query: p, to: o.messages}
		if s.bound(q); s.from < s.to {
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
	if !q.Since.IsZero() {
		s.to = first(q.Since, 1)
	} else if !q.Until.IsZero() {
		s.to = first(time.Time{}, 0)
	}
	if !q.Until.IsZero() {
		s.from = first(q.Until, 0)
	}
	if q.After != nil {
		s.from = max(s.from, first(q.After.Time, 0))
	}
}

// prepare is called before anything else, as often as anybody likes.
func (s *scan) prepare() {
	if s.wanted != nil {
		return
	}
	s.texts.prepare()
	s.wanted = make([]bool, len(s.of))
	for place, c := range s.of {
		s.wanted[place] = c != nil && (s.query.Wanted == nil || s.query.Wanted(c.Key))
	}
}

// conversation returns the conversation of a message; nil where it is gone.
func (s *scan) conversation(n uint32) *Conversation { return s.of[s.owner(n)] }

// position returns that of a message of a conversation that is not gone.
func (s *scan) position(n uint32) Position {
	c := s.conversation(n)
	return Position{s.rows.time(n), c.Order, c.Key, s.rows.number(n)}
}

// passes reports whether the filter lets a message through, whether it is apart or not.
func (s *scan) passes(n uint32) bool {
	return n >= s.from && n < s.to && s.query.Kinds>>(s.rows.kind(n)&63)&1 != 0 && s.wanted[s.owner(n)]
}

// isApart reports whether a message is apart.
func (s *scan) isApart(n uint32) bool {
	kind := s.rows.kind(n)
	return s.query.IsApart != nil && s.query.ApartKinds>>(kind&63)&1 != 0 && s.query.IsApart(kind, s.extra(n))
}

// isTitled reports whether the title of the conversation of a message matches.
func (s *scan) isTitled(n uint32) bool {
	return len(s.query.titled) > 0 && s.query.titled[s.conversation(n)]
}

// counted are the lists of some grams, with how many documents they have together.
type counted struct {
	lists []list
	count uint32
}

// counted returns the lists of the grams of the text, those first that have the fewest documents.
func (s *scan) counted() (all []counted) {
	s.prepare()
	for _, g := range s.query.grams {
		var c counted
		for l := range s.lists(g) {
			c.lists = append(c.lists, l)
			c.count += l.count
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b counted) int { return cmp.Compare(a.count, b.count) })
	return all
}

// look is how long it takes to look at a message, in units of what it takes to read one in a list.
const look = 500

// open finds the messages that may match: those whose titles do, and those that have all grams of the text,
// or so few more that it is as well to look at them.
func (s *scan) open(ctx context.Context) error {
	all := s.counted()
	if len(all) == 0 {
		for n := range s.messages {
			s.found = append(s.found, uint16(n)) //nolint:gosec // bounded by full
		}
	}
	inVain := 0 // grams, one after the other, that were not worth it, as what is left may well match
	for i, g := range all {
		left, takes := len(s.found)*look, int(200+g.count)
		if err := ctx.Err(); err != nil {
			return err
		}
		if i == 0 {
			s.found = s.having(g.lists)
			continue
		}
		if inVain == 2 || left < takes {
			break
		}
		s.found = both(s.found, s.having(g.lists))
		if inVain++; takes < left-len(s.found)*look {
			inVain = 0
		}
	}
	if len(s.query.titled) > 0 && slices.ContainsFunc(s.of, func(c *Conversation) bool { return s.query.titled[c] }) {
		for n := s.from; n < s.to; n++ {
			if s.isTitled(n) {
				s.found = append(s.found, uint16(n)) //nolint:gosec // bounded by full
			}
		}
		slices.Sort(s.found)
		s.found = slices.Compact(s.found)
	}
	return ctx.Err()
}

// having returns the documents of some lists.
func (s *scan) having(lists []list) (found []uint16) {
	if len(lists) == 1 {
		return s.documents(lists[0])
	}
	has := make([]bool, s.messages)
	for _, l := range lists {
		for _, n := range s.documents(l) {
			has[n] = true
		}
	}
	for n, ok := range has {
		if ok {
			found = append(found, uint16(n)) //nolint:gosec // bounded by full
		}
	}
	return found
}

// both leaves of one list what is in another.
func both(one, other []uint16) []uint16 {
	return slices.DeleteFunc(one, func(n uint16) bool {
		for len(other) > 0 && other[0] < n {
			other = other[1:]
		}
		return len(other) == 0 || other[0] != n
	})
}

// advance goes on to the next message that matches, and reports whether there is one.
func (s *scan) advance(ctx context.Context) (bool, error) {
	for len(s.found) > 0 {
		if n := uint32(s.found[0]); s.passes(n) {
			matches, err := s.matches(ctx, n)
			if matches || err != nil {
				return matches, err
			}
		}
		s.found = s.found[1:]
	}
	return false, ctx.Err()
}

// matches reports whether a message matches that the filter lets through.
func (s *scan) matches(ctx context.Context, n uint32) (bool, error) {
	s.at = s.position(n)
	switch after := s.query.After; {
	case after != nil && s.at.Compare(after) <= 0:
		return false, nil
	case s.query.exact || s.isTitled(n):
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	at, _ := s.query.Find(s.read(n))
	return at >= 0, nil
}
