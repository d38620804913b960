package recall

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/envelope"
)

// chars is how long a generated envelope is, in the characters that caps count.
func chars(e any) int { return envelope.Chars(envelope.Document(e)) }

// longest returns the first of n forms of an answer that is within the limit, or else the last.
// Each is shorter than the one before, but for a note more or less.
func longest[E any](n, limit int, form func(int) E) E {
	if first := form(0); chars(first) <= limit {
		return first
	}
	return form(min(n-1, sort.Search(n, func(k int) bool { return chars(form(k)) <= limit })))
}

// fit is an envelope with as many of n items as there is room for.
func fit[E any](n, limit int, build func(int) E) E {
	return longest(n+1, limit, func(k int) E { return build(n - k) })
}

const (
	// usualRead is about how many characters an answer with several events has: where it
	// has more, texts are shortened further, but none is left out.
	usualRead = 10_000
	// leastFrame is how many characters an event takes at least, besides its text.
	leastFrame = 40
	// maxRemarks is how many characters the notes about a call have together.
	maxRemarks = 600
)

// errTooMuch is the cause of a refusal: a call for less works.
var errTooMuch = errors.New("more than an answer can have")

// view is turns by their numbers, and some of their events, by number.
type view struct {
	turns  []int
	events []event
}

func byNumber(a, b event) int { return a.shown.Event - b.shown.Event }

// view returns all turns that were read, with some of their events.
func (r *reading) view(wanted func(*event) bool) view {
	v := view{turns: r.turns}
	for i := range r.events {
		if wanted(&r.events[i]) {
			v.events = append(v.events, r.events[i])
		}
	}
	return v
}

// latest is the last n turns.
func (v view) latest(n int) view {
	turns := v.turns[len(v.turns)-n:]
	from := len(v.events)
	for n > 0 && from > 0 && v.events[from-1].turn >= turns[0] {
		from--
	}
	return view{turns, v.events[from:]}
}

// most is the largest number of turns from the end that fit.
func (v view) most(fits func(view) bool) int {
	return sort.Search(len(v.turns), func(i int) bool { return !fits(v.latest(i + 1)) })
}

// cost is about how many characters the events take in an answer, and at least.
func (v view) cost() int {
	cost := 0
	for i := range v.events {
		cost += leastFrame + v.events[i].body.kept()
	}
	return cost
}

// whole is the answer with all texts whole; nil where they are too long. An event
// that is the only one of one turn has as much room as with its number.
func (r *reading) whole(v view) *conversation.ReadEnvelope {
	if r.asked == 0 || r.isLong || len(r.turns) > 1 && r.chars > maxWhole {
		return nil
	}
	if r.chars > maxWhole {
		for i, e := range v.events {
			v.events[i] = e.shortened(partChars)
		}
	}
	if e := r.envelope(v, v.events); chars(e) <= conversation.ReadMaxChars {
		return e
	}
	return nil
}

// fits reports whether an answer has room for all texts of some turns, shortened to maxText.
func (r *reading) fits(v view) bool {
	return v.cost() <= conversation.ReadMaxChars && // which saves writing the answer
		chars(r.envelope(v, v.events)) <= conversation.ReadMaxChars
}

// fitted is the answer with the longest form of the events that there is room for.
func (r *reading) fitted(v view) *conversation.ReadEnvelope {
	var d digest
	for _, e := range v.events {
		d[e.rank()] = append(d[e.rank()], e)
	}
	form := func(k int) *conversation.ReadEnvelope { return r.envelope(v, d.form(k)) }
	within := func(limit int) int {
		return sort.Search(d.forms(), func(k int) bool {
			_, shown := d.plan(k)
			return shown*leastFrame <= limit && chars(form(k)) <= limit
		})
	}
	k := within(usualRead)
	if _, shown := d.plan(k); shown < len(v.events) {
		k = within(conversation.ReadMaxChars)
	}
	return form(k)
}

// rank is how much the reader needs an event: the first is left out first.
type rank int

const (
	work    rank = iota // reasoning, tool traffic, inquiries
	said                // by the assistant on the way
	outcome             // requests, and the last that the assistant said before the next one
	ranks   int  = iota
)

// headShare is how many percent of the events that are left in are from the beginning.
const headShare = 40

// levels are the limits on texts that are tried, in characters, until they fit. The last is
// enough to see what an event is about; with less, events are left out.
func levels() []int { return []int{maxText, 1000, 700, 450, 300, 200} }

// digest is events by rank.
type digest [ranks][]event

// forms is how many forms there are, each no longer than the one before: texts are
// shortened, then events left out, rank by rank.
func (d *digest) forms() int {
	n := 1
	for _, events := range d {
		n += len(levels()) - 1 + len(events)
	}
	return n
}

// plan is how far each rank is shortened in the form k, from 0, how many of its events are
// dropped, and how many of all are shown.
func (d *digest) plan(k int) (of [ranks]struct{ level, dropped int }, shown int) {
	for r := range d {
		of[r].level = min(k, len(levels())-1)
		of[r].dropped = min(k-of[r].level, len(d[r]))
		k -= of[r].level + of[r].dropped
		shown += len(d[r]) - of[r].dropped
	}
	return of, shown
}

// form is the events of the form k.
func (d *digest) form(k int) (events []event) {
	plan, _ := d.plan(k)
	for r, of := range plan {
		head := (len(d[r]) - of.dropped) * headShare / 100
		for i, e := range d[r] {
			if i < head || i >= head+of.dropped {
				events = append(events, e.shortened(levels()[of.level]))
			}
		}
	}
	slices.SortFunc(events, byNumber)
	return events
}

// envelope shows some of the events of turns.
func (r *reading) envelope(v view, shown []event) *conversation.ReadEnvelope {
	e := r.bare(view{v.turns, shown}, 0)
	switch {
	case r.Turns == 0 && r.Damage == nil:
		e.Notes = append(e.Notes, "This conversation has no turns yet.")
	case r.Turns > 0 && len(v.events) == 0:
		e.Notes = append(e.Notes, fmt.Sprintf("Nothing of include=%s was recorded here.", list(r.params.Include)))
	}
	if note := shortNote(v.events, shown); note != "" {
		e.Truncated = true
		e.Notes = append(e.Notes, note)
	}
	e.Notes = append(e.Notes, r.damageNotes()...)
	return e
}

// shortNote says what is missing of events in an answer, and which calls show it; empty where
// nothing is.
func shortNote(all, shown []event) string {
	shortened := 0
	var longest *event
	for i := range shown {
		if e := &shown[i]; e.body.isShortened() {
			shortened++
			if longest == nil || e.chars > longest.chars {
				longest = e
			}
		}
	}
	if omitted := len(all) - len(shown); omitted > 0 {
		i := 0
		for i < len(shown) && all[i].shown.Event == shown[i].shown.Event {
			i++
		}
		note := fmt.Sprintf("%d of %d events are left out, the first is event=%d", omitted, len(all), all[i].shown.Event)
		if shortened > 0 {
			return note + fmt.Sprintf("; %d are shortened. event=N shows any of them in full.", shortened)
		}
		return note + ". event=N shows any of them."
	}
	switch shortened {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 text is shortened: event=%d shows it in full (%s).", longest.shown.Event, short(longest.chars))
	}
	return fmt.Sprintf("%d texts are shortened: event=N shows one in full, the longest is event=%d (%s).", shortened, longest.shown.Event, short(longest.chars))
}

// bare shows turns, or one event and its neighbours where it has a number, with the
// notes of the call.
func (r *reading) bare(v view, number int) *conversation.ReadEnvelope {
	var e conversation.ReadEnvelope
	e.ID, e.Title, e.TotalTurns = string(r.ID), clip(r.Title, maxTitle), r.Turns
	e.Archived, e.Hidden, e.Current = r.Archived, r.Hidden, r.current
	var at time.Time
	for _, turn := range v.turns {
		shown := conversation.ReadTurn{Index: turn}
		n := 0
		for n < len(v.events) && v.events[n].turn == turn {
			n++
		}
		events := v.events[:n]
		v.events = v.events[n:]
		request := 0
		for i := range events {
			event := &events[i]
			line, isSubject := event.render(), number == 0 || event.shown.Event == number
			if event.request != request && events[0].request != events[n-1].request {
				line.Request, request = event.request, event.request
			}
			isTimed := isSubject && (number > 0 || i == 0 || event.at.Sub(at).Abs() >= time.Minute)
			if isTimed && !event.at.IsZero() {
				line.Timestamp, at = event.at, event.at
			}
			if event.call != event.shown.Event-1 {
				line.Call = event.call
			}
			if number == 0 {
				e.Events++
			}
			e.Truncated = e.Truncated || line.Truncated && isSubject
			shown.Events = append(shown.Events, line)
		}
		e.Turns = append(e.Turns, shown)
	}
	if n := len(v.turns); n > 1 && number == 0 {
		e.TurnCount, e.FirstTurn, e.LastTurn = n, v.turns[0], v.turns[n-1]
	}
	if notes := remarks(r.call); len(notes) > 0 {
		e.Notes = []string{clip(strings.Join(notes, " "), maxRemarks)}
	}
	return &e
}

// inTurns is events, which are in their order, with their turns.
func inTurns(events []event) view {
	v := view{events: events}
	for i := range events {
		v.turns = append(v.turns, events[i].turn)
	}
	v.turns = slices.Compact(v.turns)
	return v
}
