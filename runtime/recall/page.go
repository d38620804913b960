package recall

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
)

// chars returns how long a generated envelope is, in the characters
// that caps count.
func chars(e any) int { return envelope.Chars(envelope.Document(e)) }

// fit returns an envelope with as many of n items as there is room for.
func fit[E any](n, limit int, build func(int) E) E {
	omitted := sort.Search(n, func(k int) bool { return chars(build(n-k)) <= limit })
	return build(n - omitted)
}

const (
	// usualRead is about how many characters an answer with several
	// events has: where it has more, texts are shortened further, but
	// none is left out.
	usualRead = 10_000
	// leastFrame is how many characters an event takes at least, besides
	// its text.
	leastFrame = 40
	// maxRemarks is how many characters the notes about a call have
	// together.
	maxRemarks = 600
	// headShare is how many percent of the events that are left in are
	// from the beginning.
	headShare = 40
)

// errTooMuch is the cause of a refusal: a call for less works.
var errTooMuch = errors.New("more than an answer can have")

// levels are the limits on texts that are tried, in characters, until
// they fit. The last is enough to see what an event is about; with
// less, events are left out.
func levels() []int { return []int{1500, 1000, 700, 450, 300, 200} }

// fitted returns the answer with all texts whole, or else in the
// longest form that there is room for. Several turns that are too much
// even shortened are refused.
func (r *reading) fitted() (*conversation.ReadEnvelope, error) {
	switch {
	case len(r.asked) == 0:
		return r.answer(r.turns, nil, nil), nil
	case len(r.turns) == 1 && len(r.asked) == 1:
		r.asked[0] = r.asked[0].shortened(partChars)
		fallthrough
	case r.chars <= maxWhole:
		if e := r.answer(r.turns, r.asked, r.asked); chars(e) <= conversation.ReadMaxChars {
			return e, nil
		}
	}
	if len(r.turns) > 1 && !r.anyway && !r.fits(r.turns, r.asked) {
		return nil, r.refusal()
	}
	return r.shortest(r.turns, r.asked), nil
}

// fits reports whether an answer has room for all texts of some turns,
// shortened as little as they may be.
func (r *reading) fits(turns []int, events []event) bool {
	f := formsOf(events)
	shown := f.form(0)
	return cost(shown) <= conversation.ReadMaxChars && // which saves writing it
		chars(r.answer(turns, events, shown)) <= conversation.ReadMaxChars
}

// cost returns about how many characters events take, and at least.
func cost(events []event) (n int) {
	for i := range events {
		n += leastFrame + utf8.RuneCountInString(events[i].text)
	}
	return n
}

// shortest returns the answer with the longest form of events that
// there is room for.
func (r *reading) shortest(turns []int, events []event) *conversation.ReadEnvelope {
	f := formsOf(events)
	within := func(limit int) int {
		return sort.Search(f.count(), func(k int) bool {
			if _, shown := f.limits(k); shown*leastFrame > limit {
				return false
			}
			return chars(r.answer(turns, events, f.form(k))) <= limit
		})
	}
	k := within(usualRead)
	if len(f.form(k)) < len(events) {
		k = within(conversation.ReadMaxChars)
	}
	return r.answer(turns, events, f.form(k))
}

// forms is events in the forms that they may be shown in: those of each
// rank are shortened, and then left out, before those of the next one.
type forms struct {
	events []event
	ranked [outcome + 1][]int // their indexes
}

func formsOf(events []event) *forms {
	f := &forms{events: events}
	for i := range events {
		r := events[i].rank()
		f.ranked[r] = append(f.ranked[r], i)
	}
	return f
}

// count returns how many forms there are, each no longer than the one
// before.
func (f *forms) count() int {
	return len(f.events) + len(f.ranked)*(len(levels())-1) + 1
}

// limits returns how many characters each event has in the form k, from
// 0, and how many events are shown; others have 0.
func (f *forms) limits(k int) (limits []int, shown int) {
	limits = make([]int, len(f.events))
	for _, indexes := range f.ranked {
		level := min(k, len(levels())-1)
		omitted := min(k-level, len(indexes))
		k -= level + omitted
		shown += len(indexes) - omitted
		head := (len(indexes) - omitted) * headShare / 100
		for place, i := range indexes {
			if place < head || place >= head+omitted {
				limits[i] = levels()[level]
			}
		}
	}
	return limits, shown
}

// form returns the events of the form k.
func (f *forms) form(k int) (shown []event) {
	limits, _ := f.limits(k)
	for i, limit := range limits {
		if limit > 0 {
			shown = append(shown, f.events[i].shortened(limit))
		}
	}
	return shown
}

// latest returns the events of the last n turns.
func (r *reading) latest(n int, events []event) ([]int, []event) {
	turns := r.turns[len(r.turns)-n:]
	if n == 0 {
		return turns, nil
	}
	from := sort.Search(len(events), func(i int) bool { return events[i].turn >= turns[0] })
	return turns, events[from:]
}

// refusal says why several turns cannot be returned at once, with
// numbers that work: each call it names was measured, and fits. The
// outline says where to look.
func (r *reading) refusal() error {
	message := fmt.Sprintf("Conversation %s is %s,", r.ID, text.Count(len(r.turns), "turn", "turns"))
	if len(r.turns) < r.Reading.Turns {
		message = fmt.Sprintf("The last %s of conversation %s are", text.Count(len(r.turns), "turn", "turns"), r.ID)
	}
	most := func(events []event) (n int, size string) {
		n = sort.Search(len(r.turns), func(n int) bool { return !r.fits(r.latest(n+1, events)) })
		return n, short(chars(r.shortest(r.latest(n, events))))
	}
	ways := []string{"event=N", "turn=N", "last=1"} // which is shortened
	n, size := most(r.asked)
	if n > 0 {
		ways[2] = fmt.Sprintf("last=%d (%s)", n, size)
	}
	results := slices.DeleteFunc(slices.Clone(r.events), func(e event) bool { return e.rank() != outcome })
	if more, size := most(results); more > n {
		ways = append(ways, fmt.Sprintf(`last=%d, include=["requests","answers"] (%s)`, more, size))
	}
	sizes := map[int]int{}
	for i := range r.asked {
		e := r.asked[i].shortened(levels()[0])
		sizes[e.turn] += cost([]event{e})
	}
	o := outlineOf(r.events)
	return &contract.Error{
		Message: fmt.Sprintf("%s %s characters: more than the %d of one answer, even shortened. What fits: %s.\n\nIts requests, with about what reading the turn takes:\n%s",
			message, short(r.chars), conversation.ReadMaxChars, strings.Join(ways, "; "), o.lines(sizes)),
		Caller: true, Err: errTooMuch,
	}
}

// answer shows some of the events of turns.
func (r *reading) answer(turns []int, all, shown []event) *conversation.ReadEnvelope {
	e := r.page(turns, shown)
	switch {
	case r.Reading.Turns == 0 && r.Damage == nil:
		e.Notes = append(e.Notes, "This conversation has no turns yet.")
	case r.Reading.Turns > 0 && len(all) == 0:
		e.Notes = append(e.Notes, fmt.Sprintf("Nothing of include=%s was recorded here.", list(r.params.Include)))
	}
	if note := shortNote(all, shown); note != "" {
		e.Truncated = true
		e.Notes = append(e.Notes, note)
	}
	e.Notes = append(e.Notes, r.damageNotes()...)
	return e
}

// shortNote says what is missing of events in an answer, and which
// calls show it; it is empty where nothing is.
func shortNote(all, shown []event) string {
	cut, longest := 0, event{}
	for _, e := range shown {
		if e.isCut {
			cut++
			if e.chars > longest.chars {
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
		if cut > 0 {
			note += fmt.Sprintf("; %d are shortened", cut)
		}
		return note + ". event=N shows any of them in full."
	}
	number, size := longest.shown.Event, short(longest.chars)
	switch {
	case cut == 1:
		return fmt.Sprintf("1 text is shortened: event=%d shows it in full (%s).", number, size)
	case cut > 1:
		return fmt.Sprintf("%d texts are shortened: event=N shows one in full, the longest is event=%d (%s).", cut, number, size)
	}
	return ""
}

// page shows events in their turns, with the notes of the call.
func (r *reading) page(turns []int, events []event) *conversation.ReadEnvelope {
	e := &conversation.ReadEnvelope{
		ID: string(r.ID), Title: clip(r.Title, maxTitle), TotalTurns: r.Reading.Turns,
		Archived: r.Archived, Hidden: r.Hidden, Current: r.current,
	}
	if r.params.Event == nil {
		e.Events = len(events)
		if n := len(turns); n > 1 {
			e.TurnCount, e.FirstTurn, e.LastTurn = n, turns[0], turns[n-1]
		}
	}
	for _, turn := range turns {
		n := 0
		for n < len(events) && events[n].turn == turn {
			n++
		}
		lines := r.lines(events[:n])
		e.Turns = append(e.Turns, conversation.ReadTurn{Index: turn, Events: lines})
		events = events[n:]
		for i := range lines {
			e.Truncated = e.Truncated || lines[i].Truncated && r.isSubject(&lines[i])
		}
	}
	if notes := remarks(r.call); len(notes) > 0 {
		e.Notes = []string{clip(strings.Join(notes, " "), maxRemarks)}
	}
	return e
}

// isSubject reports whether an event is what is asked for: it is not
// beside it.
func (r *reading) isSubject(e *conversation.ReadEvent) bool {
	return r.params.Event == nil || e.Event == *r.params.Event
}

// lines returns the events of a turn as they are shown: what is said of
// one is not said again of those after it.
func (r *reading) lines(events []event) (lines []conversation.ReadEvent) {
	var at time.Time
	request := 0
	for i := range events {
		e := &events[i]
		line := e.render()
		if e.request != request && events[0].request != events[len(events)-1].request {
			line.Request, request = e.request, e.request
		}
		isLater := i == 0 || e.at.Sub(at).Abs() >= time.Minute
		if r.isSubject(&line) && !e.at.IsZero() && (isLater || r.params.Event != nil) {
			line.Timestamp, at = e.at, e.at
		}
		if line.Call == line.Event-1 {
			line.Call = 0
		}
		lines = append(lines, line)
	}
	return lines
}

// turnsOf returns the turns of events, which are in order.
func turnsOf(events []event) (turns []int) {
	for i := range events {
		turns = append(turns, events[i].turn)
	}
	return slices.Compact(turns)
}
