package recall

import (
	"cmp"
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
	events []event // by number
	cost   int
	over   bool // its events alone are more than an answer can have, and not kept
}

func (t *turn) add(e event) {
	at, _ := slices.BinarySearchFunc(t.events, e, byNumber)
	t.events = slices.Insert(t.events, at, e)
}

func byNumber(a, b event) int { return a.shown.Event - b.shown.Event }

// window keeps the last turns of a conversation, as many as an answer holds at most.
type window struct {
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

// add adds an event of the last turn.
func (w *window) add(e event) {
	t := &w.turns[len(w.turns)-1]
	cost := leastFrame + e.body.kept()
	t.cost += cost
	if !t.over {
		t.add(e)
	}
	if t.cost > conversation.ReadMaxChars {
		t.over, t.events, w.partial = true, nil, true
	}
	w.spend(cost)
}

func (w *window) spend(cost int) {
	for w.cost += cost; w.cost > conversation.ReadMaxChars && len(w.turns) > 1; w.turns = w.turns[1:] {
		w.cost -= w.turns[0].cost
		w.turns[0] = turn{}
		w.partial = true
	}
}

// latest is the last n turns.
func (w *window) latest(n int) []turn { return w.turns[len(w.turns)-n:] }

// most is the largest number of turns from the end that fit.
func (w *window) most(fits func([]turn) bool) int {
	return sort.Search(len(w.turns), func(i int) bool {
		turns := w.latest(i + 1)
		return slices.ContainsFunc(turns, func(t turn) bool { return t.over }) || !fits(turns)
	})
}

// rank is how much the reader of a turn needs an event: the first is left out first.
type rank int

const (
	work    rank = iota // reasoning, tool traffic, inquiries
	said                // by the assistant on the way
	outcome             // requests, and the last that the assistant said before the next one
	ranks   int  = iota
)

func rankOf(kind string, isAnswer bool) rank {
	switch {
	case kind == kindUser, isAnswer:
		return outcome
	case isSaid(kind):
		return said
	default:
		return work
	}
}

// mostEvents is more events than an answer can have, whatever is in them. Of more
// there are some from the beginning, and the others from the end.
const (
	mostEvents = conversation.ReadMaxChars / leastFrame
	headShare  = 40 // percent
)

// levels are the limits on the texts of a turn that are tried, in characters, until
// it fits. The last is enough to see what an event is about; with less, events are
// left out.
func levels() []int { return []int{maxText, 1000, 700, 450, 300, 200} }

const leastShown = 200

// rankEvents are events of a rank: all of them up to mostEvents, and then the first and the
// last ones.
type rankEvents struct {
	n       int // events there were
	events  []event
	evicted int // the number of the first event that is not kept
}

func (s *rankEvents) add(e event) {
	if s.n++; s.n > mostEvents {
		e = e.shortened(leastShown)
	}
	if s.n == mostEvents+1 {
		for i := range s.events {
			s.events[i] = s.events[i].shortened(leastShown)
		}
	}
	// Twice as many as are kept, so that most calls move nothing.
	if s.events = append(s.events, e); len(s.events) == 2*mostEvents {
		s.evict()
	}
}

func (s *rankEvents) kept() int { return min(s.n, mostEvents) }

// evict leaves no more events than are kept.
func (s *rankEvents) evict() {
	const head = mostEvents * headShare / 100
	if more := len(s.events) - mostEvents; more > 0 {
		s.evicted = cmp.Or(s.evicted, s.events[head].shown.Event)
		s.events = slices.Delete(s.events, head, head+more)
	}
}

// ends returns n of the events that are kept, from both ends, and the number of the first
// one that is left out; 0 where none is.
func (s *rankEvents) ends(n int) (events []event, left int) {
	s.evict()
	head := n * headShare / 100
	if left = s.evicted; n < len(s.events) {
		left = s.events[head].shown.Event
	}
	return slices.Concat(s.events[:head], s.events[len(s.events)-(n-head):]), left
}

// digest keeps of the events of one turn what an answer can show.
type digest [ranks]rankEvents

func (d *digest) add(e event, r rank) { d[r].add(e) }

// forms is how many forms there are, each no longer than the one before: texts are
// shortened, then events left out, rank by rank.
func (d *digest) forms() int {
	n := 1
	for r := range d {
		if kept := d[r].kept(); kept > 0 {
			n += len(levels()) - 1 + kept
		}
	}
	return n
}

// form is the form k of the turn, from 0: its events, how many of all are left out,
// and the number of the first of these.
func (d *digest) form(k int) (events []event, omitted, first int) {
	limits := levels()
	for r := range d {
		n := d[r].kept()
		if n == 0 {
			continue
		}
		level := min(k, len(limits)-1)
		k -= level
		dropped := min(k, n)
		k -= dropped
		some, left := d[r].ends(n - dropped)
		for _, e := range some {
			events = append(events, e.shortened(limits[level]))
		}
		omitted += d[r].n - len(some)
		if left > 0 && (first == 0 || left < first) {
			first = left
		}
	}
	slices.SortFunc(events, byNumber)
	return events, omitted, first
}
