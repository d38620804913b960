package recall

import (
	"fmt"
	"slices"
	"sort"

	"github.com/convtools/convtools/generated/conversation"
)

// leastKept is how many characters of a text are kept before the next kind of
// text has to give: enough to see what it is.
const leastKept = 300

// yielding lists the kinds whose texts are shortened, those that can best be
// spared first.
func yielding() []string {
	return []string{kindToolResult, kindToolCall, kindInquiry, kindReasoning, kindStructured, kindAssistant, kindUser}
}

// shortened is the answer for a single turn over the cap: its longest texts
// lose their middle, kind by kind; where even that is not enough, events from
// the middle of the turn are left out.
func (r *reading) shortened(all []event) *conversation.ReadEnvelope {
	frame := r.frame(all)
	for room := conversation.ReadMaxChars; ; room = room * 49 / 50 {
		events, budget := slices.Clone(all), room-frame
		least := leastKept
		fits := shrinkTo(events, budget, least)
		for !fits && least > 0 {
			least = least / 4 // ends at 0: nothing but marks
			fits = shrinkTo(events, budget, least)
		}
		notes := r.shortenedNotes(events, 0)
		if !fits {
			kept := keepEnds(events, room-notesChars, (frame+len(all)-1)/len(all)+1)
			notes = r.shortenedNotes(kept, len(events)-len(kept))
			events = kept
		}
		e := r.envelope(r.turns, events, notes)
		e.Truncated = true
		// What the arithmetic leaves out, such as a "]]>" that is written longer
		// than it was recorded, shows in the result, and then there is less to
		// spend. An envelope without events fits.
		if chars(e) <= conversation.ReadMaxChars || len(events) == 0 {
			return e
		}
	}
}

// Lengths in characters, rounded up.
const (
	notesChars = 700 // the notes about shortening
	markChars  = 110 // the mark in a text that was shortened, and its attributes
)

// frame is how long the answer is without any text.
func (r *reading) frame(events []event) int {
	bare := slices.Clone(events)
	for i := range bare {
		if bare[i].body.chars > 0 {
			bare[i].body = newText("x")
		}
	}
	return chars(r.envelope(r.turns, bare, nil)) + notesChars
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

func cost(t *text) int {
	if t.kept0 < t.chars {
		return t.kept0 + markChars
	}
	return t.kept0
}

// shrinkKind levels the texts of one kind: it finds the greatest length at which
// cutting all longer ones saves enough, and returns what was saved.
func shrinkKind(events []event, kind string, needed, least int) int {
	saving := func(level int) int {
		saved := 0
		for i := range events {
			if t := &events[i].body; events[i].shown.EventKind == kind && t.kept0 > level+markChars {
				saved += cost(t) - level - markChars
			}
		}
		return saved
	}
	longest := least
	for i := range events {
		if events[i].shown.EventKind == kind {
			longest = max(longest, events[i].body.kept0)
		}
	}
	// Levels least … longest, highest first: the first that saves enough.
	n := longest - least + 1
	step := sort.Search(n, func(i int) bool { return saving(longest-i) >= needed })
	level := longest - min(step, n-1)
	saved := saving(level)
	for i := range events {
		if t := &events[i].body; events[i].shown.EventKind == kind && t.kept0 > level+markChars {
			t.shrink(level)
		}
	}
	return saved
}

// keepEnds keeps events from both ends of a turn while they fit: 40 % of the
// room for the beginning, where the question is, the rest for the end, where the
// answer is. each is what an event takes besides its text.
func keepEnds(events []event, room, each int) []event {
	fill := func(room int, from, to, step int) int {
		n := 0
		for i := from; i != to; i += step {
			if room -= each + cost(&events[i].body); room < 0 {
				break
			}
			n++
		}
		return n
	}
	head := fill(room*4/10, 0, len(events), 1)
	tail := fill(room*6/10, len(events)-1, head-1, -1)
	return slices.Concat(events[:head], events[len(events)-tail:])
}

func (r *reading) shortenedNotes(events []event, leftOut int) []string {
	count := map[string]int{}
	order := []string{}
	for i := range events {
		e := &events[i]
		if e.body.kept0 < e.body.chars || e.cut {
			name := nameOf(e.shown.EventKind)
			if count[name] == 0 {
				order = append(order, name)
			}
			count[name]++
		}
	}
	var parts []string
	for _, name := range order {
		word := name
		if count[name] > 1 {
			word = plural(name)
		}
		parts = append(parts, fmt.Sprintf("%d %s", count[name], word))
	}
	var notes []string
	turn := 0
	if len(r.turns) > 0 {
		turn = r.turns[0]
	}
	if len(parts) > 0 {
		notes = append(notes, upper(join(parts, "and"))+" shortened to keep within "+fmt.Sprint(conversation.ReadMaxChars)+" characters."+r.rereading(turn, order))
	}
	if leftOut > 0 {
		notes = append(notes, fmt.Sprintf("%d events from the middle of the turn are left out. Re-read with turn=%d, include=[\"chat\"] to see more of what was said.", leftOut, turn))
	}
	return notes
}

// rereading names the call that shows more of what was shortened: the same turn
// with fewer kinds, where there are fewer.
func (r *reading) rereading(turn int, shortened []string) string {
	if len(r.params.Include) < 2 {
		return ""
	}
	for _, name := range shortened {
		if include, ok := includeFor(name); ok && slices.Contains(r.params.Include, include) {
			return fmt.Sprintf(" Re-read with turn=%d, include=%s for more of it.", turn, list([]string{include}))
		}
	}
	return ""
}

// nameOf is what a note calls an event.
func nameOf(kind string) string {
	switch kind {
	case kindToolCall:
		return "tool call"
	case kindToolResult:
		return "tool result"
	case kindReasoning:
		return "reasoning text"
	case kindInquiry:
		return "inquiry"
	default:
		return "message"
	}
}

func includeFor(name string) (string, bool) {
	switch name {
	case "tool call":
		return conversation.ReadIncludeToolCalls, true
	case "tool result":
		return conversation.ReadIncludeToolResults, true
	case "reasoning text":
		return conversation.ReadIncludeReasoning, true
	case "inquiry":
		return conversation.ReadIncludeInquiries, true
	default:
		return conversation.ReadIncludeChat, true
	}
}

func plural(name string) string {
	if name == "inquiry" {
		return "inquiries"
	}
	return name + "s"
}
