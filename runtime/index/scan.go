package index

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"sort"
	"time"

	"github.com/convtools/convtools/runtime/base/fold"
)

// scan is the search of a segment.
type scan struct {
	texts
	conversations []*Conversation // by the place of an owner; nil if the conversation was removed
	titles        func() *titles  // of the conversations
	query         *prepared

	next, to   uint32     // the range of messages that are not read yet
	wanted     []bool     // by the place of an owner; nil before prepare
	titled     []bool     // by the place of an owner: the title matches; nil before the first window
	hasTitled  bool       // one of titled is true
	grams      []postings // of the grams of the text, the rarest first
	candidates []uint32   // messages before next that may match
	hit        Hit        // the match that advance found last
}

// scans returns a scan for each segment that has messages within the times and after the position of a query.
func (v *View) scans(q *Query) (scans []*scan) {
	folded := fold.Append(nil, []byte(q.Text))
	p := &prepared{Query: q, index: v.index, folded: folded, grams: gramRanges(folded)}
	p.exact = len(folded) <= 3 // a gram has three bytes: the lists alone tell which messages have so short a text
	for _, o := range v.segments {
		s := &scan{texts: texts{segment: o.segment}, conversations: o.conversations, titles: o.titles, query: p, to: o.messages}
		if s.bound(q); s.next < s.to { // bound sets the range of such messages, from next to to
			scans = append(scans, s)
		}
	}
	return scans
}

// bound limits the range of messages, from s.next to s.to, to the times of a query and to those after its position.
func (s *scan) bound(q *Query) {
	if q.Since.IsZero() && q.Until.IsZero() && (q.After == nil || compareTimes(s.newest, q.After.Time) > 0) {
		return // the whole segment is in the bounds, as most are; it need not be read
	}
	s.prepare()
	// Newer messages come first, and those without a time last. first(t, 0) is the first message of the time t or
	// older, and first(t, 1) the first that is older than t.
	first := func(t time.Time, least int) uint32 {
		return uint32(sort.Search(int(s.to), func(n int) bool { return compareTimes(s.rows.time(uint32(n)), t) >= least })) //nolint:gosec // counts
	}
	if !q.Since.IsZero() {
		s.to = first(q.Since, 1) // also before the messages without a time
	} else if !q.Until.IsZero() {
		s.to = first(time.Time{}, 0) // where the messages without a time begin
	}
	if !q.Until.IsZero() {
		s.next = first(q.Until, 0)
	}
	if q.After != nil {
		s.next = max(s.next, first(q.After.Time, 0)) // matches compares positions of the same time
	}
}

// prepare reads the tables of the segment, and sets the wanted conversations and the postings of the query. It must be
// called before the other methods, except bound. Further calls do nothing.
func (s *scan) prepare() {
	if s.wanted != nil {
		return
	}
	s.texts = s.segment.texts()
	s.wanted = make([]bool, len(s.conversations))
	for place, c := range s.conversations {
		s.wanted[place] = c != nil && (s.query.Wanted == nil || s.query.Wanted(c.Key))
	}
	s.grams = s.postings()
}

// conversation returns the conversation of a message; nil if the conversation was removed.
func (s *scan) conversation(n uint32) *Conversation { return s.conversations[s.rows.owner(n)] }

// position returns the position of a message. Its conversation must exist.
func (s *scan) position(n uint32) Position {
	c := s.conversation(n)
	return Position{s.rows.time(n), c.Order, c.Key, s.rows.number(n)}
}

// passes reports whether the filter selects a message.
func (s *scan) passes(n uint32) bool {
	return s.query.Kinds>>(s.rows.kind(n)&63)&1 != 0 && s.wanted[s.rows.owner(n)]
}

// findTitles sets s.titled to true for each wanted conversation whose title matches. No title matches an empty text, or
// a query for texts only.
func (s *scan) findTitles() {
	s.titled = make([]bool, len(s.conversations))
	if len(s.query.folded) == 0 || s.query.TextOnly {
		return
	}
	titles := s.titles()
	for place := range titles.holding(s.query.folded) {
		if s.wanted[place] {
			s.titled[place] = s.query.Has([]byte(s.conversations[place].Title))
			s.hasTitled = s.hasTitled || s.titled[place]
		}
	}
}

// isTitled reports whether the title of the conversation of a message matches.
func (s *scan) isTitled(n uint32) bool { return s.hasTitled && s.titled[s.rows.owner(n)] }

// postings are the lists of the grams in a range.
type postings struct {
	lists   []list
	count   int      // of documents in all lists
	cursors []cursor // over the lists; nil before the first use
}

// postings returns the postings of the query's grams, the rarest first. If one of the grams is in no message, it
// returns only the postings of that gram, and makes the gram the first of the query, for the segments after this one.
func (s *scan) postings() (sorted []postings) {
	grams := s.query.grams
	for i, g := range grams {
		var p postings
		for l := range s.lists(g) {
			p.lists = append(p.lists, l)
			p.count += int(l.count)
		}
		if p.count == 0 {
			grams[0], grams[i] = g, grams[0] // the next segment probably has no message with the gram either
			return []postings{p}
		}
		sorted = append(sorted, p)
	}
	slices.SortStableFunc(sorted, func(a, b postings) int { return cmp.Compare(a.count, b.count) })
	return sorted
}

// window is a set of messages among windowSize adjacent ones: bit n is for the nth of them.
type window [windowSize / 64]uint64

const windowSize = 1024

func (w *window) add(n uint32) { w[n/64] |= 1 << (n % 64) }

// intersect removes from w each message that is not in another set, and returns the number of messages left in w.
func (w *window) intersect(other *window) (left int) {
	for i := range w {
		w[i] &= other[i]
		left += bits.OnesCount64(w[i])
	}
	return left
}

// addListed adds to w, the window of the messages from begin to end, those in the lists of p. It returns the number of
// documents that it read. The cursors of p stay where the window ends: the next call for p must be for a later window.
func (s *scan) addListed(p *postings, w *window, begin, end uint32) (read int) {
	if p.cursors == nil && p.count > 0 {
		p.cursors = s.cursors(p.lists...)
	}
	for i := range p.cursors {
		c := &p.cursors[i]
		for ; c.document < end; c.next() {
			if read++; c.document >= begin { // documents before the window are skipped
				w.add(c.document - begin)
			}
		}
	}
	return read
}

// readCost is the time that it takes to read a message, in units of the time for a document of a list.
const readCost = 250

// findCandidates sets the candidates to the messages of the next window that may match, by their title or by the grams
// of the text. It stops reading lists of grams when reading the messages left costs less. Reading a message costs as
// much as reading readCost documents of a list.
func (s *scan) findCandidates() {
	if s.titled == nil { // most segments are never read, so that their titles are searched only here
		s.findTitles()
	}
	from, to := s.next, min(s.next+windowSize, s.to)
	var w window
	for i := range w {
		w[i] = math.MaxUint64
	}
	left := int(to - from) // the number of messages in w
	for i := range s.grams {
		g := &s.grams[i]
		if expected := g.count * windowSize / int(s.messages); i > 0 && left*readCost < expected {
			break // to read the messages left costs less than to read the expected documents of this gram
		}
		var found window
		read, before := s.addListed(g, &found, from, to), left // read is the number of documents that were read
		left = w.intersect(&found)
		if excluded := before - left; excluded*readCost < read {
			break // to read the excluded messages would have cost less: the messages left probably match
		}
	}
	if s.hasTitled {
		for n := from; n < to; n++ {
			if s.isTitled(n) {
				w.add(n - from)
			}
		}
	}
	s.next, s.candidates = to, s.candidates[:0]
	for i, word := range w {
		for ; word != 0; word &= word - 1 { // removes the lowest bit
			if n := from + uint32(64*i+bits.TrailingZeros64(word)); n < to { //nolint:gosec // in the window
				s.candidates = append(s.candidates, n)
			}
		}
	}
}

// advance sets s.hit to the next message that matches, and reports whether there is one. If the candidates are used up,
// it finds those of the next window. The error is that of the context.
func (s *scan) advance(ctx context.Context) (bool, error) {
	s.prepare()
	for {
		if len(s.candidates) == 0 {
			if err := ctx.Err(); err != nil || s.next == s.to {
				return false, err
			}
			s.findCandidates()
			continue
		}
		n := s.candidates[0]
		s.candidates = s.candidates[1:]
		matches, err := s.matches(ctx, n)
		if matches {
			s.hit = Hit{s.position(n), s.rows.kind(n), s.conversation(n), s.extra(n), s, n}
		}
		if matches || err != nil {
			return matches, err
		}
	}
}

// matches reports whether the query selects a message, by the filter, the position, and the title or text.
func (s *scan) matches(ctx context.Context, n uint32) (bool, error) {
	switch after := s.query.After; {
	case !s.passes(n):
		return false, nil
	case after != nil && s.position(n).Compare(after) <= 0: // at the position after or, in the order of hits, before it
		return false, nil
	case s.query.exact || s.isTitled(n): // exact: the text has at most one gram, and only messages with the gram come here
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return s.query.Has(s.read(n)), nil
}
