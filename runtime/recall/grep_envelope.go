package recall

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// How wide lines are shown, in characters. Few lines are shown wide, and many narrow,
// so that all lines of an answer together keep to a size.
const (
	widest        = 400
	widestAround  = 700 // with context
	widestAside   = 200 // of reasoning beside what was said
	narrowest     = 120
	matchingChars = 4000 // of all matching lines together
	aroundChars   = 6000 // of all lines of context
	windowWidth   = 130  // of one of several windows in a line
)

// width returns the greatest width within bounds at which lines of some lengths
// together keep to a size.
func (g *grepping) width(lengths []int, size int) int {
	width := widest
	if g.params.Context > 0 {
		width = widestAround
	}
	for ; width > narrowest; width-- {
		total := 0
		for _, n := range lengths {
			total += min(n, width)
		}
		if total <= size {
			break
		}
	}
	return width
}

// usualLines is about how many lines [usualChars] have room for. What is dealt behind
// them does not make them narrower.
const usualLines = 16

// firstLines is the lines of the page that decide how wide lines are.
func (g *grepping) firstLines() []place {
	if g.params.Limit > usualLimit {
		return g.page
	}
	return g.page[:min(len(g.page), max(usualLines/(1+g.params.Context), usualLines/4))]
}

// lineWidth is how many characters of a matching line are shown.
func (g *grepping) lineWidth() int {
	var lengths []int
	for _, p := range g.firstLines() {
		lengths = append(lengths, p.event.lines[p.line].chars)
	}
	return g.width(lengths, matchingChars)
}

// contextWidth is how many characters of a line of context are shown.
func (g *grepping) contextWidth() int {
	shown := map[*candidate]map[int]bool{} // matching lines, by their place among the lines of the event
	for _, p := range g.firstLines() {
		if shown[p.event] == nil {
			shown[p.event] = map[int]bool{}
		}
		shown[p.event][g.texts[p.event].matching[p.event.lines[p.line].at]] = true
	}
	var lengths []int
	for e, matching := range shown {
		lines := g.texts[e].Lines
		for i, isAround := range contextOf(lines, g.params.Context, func(i int) bool { return matching[i] }) {
			if isAround {
				lengths = append(lengths, utf8.RuneCountInString(text.Line(lines[i].Text)))
			}
		}
	}
	return g.width(lengths, aroundChars)
}

const (
	maxUnshown   = 20 // conversations that are listed without a line in the answer
	maxGrepTitle = 80 // characters of a title
)

// hitsAlone is the first n lines of the page and nothing else.
func (g *grepping) hitsAlone(n int) *conversation.GrepEnvelope {
	return &conversation.GrepEnvelope{Returned: &n, Conversations: g.conversations(g.page[:n])}
}

// envelope is the answer with the first n lines of the page.
func (g *grepping) envelope(n int) *conversation.GrepEnvelope {
	e := conversation.GrepEnvelope{
		Matches: g.found.Total, Returned: &n, Truncated: g.truncated(n),
	}
	if g.searched.live >= 0 && g.ordered == nil {
		e.Searched = new(g.searched.live + g.searched.archived)
	}
	switch {
	case g.isApart():
		e.Matches, e.Words = 0, "apart"
	case g.query.Any:
		e.Words = "any"
	}
	e.Conversations = g.conversations(g.page[:n])
	unshown := g.unshown(n)
	for _, m := range unshown[:min(len(unshown), maxUnshown)] {
		c := g.conversation(m)
		c.Turns = 0
		e.Conversations = append(e.Conversations, c)
	}
	if len(unshown) > maxUnshown {
		e.ConversationCount = len(g.found.Conversations)
	}
	e.Notes = g.notes(n, max(0, len(unshown)-maxUnshown))
	if n == e.Matches && e.Words != "apart" {
		e.Returned = nil
	}
	return &e
}

// truncated reports whether there are lines behind the first n of the page. Of an event
// of which not all are shown, more says so.
func (g *grepping) truncated(n int) bool {
	return g.ordered != nil && g.params.Offset+n < g.ordered.total
}

// withMore returns the first event among n lines of the page of which not all
// matching lines can be shown; nil where there is none.
func (g *grepping) withMore(n int) *candidate {
	for _, p := range g.page[:n] {
		if p.event.more > 0 {
			return p.event
		}
	}
	return nil
}

// conversations are the lines of a page, by conversation and event: conversations
// newest first, and where the words stand apart as they come.
func (g *grepping) conversations(page []place) []conversation.GrepConversation {
	var order []*candidate // one of each conversation, the first
	events := map[int][]*candidate{}
	lines := map[*candidate][]int{}
	for _, p := range page {
		in := p.event.conversation
		if events[in] == nil {
			order = append(order, p.event)
		}
		if lines[p.event] == nil {
			events[in] = append(events[in], p.event)
		}
		lines[p.event] = append(lines[p.event], p.line)
	}
	if !g.isApart() {
		slices.SortFunc(order, func(a, b *candidate) int { return a.conversation - b.conversation })
	}
	var also map[place]string
	if g.ordered != nil && g.ordered.joined {
		also = g.ordered.also(page)
	}
	var shown []conversation.GrepConversation
	for _, first := range order {
		c := g.conversation(g.describe(g.ordered.ids[first.conversation]))
		var day time.Time // of the event before, and its turn
		turn := 0
		for _, e := range events[first.conversation] {
			t := g.texts[e]
			hits := g.hits(e, lines[e], also)
			if t.Scope == transcript.ScopeTitle {
				for i := range hits {
					hits[i].Scope = t.Scope.String()
				}
				c.Hits = append(c.Hits, hits...)
				continue
			}
			event := conversation.GrepEvent{
				Event: e.number, Scope: t.Scope.String(), More: e.more, Hits: hits,
			}
			if t.Turn != turn && c.Turns != 1 {
				event.Turn, turn = t.Turn, t.Turn
			}
			if t.Chars > max(charsOf(hits), shortText) {
				event.Chars = t.Chars
			}
			if today := t.Time.Truncate(24 * time.Hour); !today.Equal(day) {
				event.Timestamp, day = t.Time.Truncate(time.Second), today
			}
			c.Events = append(c.Events, event)
		}
		if c.Turns == 1 {
			c.Turns = 0
		}
		if c.Matches == matchesIn(&c) {
			c.Matches = 0
		}
		shown = append(shown, c)
	}
	return shown
}

// matchesIn is how many matching lines of a conversation are shown.
func matchesIn(c *conversation.GrepConversation) int {
	n := len(c.Hits)
	for i := range c.Events {
		for _, h := range c.Events[i].Hits {
			if h.IsMatch == nil {
				n += max(h.Times, 1)
			}
		}
	}
	return n
}

// shortText is how many characters of an event are read whole, whatever stands beside it.
// That there are more is said.
const shortText = maxText

// charsOf is how many characters of an event some hits show, line breaks between them
// included.
func charsOf(hits []conversation.GrepHit) int {
	chars := len(hits) - 1
	for i := range hits {
		chars += utf8.RuneCountInString(hits[i].Text)
	}
	return chars
}

func (g *grepping) describe(id transcript.ID) conversations.MatchedConversation {
	all := g.found.Conversations
	if i := slices.IndexFunc(all, func(m conversations.MatchedConversation) bool { return m.ID == id }); i >= 0 {
		return all[i]
	}
	return conversations.MatchedConversation{Conversation: transcript.Conversation{ID: id}}
}

func (g *grepping) conversation(m conversations.MatchedConversation) conversation.GrepConversation {
	c := conversation.GrepConversation{ID: string(m.ID), Title: clip(text.Line(m.Title), maxGrepTitle), Turns: m.Turns, Matches: m.Matches, Archived: m.Archived, Source: m.Source}
	if g.isApart() {
		c.Matches = 0 // which counts lines
	}
	return c
}

// unshown are the conversations of which no page up to the n-th line of this one
// shows a line.
func (g *grepping) unshown(n int) []conversations.MatchedConversation {
	if g.ordered == nil {
		return nil
	}
	shown := map[transcript.ID]bool{}
	for _, p := range g.ordered.places[:min(g.params.Offset+n, len(g.ordered.places))] {
		shown[g.ordered.ids[p.event.conversation]] = true
	}
	return slices.DeleteFunc(slices.Clone(g.found.Conversations), func(m conversations.MatchedConversation) bool { return shown[m.ID] })
}

// leftOutLines stands in a run of context for lines that are not shown.
const leftOutLines = "…"

// hits are some matching lines of an event, with the context around them. Lines of
// context between two matching lines are one run.
func (g *grepping) hits(e *candidate, lines []int, also map[place]string) []conversation.GrepHit {
	t := g.texts[e]
	places := make(map[int]place, len(lines))
	for _, line := range lines {
		places[t.matching[e.lines[line].at]] = place{e, line}
	}
	around := contextOf(t.Lines, g.params.Context, func(i int) bool { return places[i].event != nil })
	var hits []conversation.GrepHit
	var run []string
	flush := func() {
		if len(run) > 0 {
			hits = append(hits, conversation.GrepHit{IsMatch: new(false), Text: strings.Join(run, "\n")})
			run = nil
		}
	}
	gap := false // since the last line that is shown
	for i := range t.Lines {
		l := &t.Lines[i]
		p, matches := places[i]
		gap = gap || i > 0 && l.Number > 0 && t.Lines[i-1].Number+1 != l.Number
		switch {
		case matches:
			flush()
			hit := conversation.GrepHit{Text: text.Line(l.Text), Also: also[p]}
			if times := e.lines[p.line].times; times > 1 {
				hit.Times = times
			}
			hits = append(hits, hit)
			gap = false
		case around[i]:
			if gap && len(hits)+len(run) > 0 {
				run = append(run, leftOutLines)
			}
			run = append(run, text.Cut(text.Line(l.Text), g.context))
			gap = false
		default:
			gap = gap || strings.TrimSpace(l.Text) != ""
		}
	}
	flush()
	return hits
}

// side is one of the two sides of a matching line.
type side struct {
	step int // to the next line on it
	// Each line of context counts for so many characters: where lines are shorter, as
	// those of code often are, there are up to times as many. A run of few characters
	// would cost less than the tags around it.
	chars, times int
}

// mostLong is how many lines of context count for as many characters as they may have:
// so many are enough to be worth their tags.
const mostLong = 3

// sides are before and behind. What is looked for stands behind more often.
func sides() [2]side {
	return [2]side{{step: -1, chars: 300, times: 2}, {step: 1, chars: 440, times: contextReach}}
}

// contextOf reports which lines are context of those that are shown: on either side
// the nearest most of them with a letter or a digit, further ones where these are short,
// and what else stands between. Blank lines are none.
func contextOf(lines []conversations.EventLine, most int, isShown func(int) bool) []bool {
	around := make([]bool, len(lines))
	for i := range lines {
		if !isShown(i) {
			continue
		}
		for _, side := range sides() {
			count, chars, reached, enough := 0, 0, i, min(most, mostLong)*side.chars
			for at := i + side.step; 0 <= at && at < len(lines) && (count < most || chars < enough && count < most*side.times); at += side.step {
				if n := lines[at].Number; n > 0 && n != lines[at-side.step].Number+side.step {
					break
				}
				if strings.ContainsFunc(lines[at].Text, isWordRune) {
					count++
					chars += len(strings.TrimSpace(lines[at].Text))
					reached = at
				}
			}
			for at := i; at != reached; {
				at += side.step
				around[at] = !lines[at].IsMatch && strings.TrimSpace(lines[at].Text) != ""
			}
		}
	}
	return around
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
