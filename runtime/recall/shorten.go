package recall

import (
	"fmt"
	"slices"
	"sort"

	"github.com/convtools/convtools/generated/conversation"
)

// leastKept and fewKept are how many characters of a text are kept before the
// next kind of text has to give: enough to see what it is, and the fewest that
// say anything. Where even they are too many, events are left out.
const (
	leastKept = 300
	fewKept   = 80
)

// worthwhile is how many characters more another call has to show to be
// recommended.
const worthwhile = 1000

// Lengths in characters, rounded up.
const (
	notesChars = 900 // the notes about shortening
	markChars  = 110 // the mark in a text that was shortened, and its attributes
)

// yielding lists the kinds whose texts are shortened, those that can best be
// spared first.
func yielding() []string {
	return []string{kindToolResult, kindToolCall, kindInquiry, kindReasoning, kindStructured, kindAssistant, kindUser}
}

// shortened is the answer for a single turn over the cap: its longest texts
// lose their middle, kind by kind; where even that is not enough, events from
// the middle of the turn are left out.
func (r *reading) shortened() *conversation.ReadEnvelope {
	all := r.single[""]
	kept, head := r.fitted(all)
	e := r.envelope(r.only(kept), r.shortenedNotes(all, kept, head))
	e.Truncated = true
	return e
}

// only is the turn that was asked for, with some of its events.
func (r *reading) only(events []event) []turn {
	if r.turns == 0 {
		return nil
	}
	return []turn{{number: r.recent.first, events: events}}
}

// fitted returns the events in a form that leaves room for notes within the
// cap. Fewer than all are the first head ones and the last of them.
func (r *reading) fitted(of *sample) (kept []event, head int) {
	const limit = conversation.ReadMaxChars - notesChars
	all := of.all()
	frame := r.frame(all)
	for room := limit; ; room = room * 49 / 50 {
		kept, head = shrunk(all, room-frame), len(all)
		if kept == nil {
			kept, head = keepEnds(all, room)
		}
		// What the arithmetic leaves out, such as a "]]>" that is written longer
		// than it was recorded, shows in the result, and then there is less to
		// spend. An envelope without events fits.
		if len(kept) == 0 || chars(r.envelope(r.only(kept), nil)) <= limit {
			return kept, head
		}
	}
}

// frame is how long the answer is without any text.
func (r *reading) frame(events []event) int {
	bare := slices.Clone(events)
	for i := range bare {
		if bare[i].body.length > 0 {
			bare[i].body = whole("x")
		}
	}
	return chars(r.envelope(r.only(bare), nil))
}

// shrunk returns the events with texts that together take budget characters at
// most, or nil where that leaves too little of each.
func shrunk(all []event, budget int) []event {
	for _, least := range []int{leastKept, fewKept} {
		events := slices.Clone(all)
		if shrinkTo(events, budget, least) {
			return events
		}
	}
	return nil
}

// shrinkTo shortens texts, in the order of [yielding], until they fit into
// budget characters or none of more than least is left.
func shrinkTo(events []event, budget, least int) bool {
	size := 0
	for i := range events {
		size += cost(&events[i].body)
	}
	for _, kind := range yielding() {
		if size <= budget {
			break
		}
		size -= shrinkKind(events, kind, size-budget, least)
	}
	return size <= budget
}

func cost(t *body) int {
	if t.missing() > 0 {
		return t.length + markChars
	}
	return t.length
}

// shrinkKind levels the texts of one kind: it finds the greatest length at which
// cutting all longer ones saves enough, and returns what was saved.
func shrinkKind(events []event, kind string, needed, least int) int {
	gives := func(i, level int) bool {
		return events[i].shown.EventKind == kind && events[i].body.length > level+markChars
	}
	saving := func(level int) int {
		saved := 0
		for i := range events {
			if gives(i, level) {
				saved += cost(&events[i].body) - level - markChars
			}
		}
		return saved
	}
	longest := least
	for i := range events {
		if events[i].shown.EventKind == kind {
			longest = max(longest, events[i].body.length)
		}
	}
	// Levels longest … least, highest first: the first that saves enough.
	n := longest - least + 1
	step := sort.Search(n, func(i int) bool { return saving(longest-i) >= needed })
	level := longest - min(step, n-1)
	saved := saving(level)
	for i := range events {
		if gives(i, level) {
			events[i].body.shrink(level)
		}
	}
	return saved
}

// headShare is the part of the room, in percent, that keepEnds gives to the
// beginning of a turn.
const headShare = 40

// keepEnds keeps events from both ends of a turn while they fit: a part of the
// room for the beginning, where the question is, the rest for the end, where the
// answer is. head is how many are from the beginning.
func keepEnds(all []event, room int) (kept []event, head int) {
	events := slices.Clone(all)
	shrinkTo(events, 0, leastKept)
	fill := func(room int, from, to, step int) int {
		n := 0
		for i := from; i != to; i += step {
			if room -= rendered(&events[i]); room < 0 {
				break
			}
			n++
		}
		return n
	}
	head = fill(room*headShare/100, 0, len(events), 1)
	tail := fill(room*(100-headShare)/100, len(events)-1, head-1, -1)
	return slices.Concat(events[:head], events[len(events)-tail:]), head
}

// rendered is how long an event is inside an envelope.
func rendered(e *event) int {
	const indentation = 4 // more than on its own, for each line of markup
	shown := e.render()
	children := 0
	for _, body := range []string{shown.Name, shown.Content, shown.Arguments} {
		if body != "" {
			children++
		}
	}
	lines := 1
	if children > 0 {
		lines = children + 2
	}
	return chars(&shown) + lines*indentation + len("\n")
}

// shortenedNotes says what is missing in kept, of all events of the turn, and
// how to see it.
func (r *reading) shortenedNotes(all *sample, kept []event, head int) []string {
	shown := r.only(kept)
	notes := cutNotes(r, shown)
	number := 0
	if len(shown) > 0 {
		number = shown[0].number
	}
	if left := all.n - len(kept); left > 0 {
		covered := all.searchable
		for i := range kept {
			if searchable(kept[i].shown.EventKind) {
				covered--
			}
		}
		notes = append(notes, fmt.Sprintf("Of the %d events of turn %d the first %d and the last %d are here; %d between them are left out.", all.n, number, head, len(kept)-head, left)+r.findable(left, covered))
	}
	if include := r.roomier(all, kept); include != "" {
		notes = append(notes, fmt.Sprintf("Re-read with turn=%d, include=%s for more of it.", number, list([]string{include})))
	}
	return notes
}

// cutNotes says which texts are shortened.
func cutNotes(r *reading, turns []turn) []string {
	shortened := map[string]int{}
	findable := false
	for i := range turns {
		for j := range turns[i].events {
			if e := &turns[i].events[j]; e.body.isShortened() {
				shortened[e.shown.EventKind]++
				findable = findable || searchable(e.shown.EventKind)
			}
		}
	}
	var parts []string
	for _, kind := range yielding() {
		if n := shortened[kind]; n > 0 {
			parts = append(parts, namesOf(kind, n))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	note := join(parts, "and") + " shortened to keep within " + fmt.Sprint(conversation.ReadMaxChars) + " characters."
	if findable {
		note += " " + r.search() + " finds single lines in what was cut."
	}
	return []string{note}
}

// search is the call that searches this conversation, but for its pattern.
func (r *reading) search() string {
	call := fmt.Sprintf(`conversation_grep with ids=["%s"]`, r.ID)
	if r.current {
		call += ", include_current=true"
	}
	return call
}

// searchable reports whether a search covers all texts of a kind. Answers to
// inquiries and data are not searched, or not always.
func searchable(kind string) bool { return kind != kindInquiry && kind != kindStructured }

// findable is the sentence that says how to get at events that are left out, of
// which a search covers some.
func (r *reading) findable(left, covered int) string {
	switch covered {
	case 0:
		return ""
	case left:
		return " " + r.search() + " and a pattern finds any of them by its text."
	default:
		return " " + r.search() + " and a pattern finds any of them by its text, save inquiries and structured answers."
	}
}

// roomier is the one value of include that, alone, shows more of the events that
// are shortened or left out; empty where none does.
func (r *reading) roomier(all *sample, kept []event) string {
	if len(r.params.Include) < 2 {
		return ""
	}
	for _, kind := range yielding() {
		include := includeOf(kind)
		of := r.single[include]
		if of == nil || of.n == all.n {
			continue // nothing, or the same call again
		}
		alone, _ := r.fitted(of)
		if shownOf(alone, include) >= shownOf(kept, include)+worthwhile {
			return include
		}
	}
	return ""
}

// shownOf is how many characters of the events that include asks for are shown.
func shownOf(events []event, include string) int {
	n := 0
	for i := range events {
		if includeOf(events[i].shown.EventKind) == include {
			n += events[i].body.length
		}
	}
	return n
}

// namesOf is what a note calls n events of a kind.
func namesOf(kind string, n int) string {
	switch kind {
	case kindToolCall:
		return count(n, "tool call", "tool calls")
	case kindToolResult:
		return count(n, "tool result", "tool results")
	case kindReasoning:
		return count(n, "reasoning text", "reasoning texts")
	case kindInquiry:
		return count(n, "inquiry", "inquiries")
	case kindStructured:
		return count(n, "structured answer", "structured answers")
	case kindAssistant:
		return count(n, "answer", "answers")
	default:
		return count(n, "request", "requests")
	}
}
