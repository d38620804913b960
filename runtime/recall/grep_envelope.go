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

// groups returns lines that follow each other and have something in common.
func groups[K comparable](lines []*grepLine, of func(*grepLine) K) (all [][]*grepLine) {
	for i, l := range lines {
		if i == 0 || of(lines[i-1]) != of(l) {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], l)
	}
	return all
}

// conversations are some lines of the page, by conversation and event.
func (g *grepping) conversations(page []*grepLine) (shown []conversation.GrepConversation) {
	lines := slices.Clone(page)
	slices.SortStableFunc(lines, func(a, b *grepLine) int { return a.place - b.place })
	for _, in := range groups(lines, func(l *grepLine) int { return l.place }) {
		c := g.conversation(in[0].hit.Conversation)
		matches := 0
		var day time.Time // of the event before, and its turn
		turn := 0
		for _, of := range groups(in, func(l *grepLine) *conversations.Hit { return l.hit }) {
			for _, l := range of {
				matches += l.times
			}
			h, hits := of[0].hit, g.hits(of)
			if h.Scope == transcript.ScopeTitle {
				for i := range hits {
					hits[i].Scope = h.Scope.String()
				}
				c.Hits = append(c.Hits, hits...)
				continue
			}
			e := conversation.GrepEvent{Event: h.Number, Scope: h.Scope.String(), More: of[0].more, Hits: hits}
			if h.Turn != turn && c.Turns != 1 {
				e.Turn, turn = h.Turn, h.Turn
			}
			if of[0].chars > aboutWhole && (g.context == 0 || of[0].chars > partChars) {
				e.Chars = of[0].chars
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

// mostBeside is how many lines around a match are shown in one hit with it, on each side: tags
// around each run of so few would be a fifth of an answer. Among more the match would be hard to
// see, and they have hits of their own.
const mostBeside = 3

// hits are some matching lines of an event, with the lines around them.
func (g *grepping) hits(lines []*grepLine) (hits []conversation.GrepHit) {
	matches := map[int]*grepLine{} // by place in the event
	var all []nearLine
	for _, l := range lines {
		matches[l.at] = l
		all = append(all, inContext(l.near, l.at-l.near[0].at, g.context)...)
	}
	slices.SortStableFunc(all, func(a, b nearLine) int { return a.at - b.at })
	all = slices.CompactFunc(all, func(a, b nearLine) bool { return a.at == b.at })
	var last *conversation.GrepHit // that the next line may be in
	for i, near := range all {
		l, text, isApart := matches[near.at], near.text, i > 0 && (near.gap || near.at != all[i-1].at+1)
		isContext := last != nil && last.IsMatch != nil
		switch {
		case l != nil && isContext && !isApart && g.context <= mostBeside:
			last.IsMatch, last.Text = nil, last.Text+"\n"+text
		case l == nil && last != nil && (isContext || !isApart && g.context <= mostBeside):
			if isApart {
				text = leftOutLines + "\n" + text
			}
			last.Text += "\n" + text
			continue
		default:
			if l == nil && isApart {
				text = leftOutLines + "\n" + text
			}
			hits = append(hits, conversation.GrepHit{Text: text})
			if last = &hits[len(hits)-1]; l == nil {
				last.IsMatch = new(false)
			}
		}
		if l != nil {
			if last.Also = l.also(); l.times > 1 {
				last.Times = l.times
			}
		}
	}
	return hits
}

// also names the other events that have the line.
func (l *grepLine) also() string {
	var names []string
	more := 0
	for _, other := range l.others {
		name, most := strconv.Itoa(other.hit.Number), maxAlso
		if other.place != l.place {
			name, most = string(other.hit.Conversation.ID)+":"+name, maxAlsoApart
		}
		switch {
		case other.hit == l.hit:
		case other.hit.Number == 0 || len(names) >= most:
			more++
		default:
			names = append(names, name)
		}
	}
	if more > 0 {
		names = append(names, "+"+strconv.Itoa(more))
	}
	return strings.Join(names, ",")
}
