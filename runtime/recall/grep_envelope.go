package recall

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	maxUnshown   = 5  // conversations that are named without a line in the answer
	maxGrepTitle = 80 // characters of a title
)

// How many events are named beside a line that they have too: of the same conversation, and of
// others.
const (
	maxAlso      = 10
	maxAlsoApart = 3
)

// answer is the answer with as many lines of the page as there is room for, one at least, and
// with conversations without one as far as that leaves room.
func (g *grepping) answer() *conversation.GrepEnvelope {
	limit := conversation.GrepMaxChars
	if g.params.Limit <= usualLimit {
		limit = g.usualSize()
	}
	e := fit(len(g.page), limit, g.envelope)
	if g.shows == 0 && len(g.page) > 0 {
		e = fit(1, conversation.GrepMaxChars, g.envelope)
	}
	if g.shows == 0 && len(g.page) > 0 { // what makes context visible may be much longer than it
		g.context = 0
		e = fit(1, conversation.GrepMaxChars, g.envelope)
	}
	for g.named < maxUnshown {
		g.named++
		more := g.envelope(g.shows)
		if chars(more) > limit {
			break
		}
		e = more
	}
	return e
}

// envelope is the answer with the first n lines of the page.
func (g *grepping) envelope(n int) *conversation.GrepEnvelope {
	g.shows = n
	e := conversation.GrepEnvelope{
		Matches: g.found.Total, Truncated: g.offset+n < len(g.order), Conversations: g.conversations(g.page[:n]), Notes: g.notes(n),
	}
	if n != e.Matches {
		e.Returned = &n
	}
	if e.Matches == 0 {
		e.Searched = &g.found.Searched
		return &e
	}
	shown := map[*conversations.Matched]bool{}
	for _, l := range g.order[:min(g.offset+n, len(g.order))] {
		shown[l.hit.Conversation] = true
	}
	named := 0
	for _, m := range g.found.Conversations {
		switch {
		case shown[m]:
		case named == g.named:
			e.ConversationCount = len(g.found.Conversations)
		default:
			c := g.conversation(m)
			c.Turns = 0
			e.Conversations = append(e.Conversations, c)
			named++
		}
	}
	return &e
}

func (g *grepping) conversation(m *conversations.Matched) conversation.GrepConversation {
	c := conversation.GrepConversation{ID: string(m.ID), Title: clip(text.Line(m.Title), maxGrepTitle), Matches: m.Matches, Archived: m.Archived, Source: m.Source}
	if m.Size != nil {
		c.Turns = m.Size.Turns
	}
	return c
}

// conversations are some lines of the page, by conversation and event.
func (g *grepping) conversations(page []*grepLine) []conversation.GrepConversation {
	lines := slices.Clone(page)
	slices.SortStableFunc(lines, func(a, b *grepLine) int { return a.place - b.place })
	var shown []conversation.GrepConversation
	for len(lines) > 0 {
		in := lines[0].hit.Conversation
		c := g.conversation(in)
		matches := 0
		var day time.Time // of the event before, and its turn
		turn := 0
		for len(lines) > 0 && lines[0].hit.Conversation == in {
			h := lines[0].hit
			n := slices.IndexFunc(lines, func(l *grepLine) bool { return l.hit != h })
			if n < 0 {
				n = len(lines)
			}
			for _, l := range lines[:n] {
				matches += l.times
			}
			hits, more := g.hits(lines[:n]), lines[0].more
			lines = lines[n:]
			if h.Scope == transcript.ScopeTitle {
				for i := range hits {
					hits[i].Scope = h.Scope.String()
				}
				c.Hits = append(c.Hits, hits...)
				continue
			}
			e := conversation.GrepEvent{Event: h.Number, Scope: h.Scope.String(), More: more, Hits: hits}
			if h.Turn != turn && c.Turns != 1 {
				e.Turn, turn = h.Turn, h.Turn
			}
			if chars := g.texts[h].chars; chars > maxText {
				e.Chars = chars
			}
			if today := h.Time.Truncate(24 * time.Hour); !today.Equal(day) {
				e.Timestamp, day = h.Time.Truncate(time.Second), today
			}
			c.Events = append(c.Events, e)
		}
		if c.Turns == 1 {
			c.Turns = 0
		}
		if c.Matches == matches {
			c.Matches = 0
		}
		shown = append(shown, c)
	}
	return shown
}

// leftOutLines is in place of lines that are not shown.
const leftOutLines = "…"

// hits are some matching lines of an event, with runs of the lines around them.
func (g *grepping) hits(lines []*grepLine) []conversation.GrepHit {
	t := g.texts[lines[0].hit]
	matches := map[int]*grepLine{} // by place in the text
	shown := map[int]bool{}
	for _, l := range lines {
		i := t.matching[l.at]
		matches[i] = l
		from, to := contextOf(t.lines, i, g.context)
		for ; from < to; from++ {
			shown[from] = true
		}
	}
	var hits []conversation.GrepHit
	var run []string
	flush := func() {
		if len(run) > 0 {
			hits = append(hits, conversation.GrepHit{IsMatch: new(false), Text: strings.Join(run, "\n")})
			run = nil
		}
	}
	gap := false
	for i := range t.lines {
		gap = gap || t.lines[i].gap
		switch l := matches[i]; {
		case l != nil:
			flush()
			hit := conversation.GrepHit{Text: t.texts[i], Also: l.also}
			if l.times > 1 {
				hit.Times = l.times
			}
			hits = append(hits, hit)
		case shown[i]:
			if gap && len(hits)+len(run) > 0 {
				run = append(run, leftOutLines)
			}
			run = append(run, t.texts[i])
		default:
			gap = true
			continue
		}
		gap = false
	}
	flush()
	return hits
}

// nameOthers names the other events that have the lines of the page.
func (g *grepping) nameOthers() {
	shown := make(map[uint64]*grepLine, len(g.page))
	for _, l := range g.page {
		shown[l.sum] = l
	}
	names, others := map[*grepLine][]string{}, map[*grepLine]int{}
	for i := range g.lines {
		l := &g.lines[i]
		first := shown[l.sum]
		if first == nil || first.hit == l.hit || l.again {
			continue
		}
		name, most := strconv.Itoa(l.hit.Number), maxAlso
		if l.place != first.place {
			name, most = string(l.hit.Conversation.ID)+":"+name, maxAlsoApart
		}
		if l.hit.Number == 0 || len(names[first]) >= most {
			others[first]++
			continue
		}
		names[first] = append(names[first], name)
	}
	for _, l := range g.page {
		list := names[l]
		if n := others[l]; n > 0 {
			list = append(list, "+"+strconv.Itoa(n))
		}
		l.also = strings.Join(list, ",")
	}
}
