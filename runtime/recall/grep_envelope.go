package recall

import (
	"slices"
	"strings"
	"time"
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
	narrowest     = 120
	matchingChars = 4000 // of all matching lines together
	contextChars  = 4000 // of all lines of context
	windowWidth   = 130  // of one of several windows in a line
)

// width returns the greatest width within bounds at which lines of some lengths
// together keep to a size.
func width(lengths []int, size int) int {
	width := widest
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

// lineWidth is how many characters of a matching line are shown.
func (g *grepping) lineWidth() int {
	lengths := make([]int, len(g.page))
	for i, p := range g.page {
		lengths[i] = p.event.lines[p.line].chars
	}
	return width(lengths, matchingChars)
}

// contextWidth is how many characters of a line of context are shown.
func (g *grepping) contextWidth() int {
	var lengths []int
	for _, t := range g.texts {
		for i := range t.Lines {
			if !t.Lines[i].IsMatch {
				lengths = append(lengths, utf8.RuneCountInString(t.Lines[i].Text))
			}
		}
	}
	return width(lengths, contextChars)
}

// maxUnshown is how many conversations are listed that have no line in the answer.
const maxUnshown = 20

// envelope is the answer with the first n lines of the page.
func (g *grepping) envelope(n int) *conversation.GrepEnvelope {
	e := conversation.GrepEnvelope{
		Matches: g.first.Total, Returned: n, ConversationCount: len(g.matched()), Truncated: g.truncated(n),
	}
	if g.first.Searched >= 0 {
		e.Searched = &g.first.Searched
	}
	if len(g.apart.Conversations) > 0 {
		e.Words = "apart"
	}
	e.Conversations = g.conversations(g.page[:n])
	unshown := g.unshown(n)
	for _, m := range unshown[:min(len(unshown), maxUnshown)] {
		e.Conversations = append(e.Conversations, g.conversation(m))
	}
	e.Notes = g.notes(&e, max(0, len(unshown)-maxUnshown))
	return &e
}

// matched are the conversations that the answer is about.
func (g *grepping) matched() []conversations.MatchedConversation {
	if len(g.words) > 0 {
		return g.apart.Conversations
	}
	return g.first.Conversations
}

// truncated reports whether there are lines behind the first n of the page, or others of
// an event on it.
func (g *grepping) truncated(n int) bool {
	return g.ordered != nil && (g.params.Offset+n < g.ordered.total || g.withMore(n) != nil)
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
	if len(g.words) == 0 {
		slices.SortFunc(order, func(a, b *candidate) int { return a.conversation - b.conversation })
	}
	var also map[place]string
	if g.ordered != nil && g.ordered.joined {
		also = g.ordered.also(page)
	}
	var shown []conversation.GrepConversation
	for _, first := range order {
		c := g.conversation(g.describe(g.ordered.ids[first.conversation]))
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
				Event: e.number, Turn: t.Turn, Scope: t.Scope.String(), Chars: t.Chars, More: e.more, Hits: hits,
			}
			if !t.Time.IsZero() {
				event.Timestamp = t.Time.Truncate(time.Second)
			}
			c.Events = append(c.Events, event)
		}
		shown = append(shown, c)
	}
	return shown
}

func (g *grepping) describe(id transcript.ID) conversations.MatchedConversation {
	all := g.matched()
	if i := slices.IndexFunc(all, func(m conversations.MatchedConversation) bool { return m.ID == id }); i >= 0 {
		return all[i]
	}
	return conversations.MatchedConversation{Conversation: transcript.Conversation{ID: id}}
}

func (g *grepping) conversation(m conversations.MatchedConversation) conversation.GrepConversation {
	c := conversation.GrepConversation{ID: string(m.ID), Title: clip(m.Title, maxTitle), Turns: m.Turns, Matches: m.Matches}
	if len(g.words) > 0 {
		c.Matches = 0 // which counts lines
	}
	return c
}

// unshown are the conversations of which no page up to the n-th line of this one
// shows a line.
func (g *grepping) unshown(n int) []conversations.MatchedConversation {
	if g.ordered == nil || len(g.words) > 0 {
		return nil
	}
	shown := map[transcript.ID]bool{}
	for _, p := range g.ordered.places[:min(g.params.Offset+n, len(g.ordered.places))] {
		shown[g.ordered.ids[p.event.conversation]] = true
	}
	return slices.DeleteFunc(slices.Clone(g.matched()), func(m conversations.MatchedConversation) bool { return shown[m.ID] })
}

// hits are some matching lines of an event, with the context around them. Lines of
// context that follow one another are one run.
func (g *grepping) hits(e *candidate, lines []int, also map[place]string) []conversation.GrepHit {
	t := g.texts[e]
	matching := make(map[int]int, len(lines)) // which matching line a line is, from 1
	for _, line := range lines {
		matching[t.matching[line]] = line + 1
	}
	var hits []conversation.GrepHit
	var run []string
	flush := func() {
		for len(run) > 0 && strings.TrimSpace(run[0]) == "" {
			run = run[1:]
		}
		for len(run) > 0 && strings.TrimSpace(run[len(run)-1]) == "" {
			run = run[:len(run)-1]
		}
		if len(run) > 0 {
			hits = append(hits, conversation.GrepHit{IsMatch: new(false), Text: strings.Join(run, "\n")})
		}
		run = nil
	}
	for i := range t.Lines {
		line := text.Line(t.Lines[i].Text)
		if n := matching[i]; n > 0 {
			flush()
			hits = append(hits, conversation.GrepHit{Text: line, Also: also[place{e, n - 1}]})
			continue
		}
		if t.Lines[i].IsMatch || !g.near(t.Lines, i, matching) {
			flush()
			continue
		}
		if i > 0 && t.Lines[i-1].Number+1 != t.Lines[i].Number && t.Lines[i].Number > 0 {
			flush()
		}
		run = append(run, text.Cut(line, g.context))
	}
	flush()
	return hits
}

// near reports whether line i is context of one of the matching lines that are shown.
func (g *grepping) near(lines []conversations.EventLine, i int, matching map[int]int) bool {
	for at := range matching {
		distance := max(at-i, i-at)
		if numbered := lines[at].Number > 0 && lines[i].Number > 0; numbered {
			distance = max(lines[at].Number-lines[i].Number, lines[i].Number-lines[at].Number)
		}
		if distance <= g.params.Context {
			return true
		}
	}
	return false
}
