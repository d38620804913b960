package recall

import (
	"slices"
	"sort"

	"github.com/convtools/convtools/generated/conversation"
)

// What an answer takes at least, in characters: bounds on what is worth keeping.
const (
	leastFrame = 40 // an event, besides its text
	leastTurn  = 20 // a turn, besides its events
)

// turn is a turn and what is shown of it.
type turn struct {
	number int
	events []event
	cost   int
	over   bool // its events alone are more than an answer can have, and not kept
}

// window keeps the last turns of a conversation, as many as limit characters hold
// at most.
type window struct {
	limit   int
	turns   []turn
	first   int  // the first turn there was; 0 where there was none
	cost    int  // of the turns that are kept
	partial bool // a turn, or the events of one, are not kept
}

// last is the number of the last turn; 0 where there is none.
func (w *window) last() int {
	if len(w.turns) == 0 {
		return 0
	}
	return w.turns[len(w.turns)-1].number
}

func (w *window) begin(number int) {
	if w.first == 0 {
		w.first = number
	}
	w.turns = append(w.turns, turn{number: number, cost: leastTurn})
	w.spend(leastTurn)
}

// precede puts a turn without events before all others.
func (w *window) precede(number int) {
	if w.first = number; !w.partial {
		w.turns = slices.Insert(w.turns, 0, turn{number: number, cost: leastTurn})
		w.spend(leastTurn)
	}
}

func (w *window) add(e event) {
	t := &w.turns[len(w.turns)-1]
	if t.over {
		return
	}
	cost := leastFrame + e.body.length
	t.events, t.cost = append(t.events, e), t.cost+cost
	if t.cost > w.limit {
		t.over, t.events, w.partial = true, nil, true
	}
	w.spend(cost)
}

func (w *window) spend(cost int) {
	for w.cost += cost; w.cost > w.limit && len(w.turns) > 1; w.turns = w.turns[1:] {
		w.cost -= w.turns[0].cost
		w.turns[0] = turn{}
		w.partial = true
	}
}

// most is the largest number of turns from the end that fits by measure, and its
// size. Sizes grow with the number.
func (w *window) most(measure func([]turn) int) (n, size int) {
	n = sort.Search(len(w.turns), func(i int) bool {
		first := len(w.turns) - 1 - i
		return slices.ContainsFunc(w.turns[first:], func(t turn) bool { return t.over }) ||
			measure(w.turns[first:]) > conversation.ReadMaxChars
	})
	if n == 0 {
		return 0, 0
	}
	return n, measure(w.turns[len(w.turns)-n:])
}

// largest keeps the longest turns, longest first; where they are equal, the
// earlier one is first.
type largest struct {
	turns  []sized
	number int
	size   int
}

type sized struct{ number, size int }

// maxLargest is how many turns are named as the longest.
const maxLargest = 3

func (l *largest) begin(number int) {
	l.end()
	l.number, l.size = number, 0
}

func (l *largest) add(size int) { l.size += size }

// end ends the last turn.
func (l *largest) end() {
	if l.number == 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(l.turns, sized{l.number, l.size}, func(a, b sized) int {
		if a.size != b.size {
			return b.size - a.size
		}
		return a.number - b.number
	})
	l.turns = slices.Insert(l.turns, at, sized{l.number, l.size})
	l.turns = l.turns[:min(len(l.turns), maxLargest)]
	l.number = 0
}

// mostEvents is more events than an answer can have, whatever is in them. Of a
// turn with more, the answer has some from its beginning and some from its end,
// see [keepEnds].
const (
	mostEvents = conversation.ReadMaxChars / leastFrame
	mostFirst  = mostEvents * headShare / 100
)

// sample keeps of the events of one turn what an answer can show. What it drops,
// shortening drops as well: the answer is the one that all events would give.
type sample struct {
	n          int // events there were
	searchable int // of these, those that a search covers

	first []event // all of them up to mostEvents, then the first ones
	last  []event // then the last ones, as a ring
	next  int     // where in it the next one goes
	size  int     // cost of first
	limit int     // of size, before texts are shortened
}

func (s *sample) add(e event) {
	s.n++
	if searchable(e.shown.EventKind) {
		s.searchable++
	}
	if s.n <= mostEvents {
		s.first = append(s.first, e)
		s.size += cost(&e.body)
		s.level()
		return
	}
	if s.last == nil {
		for i := range s.first {
			s.first[i].body.limit(leastKept)
		}
		s.last = slices.Clone(s.first[mostFirst:])
		s.first = slices.Clone(s.first[:mostFirst])
	}
	e.body.limit(leastKept)
	s.last[s.next] = e
	s.next = (s.next + 1) % len(s.last)
}

// all is the events that are kept, in order.
func (s *sample) all() []event {
	return slices.Concat(s.first, s.last[s.next:], s.last[:s.next])
}

// level shortens texts when together they are several times as long as an answer
// can be, and only as far as those of an answer are shortened in any case: more
// events leave less for each.
func (s *sample) level() {
	const enough = 4 * conversation.ReadMaxChars
	if s.size <= max(enough, s.limit) {
		return
	}
	levelled := slices.Clone(s.first)
	shrinkTo(levelled, enough, leastKept)
	s.size = 0
	for i := range s.first {
		if kept := levelled[i].body.length; kept < s.first[i].body.length {
			s.first[i].body.limit(kept)
		}
		s.size += cost(&s.first[i].body)
	}
	s.limit = 2 * s.size
}
