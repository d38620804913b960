package recall

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
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
	eventChars = 1500 // of each of several events
	briefChars = 300  // of an event where there is no room for more
	leastFrame = 40   // that an event takes besides its text, at least
	maxRemarks = 600  // of the notes of a call
)

// fitted returns the answer with texts shortened as far as they must be.
// Several turns that are too much are refused.
func (r *reading) fitted() (*conversation.ReadEnvelope, error) {
	most := eventChars
	if len(r.turns) == 1 && len(r.asked) == 1 {
		most = partChars
	}
	shown := shortened(r.asked, most)
	if !r.fits(r.turns, r.asked, shown) {
		if len(r.turns) > 1 && !r.anyway {
			return nil, r.refusal()
		}
		shown = r.shrunk()
	}
	return r.answer(r.turns, r.asked, shown), nil
}

// fits reports whether an answer has room for the events that are shown of
// some turns.
func (r *reading) fits(turns []int, all, shown []event) bool {
	return cost(shown) <= conversation.ReadMaxChars && // which saves writing it
		chars(r.answer(turns, all, shown)) <= conversation.ReadMaxChars
}

// cost returns about how many characters events take, and at least.
func cost(events []event) (n int) {
	for i := range events {
		n += leastFrame + utf8.RuneCountInString(events[i].text)
	}
	return n
}

// shrunk returns as much of the events as there is room for. Those of the
// first rank are shortened most, and then left out, the earliest first.
func (r *reading) shrunk() (shown []event) {
	for least := work; least <= outcome; least++ {
		form := func(omitted int) (shown []event) {
			for _, e := range r.asked {
				switch rank := e.rank(); {
				case rank > least:
					shown = append(shown, e.shortened(eventChars))
				case rank == least && omitted > 0:
					omitted--
				case rank == least:
					shown = append(shown, e.shortened(briefChars))
				}
			}
			return shown
		}
		omitted := sort.Search(len(r.asked), func(n int) bool { return r.fits(r.turns, r.asked, form(n)) })
		if shown = form(omitted); omitted < len(r.asked) {
			break
		}
	}
	return shown
}

// latest returns the last n turns, and the events of these.
func (r *reading) latest(n int, events []event) ([]int, []event) {
	turns := r.turns[len(r.turns)-n:]
	from := sort.Search(len(events), func(i int) bool { return n > 0 && events[i].turn >= turns[0] })
	return turns, events[from:]
}

// refusal says why several turns cannot be returned at once, with calls that
// work: each was measured, and fits. The outline says where to look.
func (r *reading) refusal() error {
	message := fmt.Sprintf("Conversation %s is %s,", r.ID, text.Count(len(r.turns), "turn", "turns"))
	if len(r.turns) < r.Reading.Turns {
		message = fmt.Sprintf("The last %s of conversation %s are", text.Count(len(r.turns), "turn", "turns"), r.ID)
	}
	most := func(events []event) (n int, size string) {
		events = shortened(events, eventChars)
		n = sort.Search(len(r.turns), func(n int) bool {
			turns, some := r.latest(n+1, events)
			return !r.fits(turns, some, some)
		})
		turns, some := r.latest(n, events)
		return n, short(chars(r.answer(turns, some, some)))
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
	for _, e := range shortened(r.asked, eventChars) {
		sizes[e.turn] += cost([]event{e})
	}
	return contract.Fixable(fmt.Sprintf("%s %s characters: more than the %d of one answer, even shortened. What fits: %s.\n\nIts requests, with about what reading the turn takes:\n%s",
		message, short(r.chars), conversation.ReadMaxChars, strings.Join(ways, "; "), outlineOf(r.events).lines(sizes)))
}

// answer shows some of the events of turns.
func (r *reading) answer(turns []int, all, shown []event) *conversation.ReadEnvelope {
	e := r.page(turns, shown)
	switch {
	case r.Reading.Turns == 0 && r.Damage == nil:
		e.Notes = append(e.Notes, "This conversation has no turns yet.")
	case r.Reading.Turns > 0 && len(all) == 0:
		e.Notes = append(e.Notes, fmt.Sprintf("Nothing of include=%s was recorded here.", coerce.JSON(r.params.Include)))
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
