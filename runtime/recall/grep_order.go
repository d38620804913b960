package recall

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// candidate is an event that matches, or a title. There may be very many.
type candidate struct {
	conversation int // index among those with a match
	position     int // among the candidates of its conversation
	number       int // 0 for a title, or where not known
	matches      int
	spread       int
	scope        transcript.Scopes
	lines        []matchingLine
	own          int // lines that stand at this event
	more         int // matching lines that stand at no event
}

// has reports whether one of the first n lines has a sum.
func (e *candidate) has(sum uint64, n int) bool {
	return slices.ContainsFunc(e.lines[:n], func(l matchingLine) bool { return l.sum == sum })
}

// matchingLine is one of the matching lines of a candidate that may be shown.
type matchingLine struct {
	at     int // index among the matching lines of the event
	number int // of the line in the text; 0 where not known
	sum    uint64
	chars  int
	joined bool // it is shown as a line of another place
	times  int  // how many lines of the event it stands for, where that is known
}

// saidScopes are what user and assistant said.
const saidScopes = transcript.ScopeUser | transcript.ScopeAssistant | transcript.ScopeStructured

// candidates are all events that match: conversations newest first, archived ones behind
// live ones, events by number.
type candidates struct {
	ids  []transcript.ID
	list []*candidate
}

// collect searches for candidates, which are added to those there are.
func (c *candidates) collect(ctx context.Context, source conversations.Source, q conversations.EventQuery) (conversations.EventMatches, error) {
	q.MaxLine, q.MaxWindows = narrowest, 1 // only sums and lengths are kept
	position := 0
	q.Event = func(e *conversations.EventMatch) error {
		if id := e.Conversation.ID; len(c.ids) == 0 || c.ids[len(c.ids)-1] != id {
			c.ids = append(c.ids, id)
			position = 0
		}
		found := &candidate{
			conversation: len(c.ids) - 1, position: position, number: e.Number, matches: e.Matches, spread: e.Spread,
			scope: e.Scope,
		}
		for i := range e.Lines {
			if l := &e.Lines[i]; l.IsMatch {
				found.lines = append(found.lines, matchingLine{
					at: len(found.lines), number: l.Number, sum: sumAround(e.Lines, i, q.Context), chars: cmp.Or(l.Chars, utf8.RuneCountInString(l.Text)),
				})
			}
		}
		position++
		c.list = append(c.list, found)
		return nil
	}
	return source.SearchEvents(ctx, q)
}

// sumAround is the sum of a line and of up to most lines on either side of it, blank ones
// aside: with context, lines are equal where these are too.
func sumAround(lines []conversations.EventLine, at, most int) uint64 {
	const prime = 1099511628211
	sum := lines[at].Sum
	for _, step := range []int{-1, 1} {
		for i, n := at+step, 0; n < most && 0 <= i && i < len(lines); i += step {
			if number := lines[i].Number; number > 0 && number != lines[i-step].Number+step {
				break
			}
			if strings.TrimSpace(lines[i].Text) != "" {
				sum = sum*prime ^ lines[i].Sum
				n++
			}
		}
		sum = sum*prime ^ 1
	}
	return sum
}

// add adds candidates in other conversations.
func (c *candidates) add(others candidates) {
	for _, e := range others.list {
		e.conversation += len(c.ids)
	}
	c.ids = append(c.ids, others.ids...)
	c.list = append(c.list, others.list...)
}

// place is a matching line in the order in which lines are shown.
type place struct {
	event *candidate
	line  int // index among the lines of the event
}

// order is every line that can be shown, over all pages.
type order struct {
	candidates
	places []place
	total  int // of them, also those behind the last one that is known
	joined bool
}

// order puts the lines in order. Conversations are dealt one event each in turn,
// newest first, and in each of them what was said comes first. Where the words stand
// apart, the events come first in which they stand closest together. With join, equal
// lines stand there once, at the latest of their events, and of an event's other lines
// it is counted how many there are.
func (c *candidates) order(join joining, apart bool) *order {
	o := &order{candidates: *c, joined: join == joinAll}
	switch join {
	case joinAll:
		c.join()
	default:
		for _, e := range c.list {
			o.total += e.matches - len(e.lines)
			if e.own = len(e.lines); join == joinOwn {
				e.joinOwn()
			}
		}
	}
	events := slices.DeleteFunc(slices.Clone(c.list), func(e *candidate) bool { return e.own == 0 })
	if apart {
		slices.SortStableFunc(events, func(a, b *candidate) int {
			return cmp.Or(cmp.Compare(nearness(a), nearness(b)), saidFirst(a, b), cmp.Compare(a.spread, b.spread))
		})
	} else {
		slices.SortStableFunc(events, func(a, b *candidate) int {
			return cmp.Or(cmp.Compare(a.conversation, b.conversation), saidFirst(a, b))
		})
		deal(events)
	}
	o.places = places(events, apart)
	o.total += len(o.places)
	return o
}

// places are the lines of events in order, but that one line of each conversation comes
// first, unless the words stand apart.
func places(events []*candidate, apart bool) []place {
	var first, rest []place
	begun := map[int]bool{} // conversations
	for _, e := range events {
		for i := range e.lines {
			switch {
			case e.lines[i].joined:
			case !apart && !begun[e.conversation]:
				begun[e.conversation] = true
				first = append(first, place{e, i})
			default:
				rest = append(rest, place{e, i})
			}
		}
	}
	return append(first, rest...)
}

// paragraph is about how many characters a paragraph has.
const paragraph = 500

// nearness is how far apart the words stand in an event, by powers of two: within a
// paragraph there is no difference.
func nearness(e *candidate) int { return bits.Len(uint(max(e.spread, paragraph))) }

// joining is which equal lines stand in an order once.
type joining int

const (
	joinAll  joining = iota // of all events
	joinOwn                 // of an event
	joinNone                // none, where different lines stand around them
)

// joinOwn leaves of equal lines of an event the first one.
func (e *candidate) joinOwn() {
	first := make(map[uint64]int, len(e.lines))
	for i := range e.lines {
		l := &e.lines[i]
		at, ok := first[l.sum]
		if !ok {
			first[l.sum], l.times = i, 1
			continue
		}
		l.joined = true
		e.lines[at].times++
		e.own--
	}
}

// densestFirst puts the matching lines of each event in order of the places they stand
// at: first the place where most of them stand with no more than gap lines from one to
// the next.
func (c *candidates) densestFirst(gap int) {
	for _, e := range c.list {
		var places [][]matchingLine
		for i, l := range e.lines {
			if i == 0 || l.number > e.lines[i-1].number+gap {
				places = append(places, nil)
			}
			places[len(places)-1] = append(places[len(places)-1], l)
		}
		slices.SortStableFunc(places, func(a, b []matchingLine) int { return cmp.Compare(len(b), len(a)) })
		e.lines = slices.Concat(places...)
	}
}

// join leaves each line to the latest event that has it: of the newest
// conversation, the one with the greatest number. Titles stay.
func (c *candidates) join() {
	latest := map[uint64]*candidate{}
	for _, e := range c.list {
		for _, l := range e.lines {
			if before := latest[l.sum]; before == nil || before.conversation == e.conversation {
				latest[l.sum] = e
			}
		}
	}
	for _, e := range c.list {
		e.more = e.matches
		for i := range e.lines {
			l := &e.lines[i]
			switch {
			case latest[l.sum] != e:
				l.joined = true
				e.more--
			case e.has(l.sum, i):
				l.joined = true
			default:
				e.own++
				e.more--
			}
		}
	}
}

// saidFirst orders by what was said, then titles, which are shown in any case, then tool
// traffic, and reasoning last.
func saidFirst(a, b *candidate) int {
	rank := func(e *candidate) int {
		switch {
		case e.scope&saidScopes != 0:
			return 0
		case e.scope == transcript.ScopeTitle:
			return 1
		case e.scope == transcript.ScopeReasoning:
			return 3
		default:
			return 2
		}
	}
	return cmp.Compare(rank(a), rank(b))
}

// deal takes events that stand by conversation, and puts the first of each
// conversation first, then the second of each.
func deal(events []*candidate) {
	rounds := make(map[*candidate]int, len(events))
	for i, e := range events {
		if i > 0 && events[i-1].conversation == e.conversation {
			rounds[e] = rounds[events[i-1]] + 1
		}
	}
	slices.SortStableFunc(events, func(a, b *candidate) int { return cmp.Compare(rounds[a], rounds[b]) })
}

// page returns the lines from offset on: limit at most, and where the words stand
// apart, no more than [maxApart] events.
func (o *order) page(offset, limit int, apart bool) []place {
	offset = min(offset, len(o.places))
	page := o.places[offset:min(offset+limit, len(o.places))]
	if !apart {
		return slices.Clone(page)
	}
	events := 0
	for i := range page {
		if i == 0 || page[i].event != page[i-1].event {
			events++
		}
		if events > maxApart {
			return slices.Clone(page[:i])
		}
	}
	return slices.Clone(page)
}

// How many events are named beside a line that they hold too: of the same conversation,
// and of others.
const (
	maxAlso      = 10
	maxAlsoApart = 3
)

// also names the other events that hold the lines of a page, by their place.
func (o *order) also(page []place) map[place]string {
	shown := make(map[uint64]place, len(page))
	for _, p := range page {
		shown[p.event.lines[p.line].sum] = p
	}
	names, others := map[place][]string{}, map[place]int{}
	for _, e := range o.list {
		for i, l := range e.lines {
			p, ok := shown[l.sum]
			if !ok || e == p.event || e.has(l.sum, i) {
				continue
			}
			name, most := strconv.Itoa(e.number), maxAlso
			if e.conversation != p.event.conversation {
				name, most = string(o.ids[e.conversation])+":"+name, maxAlsoApart
			}
			if e.number == 0 || len(names[p]) >= most {
				others[p]++
				continue
			}
			names[p] = append(names[p], name)
		}
	}
	also := map[place]string{}
	for _, p := range page {
		list := names[p]
		if n := others[p]; n > 0 {
			list = append(list, "+"+strconv.Itoa(n))
		}
		also[p] = strings.Join(list, ",")
	}
	return also
}
