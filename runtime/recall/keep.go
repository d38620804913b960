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
	for _, events := range d {
		if len(events) > 0 {
			n += len(levels()) - 1 + len(events)
		}
	}
	return n
}

// plan is how far each rank is shortened in the form k, from 0, how many of its events are
// dropped, and how many of all are shown.
func (d *digest) plan(k int) (of [ranks]struct{ level, dropped int }, shown int) {
	for r := range d {
		if n := len(d[r]); n > 0 {
			of[r].level = min(k, len(levels())-1)
			of[r].dropped = min(k-of[r].level, n)
			k -= of[r].level + of[r].dropped
			shown += n - of[r].dropped
		}
	}
	return of, shown
}

// form is the form k of the turn: its events, how many of all are left out,
// and the number of the first of these.
func (d *digest) form(k int) (events []event, omitted, first int) {
	plan, _ := d.plan(k)
	for r, of := range plan {
		head := (len(d[r]) - of.dropped) * headShare / 100
		for i, e := range d[r] {
			switch isLeft := i < head || i >= head+of.dropped; {
			case isLeft:
				events = append(events, e.shortened(levels()[of.level]))
			case first == 0 || e.shown.Event < first:
				first = e.shown.Event
			}
		}
		omitted += of.dropped
	}
	slices.SortFunc(events, byNumber)
	return events, omitted, first
}
