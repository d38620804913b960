package recall

import (
	"slices"
	"sort"
)

// leastFrame is how many characters an event takes at least in an answer, besides its text.
const leastFrame = 40

// turn is a turn and what is shown of it.
type turn struct {
	number int
	events []event // by number
}

func (t *turn) add(e event) {
	at, _ := slices.BinarySearchFunc(t.events, e, byNumber)
	t.events = slices.Insert(t.events, at, e)
}

func byNumber(a, b event) int { return a.shown.Event - b.shown.Event }

// cost is about how many characters the turn takes in an answer, and at least.
func (t *turn) cost() int {
	cost := 0
	for i := range t.events {
		cost += leastFrame + t.events[i].body.kept()
	}
	return cost
}

// most is the largest number of turns from the end that fit.
func most(turns []turn, fits func([]turn) bool) int {
	return sort.Search(len(turns), func(i int) bool { return !fits(latest(turns, i+1)) })
}

// latest is the last n turns.
func latest(turns []turn, n int) []turn { return turns[len(turns)-n:] }

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

// headShare is how many percent of the events that are left in are from the beginning.
const headShare = 40

// levels are the limits on the texts of a turn that are tried, in characters, until
// it fits. The last is enough to see what an event is about; with less, events are
// left out.
func levels() []int { return []int{maxText, 1000, 700, 450, 300, 200} }

// digest is the events of one turn, by rank.
type digest [ranks][]event

// forms is how many forms there are, each no longer than the one before: texts are
// shortened, then events left out, rank by rank.
func (d *digest) forms() int {
	n := 1
	for r := range d {
		if kept := len(d[r]); kept > 0 {
			n += len(levels()) - 1 + kept
		}
	}
	return n
}

// least is how many characters the events of the form k take at least in an answer.
func (d *digest) least(k int) int {
	n, limits := 0, len(levels())
	for r := range d {
		if kept := len(d[r]); kept > 0 {
			k -= min(k, limits-1)
			dropped := min(k, kept)
			k -= dropped
			n += (kept - dropped) * leastFrame
		}
	}
	return n
}

// form is the form k of the turn, from 0: its events, how many of all are left out,
// and the number of the first of these.
func (d *digest) form(k int) (events []event, omitted, first int) {
	limits := levels()
	for r := range d {
		n := len(d[r])
		if n == 0 {
			continue
		}
		level := min(k, len(limits)-1)
		k -= level
		dropped := min(k, n)
		k -= dropped
		head := (n - dropped) * headShare / 100
		for _, e := range slices.Concat(d[r][:head], d[r][head+dropped:]) {
			events = append(events, e.shortened(limits[level]))
		}
		omitted += dropped
		if left := d[r][head:]; dropped > 0 && (first == 0 || left[0].shown.Event < first) {
			first = left[0].shown.Event
		}
	}
	slices.SortFunc(events, byNumber)
	return events, omitted, first
}
