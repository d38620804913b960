package recall

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/conversations"
)

const (
	maxUnshown   = 5   // conversations that are named without a line
	maxGrepTitle = 80  // characters of a title
	maxQuoted    = 200 // characters of a pattern
	maxAlso      = 3   // other events that have the same line
	// Tags around each run of so few lines around a match would be a fifth of an
	// answer; among more the match would be hard to see.
	mostBeside = 3
)

// omission is shown in place of lines, or of a part of a text.
const omission = "…"

// answer returns the answer with as many lines of the page as there is room
// for, one at least, and the conversations without one if there is room left.
func (g *grepping) answer() *conversation.GrepEnvelope {
	limit := usualChars
	switch {
	case g.params.Limit > usualLimit:
		limit = conversation.GrepMaxChars
	case g.context > 0 && len(g.params.IDs) != 1:
		limit = contextChars
	}
	n := 0
	build := func(more int) *conversation.GrepEnvelope {
		n = min(1+more, len(g.page))
		return g.envelope(n, 0)
	}
	e := fit(len(g.page)-1, limit, build)
	if chars(e) > conversation.GrepMaxChars {
		g.context = 0
		e = build(0)
	}
	return fit(maxUnshown, max(limit, chars(e)), func(named int) *conversation.GrepEnvelope { return g.envelope(n, named) })
}

// envelope returns the answer with the first n lines of the page, and some
// conversations without a line.
func (g *grepping) envelope(n, named int) *conversation.GrepEnvelope {
	offset := given(g.params.Offset)
	e := &conversation.GrepEnvelope{
		Matches: g.found.Total, Truncated: offset+n < len(g.order),
		Conversations: g.conversations(g.page[:n]), Notes: g.notes(n),
	}
	if n != e.Matches {
		e.Returned = &n
	}
	if e.Matches == 0 {
		e.Searched = &g.found.Searched
		return e
	}
	shown := map[*conversations.Matched]bool{}
	for _, m := range g.order[:min(offset+n, len(g.order))] {
		shown[m.hit.Conversation] = true
	}
	unshown := slices.DeleteFunc(slices.Clone(g.found.Conversations), func(c *conversations.Matched) bool { return shown[c] })
	if len(unshown) > named {
		unshown, e.ConversationCount = unshown[:named], len(g.found.Conversations)
	}
	for _, c := range unshown {
		row := g.conversation(c)
		row.Turns = 0
		e.Conversations = append(e.Conversations, row)
	}
	return e
}

func (g *grepping) conversation(m *conversations.Matched) conversation.GrepConversation {
	c := conversation.GrepConversation{
		ID: string(m.ID), Title: clip(text.Line(m.Title), maxGrepTitle),
		Matches: m.Matches, Archived: m.Archived, Source: m.Source,
	}
	if m.Size != nil {
		c.Turns = m.Size.Turns
	}
	return c
}

// conversations returns lines of the page by conversation and event. Turn and
// day are shown where they change.
func (g *grepping) conversations(page []*match) (shown []conversation.GrepConversation) {
	lines := slices.Clone(page)
	slices.SortStableFunc(lines, func(a, b *match) int { return a.place - b.place })
	unshown := map[string]int{} // matches, by conversation
	place, turn, day := -1, 0, time.Time{}
	for len(lines) > 0 {
		h, near, n := lines[0].hit, lines[0].near, 1
		for n < len(lines) && lines[n].hit == h {
			n++
		}
		if lines[0].place != place {
			shown = append(shown, g.conversation(h.Conversation))
			place, turn, day = lines[0].place, 0, time.Time{}
			unshown[string(h.Conversation.ID)] = h.Conversation.Matches
		}
		c := &shown[len(shown)-1]
		for _, m := range lines[:n] {
			unshown[c.ID] -= m.times
		}
		e := conversation.GrepEvent{Event: h.Number, Scope: h.Scope.String(), More: lines[0].more, Hits: g.hits(lines[:n])}
		lines = lines[n:]
		if h.Number == 0 {
			for i := range e.Hits {
				e.Hits[i].Scope = e.Scope
			}
			c.Hits = append(c.Hits, e.Hits...)
			continue
		}
		if h.Turn != turn && c.Turns != 1 {
			e.Turn, turn = h.Turn, h.Turn
		}
		if chars := near.chars; chars > partChars || chars > aboutWhole && g.context == 0 {
			e.Chars = chars
		}
		if today := h.Time.Truncate(24 * time.Hour); !today.Equal(day) {
			e.Timestamp, day = h.Time.Truncate(time.Second), today
		}
		c.Events = append(c.Events, e)
	}
	for i := range shown {
		if unshown[shown[i].ID] <= 0 {
			shown[i].Matches = 0
		}
		if shown[i].Turns == 1 {
			shown[i].Turns = 0
		}
	}
	return shown
}

// hits returns matching lines of an event. Up to mostBeside lines around a
// match are in its hit; more are hits of their own.
func (g *grepping) hits(lines []*match) (hits []conversation.GrepHit) {
	near := lines[0].near
	matches, isShown := map[int]*match{}, map[int]bool{}
	for _, m := range lines {
		matches[m.at] = m
		from, to := near.inContext(m.at, g.context)
		for i := from; i < to; i++ {
			isShown[i] = true
		}
	}
	for i, l := range near.lines {
		if !isShown[i] {
			continue
		}
		m, n := matches[i], len(hits)
		isApart := n > 0 && (l.gap || !isShown[i-1])
		joins := n > 0 && !isApart && g.context <= mostBeside
		isContext := n > 0 && hits[n-1].IsMatch != nil
		if m == nil && isApart {
			l.text = omission + "\n" + l.text
		}
		if m == nil && isContext || joins && (m == nil || isContext) {
			hits[n-1].Text += "\n" + l.text
		} else {
			hits = append(hits, conversation.GrepHit{Text: l.text, IsMatch: new(false)})
		}
		if m == nil {
			continue
		}
		last := &hits[len(hits)-1]
		last.IsMatch, last.Also = nil, m.also()
		if m.times > 1 {
			last.Times = m.times
		}
	}
	return hits
}

// also names the other events that have the line.
func (m *match) also() string {
	var names []string
	more := 0
	for _, other := range m.others {
		name := strconv.Itoa(other.hit.Number)
		if other.place != m.place {
			name = string(other.hit.Conversation.ID) + ":" + name
		}
		if other.hit.Number == 0 || len(names) == maxAlso {
			more++
		} else {
			names = append(names, name)
		}
	}
	if more > 0 {
		names = append(names, "+"+strconv.Itoa(more))
	}
	return strings.Join(names, ",")
}

// notes returns at most three notes: what was found and which call shows more
// of it; what was left out; what is not as it should be.
func (g *grepping) notes(n int) (notes []string) {
	found := g.shown(n)
	if len(g.found.Hits) == 0 {
		found = g.nothingFound()
	}
	for _, sentences := range [][]string{found, g.leftOut(), append(remarks(g.call), missedNotes(g.found.Problems)...)} {
		if len(sentences) > 0 {
			notes = append(notes, strings.Join(sentences, " "))
		}
	}
	return notes
}

// shown says how much of all that matches is shown, and which calls show more.
func (g *grepping) shown(n int) (say []string) {
	next := given(g.params.Offset) + n
	more := slices.IndexFunc(g.page[:n], func(m *match) bool { return m.more > 0 && m.hit.Number > 0 })
	switch {
	case n == 0 && len(g.order) > 0:
		say = append(say, fmt.Sprintf("offset=%d is past the last of the %s that can be shown; offset=%d shows the last.", next, text.Count(len(g.order), "line", "lines"), len(g.order)-1))
	case next < len(g.order):
		say = append(say, fmt.Sprintf("%d of %d matches. offset=%d shows the next.", n, g.found.Total, next))
	case more >= 0 && g.params.Event != nil:
		say = append(say, fmt.Sprintf("Only the first %s matching lines of the event are looked at: a longer pattern matches fewer.", text.Number(maxReach)))
	case more >= 0:
		h := g.page[more].hit
		say = append(say, fmt.Sprintf("more counts others of an event: ids=[%q], event=%d shows all %d.", h.Conversation.ID, h.Number, h.Lines))
	}
	if g.context < given(g.params.Context) {
		say = append(say, "The lines around it are too long for an answer.")
	}
	return say
}

// leftOut says what was left out of the search, and how to search it.
func (g *grepping) leftOut() []string {
	var left []string
	if ids := g.found.Excluded; len(ids) > 0 {
		what := "the current conversation, "
		if len(ids) > 1 || string(ids[0]) != g.call.Context.ConversationID {
			what = "the current conversation and what belongs to it: "
		}
		left = append(left, what+bounded(ids, ", ", maxListed)+" (include_current=true searches it too)")
	}
	if n := g.found.Own; n > 0 {
		left = append(left, text.Count(n, "match", "matches")+` in calls and results of these tools (scopes=["recall"] searches them)`)
	}
	if len(left) > 0 {
		left = []string{"Left out: " + strings.Join(left, "; ") + "."}
	}
	return left
}

// nothingFound says what was searched for and where, and what may find
// something.
func (g *grepping) nothingFound() []string {
	p := g.params
	if g.found.Searched == 0 {
		return []string{g.nothingSearched()}
	}
	isRegex := given(p.Regex)
	where := "any scope"
	switch {
	case p.Event != nil:
		where = fmt.Sprintf("event %d", *p.Event)
	case len(p.Scopes) > 0:
		where = "scopes=" + coerce.JSON(p.Scopes)
	}
	say := []string{fmt.Sprintf("No line %s %s, %s, in %s of the %s searched.",
		either(isRegex, "matches the regular expression", "contains"), text.Quote(clip(p.Pattern, maxQuoted)),
		either(p.IgnoreCase, "in any case", "in exactly this case"),
		where, text.Count(g.found.Searched, "conversation", "conversations"))}
	if len(g.words) > 0 {
		say = append(say, "Of its words: "+strings.Join(g.words, ", ")+".")
	}
	if !isRegex && strings.ContainsAny(p.Pattern, `|*\^$`) {
		say = append(say, "It is searched for as it is; regex=true takes it for a regular expression.")
	}
	if p.Event == nil {
		say = append(say, "conversation_recall finds words apart and in other forms, in archived conversations too.")
	}
	return say
}

func (g *grepping) nothingSearched() string {
	why := ": there is no other live conversation" + either(len(g.params.Sources) > 0, " of these sources", "") + " here, hidden ones aside"
	if len(g.params.IDs) > 0 {
		why = ": ids names no other conversation"
	}
	if len(g.found.Problems) > 0 && len(g.found.Excluded) == 0 {
		why = ""
	}
	return "Nothing was searched" + why + "."
}
