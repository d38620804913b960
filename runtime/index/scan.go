package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"sort"
	"time"
)

// scan is the search of a segment.
type scan struct {
	*segment
	number  uint32 // of the segment, among those of the view
	query   *prepared
	seconds []byte
	nanos   []byte
	owner   []byte
	numbers []byte
	kinds   []byte

	newest   int64  // seconds of the first message
	next, to uint32 // the messages that are left; next is a hit once the scan is opened
	opened   bool
	done     bool
	found    set     // documents that may match
	titles   []uint8 // by conversation; nil for none
	wanted   []uint8 // by conversation
	texts    texts
	current  Hit
	owned    map[uint32]*Conversation
}

// What is known of whether the messages of a conversation are looked for.
const (
	notAsked = iota
	isWanted
	isUnwanted
)

// What is known of whether the title of a conversation matches.
const (
	isOther = iota
	mayMatch
	isMatch
)

// scans returns a scan for each segment, of the messages that the times and the position of
// a query let through.
func (v *View) scans(q *Query) ([]*scan, error) {
	p := v.prepare(q)
	var scans []*scan
	for i := range v.segments {
		s := &scan{segment: &v.segments[i], number: uint32(i), query: p, to: v.segments[i].Messages} //nolint:gosec // a count
		s.texts = texts{segment: s.segment}
		if err := s.bound(q); err != nil {
			return nil, err
		}
		s.done = s.next >= s.to
		scans = append(scans, s)
	}
	return scans, nil
}

// bound leaves the messages that the times and the position of a query let through.
func (s *scan) bound(q *Query) error {
	if s.to == 0 {
		return nil
	}
	var err error
	if s.seconds, err = s.part(secSeconds, 0, 8); err != nil {
		return err
	}
	s.newest = s.second(0)
	if q.Since.IsZero() && q.Until.IsZero() && (q.After == nil || s.newest < unixSeconds(q.After.Time)) {
		return nil // which is so of most segments
	}
	if err := s.load(); err != nil {
		return err
	}
	first := func(is func(n uint32) bool) uint32 {
		return uint32(sort.Search(int(s.to), func(n int) bool { return is(uint32(n)) })) //nolint:gosec // counts
	}
	before := func(t time.Time, n uint32) bool { // whether t is before message n
		seconds, nanos := s.time(n)
		return seconds != noTime && cmp.Or(cmp.Compare(t.Unix(), seconds), cmp.Compare(uint32(t.Nanosecond()), nanos)) < 0 //nolint:gosec // below 1e9
	}
	if !q.Since.IsZero() {
		since := q.Since.Add(-1)
		s.to = first(func(n uint32) bool { return !before(since, n) })
	} else if !q.Until.IsZero() {
		s.to = first(func(n uint32) bool { return s.second(n) == noTime })
	}
	if !q.Until.IsZero() {
		s.next = first(func(n uint32) bool { return !before(q.Until, n) })
	}
	if q.After != nil {
		s.next = max(s.next, first(func(n uint32) bool {
			at, e := s.position(n)
			err = cmp.Or(err, e)
			return e == nil && at.Compare(q.After) > 0
		}))
	}
	return err
}

// unixSeconds returns the seconds of a time as a segment has them.
func unixSeconds(t time.Time) int64 {
	seconds, _ := unixOf(t)
	return seconds
}

// load reads what is known of all messages.
func (s *scan) load() error {
	if s.owner != nil {
		return nil
	}
	for _, c := range []struct {
		section int
		column  *[]byte
	}{{secSeconds, &s.seconds}, {secNanoseconds, &s.nanos}, {secNumbers, &s.numbers}, {secKinds, &s.kinds}, {secOwner, &s.owner}} {
		var err error
		if *c.column, err = s.all(c.section); err != nil {
			return err
		}
	}
	return nil
}

func (s *scan) second(n uint32) int64 {
	return int64(binary.LittleEndian.Uint64(s.seconds[8*n:])) //nolint:gosec // the same bits
}

func (s *scan) time(n uint32) (int64, uint32) {
	return s.second(n), binary.LittleEndian.Uint32(s.nanos[4*n:])
}

func (s *scan) ownerOf(n uint32) uint32 { return binary.LittleEndian.Uint32(s.owner[4*n:]) }

// position returns where a message stands.
func (s *scan) position(n uint32) (Position, error) {
	c, err := s.conversationOf(n)
	if err != nil {
		return Position{}, err
	}
	return Position{timeOf(s.time(n)), c.Order, c.Key, binary.LittleEndian.Uint32(s.numbers[4*n:])}, nil
}

// conversationOf returns the conversation of a message, as it is now.
func (s *scan) conversationOf(n uint32) (*Conversation, error) {
	owner := s.ownerOf(n)
	if c := s.owned[owner]; c != nil {
		return c, nil
	}
	if owner >= s.Conversations {
		return nil, s.damaged()
	}
	c, err := s.query.view.current(s.segment, owner)
	if err != nil {
		return nil, err
	}
	if s.owned == nil {
		s.owned = map[uint32]*Conversation{}
	}
	s.owned[owner] = c
	return c, nil
}

// before reports whether the next message of s stands before that of t, or has to be looked
// at before that is known.
func (s *scan) before(t *scan) (bool, error) {
	if !s.opened || !t.opened {
		a, b := s.newest, t.newest
		if s.owner != nil {
			a = s.second(s.next)
		}
		if t.owner != nil {
			b = t.second(t.next)
		}
		return a > b || a == b && !s.opened, nil
	}
	a, an := s.time(s.next)
	b, bn := t.time(t.next)
	if a != b || an != bn {
		return a > b || a == b && an > bn, nil
	}
	p, err := s.position(s.next)
	if err != nil {
		return false, err
	}
	q, err := t.position(t.next)
	return p.Compare(&q) < 0, err
}

// hit returns the next message.
func (s *scan) hit() (*Hit, error) {
	at, err := s.position(s.next)
	if err != nil {
		return nil, err
	}
	c, err := s.conversationOf(s.next)
	s.current = Hit{Position: at, Kind: s.kinds[s.next], Conversation: c, scan: s, message: s.next}
	return &s.current, err
}

// open finds the messages that may match.
func (s *scan) open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.opened = true
	p := s.query
	s.found, p.spare = s.empty(p.spare), nil
	var err error
	switch len(p.folded) {
	case 0:
		s.found.fill(s.Messages)
	case 1:
		var l listOf
		if l, err = s.list(oneByte | gram(p.folded[0])); err == nil && l.count > 0 {
			err = s.add(s.found, l)
		}
	case 2:
		e := s.eachList(trigram(p.folded[0], p.folded[1], 0), trigram(p.folded[0], p.folded[1], end), func(l listOf) bool {
			err = cmp.Or(ctx.Err(), s.add(s.found, l))
			return err == nil
		})
		err = cmp.Or(err, e)
	default:
		err = s.all3(ctx)
	}
	if err != nil {
		return err
	}
	if len(p.folded) > 0 && !p.TextOnly {
		s.mayMatchTitles()
	}
	s.found.cut(s.Messages)
	if s.titles == nil && s.found.next(s.next, s.to) == s.to {
		s.done, s.found, p.spare = true, nil, s.found
		return nil
	}
	s.wanted = make([]uint8, s.Conversations)
	return s.load()
}

// nextTitled returns the first message, from the next one up to most, of a conversation whose
// title may match, or most.
func (s *scan) nextTitled(most uint32) (uint32, error) {
	for n := s.next; n < most; n++ {
		owner := s.ownerOf(n)
		if owner >= s.Conversations {
			return 0, s.damaged()
		}
		if s.titles[owner] != isOther {
			return n, nil
		}
	}
	return most, nil
}

// fewest returns about how many documents have the gram of the text that the fewest have, and
// at least as many as have all.
func (s *scan) fewest() (uint32, error) {
	p := s.query
	if len(p.folded) == 1 {
		l, err := s.list(oneByte | gram(p.folded[0]))
		return l.count, err
	}
	if err := s.order(); err != nil || len(p.grams) == 0 {
		return s.documents(), err
	}
	_, count, err := s.listsOf(p.grams[0])
	return count, err
}

// listsOf returns the lists of a range of grams, and how many documents are in them.
func (s *scan) listsOf(g grams) (lists []listOf, count uint32, err error) {
	err = s.eachList(g.first, g.last, func(l listOf) bool {
		lists = append(lists, l)
		count += l.count
		return true
	})
	return lists, min(count, s.documents()), err
}

// order orders the grams of the text by how many documents have them, unless another segment
// has: what is rare in one is rare in others.
func (s *scan) order() error {
	p := s.query
	if p.ordered {
		return nil
	}
	p.ordered = true
	counts := map[grams]uint32{}
	for _, g := range p.grams {
		var err error
		if _, counts[g], err = s.listsOf(g); err != nil {
			return err
		}
	}
	slices.SortStableFunc(p.grams, func(g, h grams) int { return cmp.Compare(counts[g], counts[h]) })
	return nil
}

// all3 finds the documents that have the grams of the text: all of them, or so many that it is
// as well to look at what is left.
func (s *scan) all3(ctx context.Context) error {
	p := s.query
	if err := s.order(); err != nil {
		return err
	}
	left := s.documents()
	const mostInVain = 2
	inVain := 0 // lists, one after the other, that were not worth it, as what is left may well match
	for i, g := range p.grams {
		if err := ctx.Err(); err != nil || inVain == mostInVain {
			return err
		}
		lists, count, err := s.listsOf(g)
		if err != nil {
			return err
		}
		switch {
		case count == 0:
			clear(s.found)
			copy(p.grams[1:], p.grams[:i]) // other segments will not have it either
			p.grams[0] = g
			return nil
		case i == 0:
			for _, l := range lists {
				if err := s.add(s.found, l); err != nil {
					return err
				}
			}
		case !s.isWorth(left, count):
			return nil
		default:
			p.others = s.empty(p.others)
			for _, l := range lists {
				if err := s.add(p.others, l); err != nil {
					return err
				}
			}
			s.found.and(p.others)
		}
		before := left
		if left = s.found.count(); left == 0 {
			return nil
		}
		if inVain++; s.takes(count) < (before-left)*look {
			inVain = 0
		}
	}
	return nil
}

// look is how long it takes to look at a document, in the units of takes.
const look = 500

// takes returns how long it takes to read lists of count documents, in units of what it takes
// to read one of them.
func (s *scan) takes(count uint32) uint32 {
	const begin = 200
	if isBitmap(count, s.documents()) {
		return begin + s.documents()/32
	}
	return begin + count
}

// isWorth reports whether to read lists of count documents is faster than to look at what they
// leave out of some documents.
func (s *scan) isWorth(left, count uint32) bool {
	return uint64(left)*look*uint64(s.documents()-count) > uint64(s.takes(count))*uint64(s.documents())
}

// mayMatchTitles finds the conversations whose title may match.
func (s *scan) mayMatchTitles() {
	may := func(n uint32) {
		if s.titles == nil {
			s.titles = make([]uint8, s.Conversations)
		}
		s.titles[n] = mayMatch
		if s.query.exact() && !s.Superseded.has(n) {
			s.titles[n] = isMatch
		}
	}
	for n := s.found.next(s.Messages, s.documents()); n < s.documents(); n = s.found.next(n+1, s.documents()) {
		if n -= s.Messages; !s.Superseded.has(n) {
			may(n)
		}
		n += s.Messages
	}
	for n := range uint32(min(len(s.Superseded)*8, int(s.Conversations))) { //nolint:gosec // a count
		if s.Superseded.has(n) && !s.Dead.has(n) { // another segment has the title
			may(n)
		}
	}
}

// titleMatches reports whether the title of the conversation of a message matches.
func (s *scan) titleMatches(message uint32) (bool, error) {
	owner := s.ownerOf(message)
	if s.titles == nil || s.titles[owner] != mayMatch {
		return s.titles != nil && s.titles[owner] == isMatch, nil
	}
	var title []byte
	if s.Superseded.has(owner) {
		c, err := s.conversationOf(message)
		if err != nil {
			return false, err
		}
		title = []byte(c.Title)
	} else {
		var err error
		if title, err = s.title(owner); err != nil {
			return false, err
		}
	}
	s.titles[owner] = isOther
	if at, _ := s.query.Find(title); at >= 0 {
		s.titles[owner] = isMatch
	}
	return s.titles[owner] == isMatch, nil
}

// everything reports whether all messages that were found match.
func (s *scan) everything() bool {
	return s.query.exact() && s.titles == nil && s.hasOnly(s.query.Kinds) && s.query.Wanted == nil && len(s.Dead) == 0 && s.next == 0 && s.to == s.Messages
}

// hasOnly reports whether there are only messages of some kinds.
func (s *scan) hasOnly(kinds uint64) bool {
	if kinds == 0 {
		return true
	}
	there := s.file.kinds.Load()
	if there == 0 {
		for _, kind := range s.kinds {
			there |= 1 << (kind & 63)
		}
		s.file.kinds.Store(there)
	}
	return there&^kinds == 0
}

// advance goes on to the next message that matches, from s.next on.
func (s *scan) advance(ctx context.Context) error {
	if s.done {
		return nil
	}
	for looked := 1; ; looked++ {
		n := s.found.next(s.next, s.to)
		if s.titles != nil {
			var err error
			if n, err = s.nextTitled(n); err != nil {
				return err
			}
		}
		if s.next = n; n >= s.to {
			s.done = true
			return nil
		}
		matches, err := s.matches(ctx, n)
		if err != nil {
			return err
		}
		if matches {
			return nil
		}
		s.next++
		const lookEvery = 1024 // messages of which the text is not read
		if looked%lookEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// count counts the messages that are left, and reports whether it counted all.
func (s *scan) count(ctx context.Context, c *Counting, n *Counted) (all bool, err error) {
	for looked := 1; ; looked++ {
		if err := s.advance(ctx); err != nil {
			return false, err
		}
		if s.done {
			return true, nil
		}
		kind, isApart := s.kinds[s.next], false
		if c.ApartKinds>>kind&1 != 0 {
			extra, err := s.texts.extra(s.next)
			if err != nil {
				return false, err
			}
			isApart = c.IsApart(kind, extra)
		}
		if isApart {
			n.Apart++
		} else {
			n.Messages++
		}
		s.next++
		if looked%256 == 0 && c.Stop() {
			return false, nil
		}
	}
}

// isWanted reports whether the messages of the conversation of a message are looked for.
func (s *scan) isWanted(n uint32) (bool, error) {
	owner := s.ownerOf(n)
	if owner >= s.Conversations {
		return false, s.damaged()
	}
	if s.wanted[owner] == notAsked {
		s.wanted[owner] = isWanted
		if s.Dead.has(owner) {
			s.wanted[owner] = isUnwanted
		} else if wanted := s.query.Wanted; wanted != nil {
			c, err := s.conversationOf(n)
			if err != nil {
				return false, err
			}
			if !wanted(c) {
				s.wanted[owner] = isUnwanted
			}
		}
	}
	return s.wanted[owner] == isWanted, nil
}

func (s *scan) matches(ctx context.Context, n uint32) (bool, error) {
	q := s.query
	if q.Kinds != 0 && q.Kinds>>s.kinds[n]&1 == 0 {
		return false, nil
	}
	if wanted, err := s.isWanted(n); !wanted || err != nil {
		return false, err
	}
	if s.found.has(n) && q.exact() {
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if matches, err := s.titleMatches(n); matches || err != nil || !s.found.has(n) {
		return matches, err
	}
	stored, err := s.texts.stored(n)
	if err != nil {
		return false, err
	}
	_, text, err := s.split(stored)
	if err != nil {
		return false, err
	}
	at, _ := q.Find(text)
	return at >= 0, nil
}
