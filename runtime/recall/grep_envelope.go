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

// answer returns the answer with as many matches of the page as fit, and at least one: without context if one match
// with its context is too long. In the room that is left it names conversations without a shown match.
func (g *grepping) answer() *conversation.GrepEnvelope {
	limit := usualChars
	switch {
	case g.params.Limit > usualLimit:
		limit = conversation.GrepMaxChars
	case g.context > 0 && len(g.params.IDs) != 1: // the tags of several conversations, and of context, take room
		limit = contextChars
	}
	least := min(len(g.page), 1)
	shown := 0 // the number of matches in the envelope that build made last
	build := func(more int) *conversation.GrepEnvelope {
		shown = least + more
		return g.envelope(shown, 0)
	}
	e := fit(len(g.page)-least, limit, build) // e has the greatest number of matches that fits, and at least one
	if chars(e) > conversation.GrepMaxChars { // e has one match with its context
		g.context = 0
		e = build(0)
	}
	return fit(maxUnshown, max(limit, chars(e)), func(named int) *conversation.GrepEnvelope { return g.envelope(shown, named) })
}

// envelope returns the answer with the first n matches of the page, followed by the names of conversations without
// lines: the first maxNamed of those that have no match in this answer or on an earlier page.
func (g *grepping) envelope(n, maxNamed int) *conversation.GrepEnvelope {
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
	if len(unshown) > maxNamed {
		unshown, e.ConversationCount = unshown[:maxNamed], len(g.found.Conversations)
	}
	for _, c := range unshown {
		row := g.conversation(c)
		row.Turns = 0 // only for those with lines
		e.Conversations = append(e.Conversations, row)
	}
	return e
}

// conversation returns a conversation with the number of its matches, and without lines.
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

// conversations returns matches of the page by conversation and event. It leaves out what tells nothing new: the turn
// or the time of an event if the event before is in the same turn or day; the number of turns of a conversation if that
// is 1, and of its matches if all are shown; and the length of an event, except of one that conversation_read cuts.
func (g *grepping) conversations(page []*match) (shown []conversation.GrepConversation) {
	lines := slices.Clone(page)
	slices.SortStableFunc(lines, func(a, b *match) int { return a.place - b.place })
	unshown := map[string]int{} // matching lines, by conversation
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
		if h.Number == 0 { // a title: its hits are those of the conversation
			for i := range e.Hits {
				e.Hits[i].Scope = e.Scope
			}
			c.Hits = append(c.Hits, e.Hits...)
			continue
		}
		if h.Turn != turn && c.Turns != 1 {
			e.Turn, turn = h.Turn, h.Turn
		}
		if chars := near.chars; chars > partChars || chars > aboutWhole && g.context == 0 { // conversation_read cuts it
			e.Chars = chars
		}
		if date := h.Time.Truncate(24 * time.Hour); !date.Equal(day) {
			e.Timestamp, day = h.Time.Truncate(time.Second), date
		}
		c.Events = append(c.Events, e)
	}
	for i := range shown {
		if unshown[shown[i].ID] <= 0 {
			shown[i].Matches = 0 // all are shown, and can be counted
		}
		if shown[i].Turns == 1 {
			shown[i].Turns = 0 // only now, because the loop above reads it
		}
	}
	return shown
}

// hits returns the lines of some matches of one event, with the lines of their context. If g.context is at most
// mostBeside, the hit of a match has its context too; otherwise each run of lines of context is a hit of its own. In a
// hit, IsMatch is nil if the hit has a match, and false if it has only context.
func (g *grepping) hits(matches []*match) (hits []conversation.GrepHit) {
	near := matches[0].near
	byLine, isShown := map[int]*match{}, map[int]bool{}
	for _, m := range matches {
		byLine[m.line] = m
		from, to := near.inContext(m.line, g.context)
		for i := from; i < to; i++ {
			isShown[i] = true
		}
	}
	for i, l := range near.lines {
		if !isShown[i] {
			continue
		}
		m, n := byLine[i], len(hits) // m is nil for a line of context, and n-1 is the index of the last hit
		isApart := n > 0 && (l.gap || !isShown[i-1])
		if m == nil && isApart {
			l.text = omission + "\n" + l.text
		}
		afterContext := n > 0 && hits[n-1].IsMatch != nil
		afterMatch := n > 0 && hits[n-1].IsMatch == nil
		isContext := m == nil
		isMixed := isContext && afterMatch || !isContext && afterContext // one hit would have a match and context
		canMix := !isApart && g.context <= mostBeside
		if isContext && afterContext || isMixed && canMix {
			hits[n-1].Text += "\n" + l.text
		} else {
			hits = append(hits, conversation.GrepHit{Text: l.text, IsMatch: new(false)})
		}
		if m == nil {
			continue
		}
		last := &hits[len(hits)-1] // has a match now
		last.IsMatch, last.Also = nil, m.also()
		if m.times > 1 {
			last.Times = m.times
		}
	}
	return hits
}

// also returns up to maxAlso other events with an equal match, as in "7,jp-c17:4,+2": +2 counts titles and further events.
func (m *match) also() string {
	var names []string
	more := 0
	for _, other := range m.others {
		name := strconv.Itoa(other.hit.Number)
		if other.place != m.place {
			name = string(other.hit.Conversation.ID) + ":" + name
		}
		if isTitle := other.hit.Number == 0; isTitle || len(names) == maxAlso {
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

// notes returns at most three notes for an answer with the first n matches of the page: what was found and which call
// shows more; what was left out of the search; what went wrong.
func (g *grepping) notes(n int) (notes []string) {
	found := g.shownNote(n)
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

// shownNote returns sentences on what an answer with the first n matches of the page does not show, and which call shows
// it: other pages, more lines of an event, or the context. It returns none if nothing is missing.
func (g *grepping) shownNote(n int) (sentences []string) {
	next := given(g.params.Offset) + n
	more := slices.IndexFunc(g.page[:n], func(m *match) bool { return m.more > 0 && m.hit.Number > 0 }) // an event, not a title
	switch {
	case n == 0 && len(g.order) > 0:
		sentences = append(sentences, fmt.Sprintf("offset=%d is past the last of the %s that can be shown; offset=%d shows the last.", next, text.Count(len(g.order), "line", "lines"), len(g.order)-1))
	case next < len(g.order):
		sentences = append(sentences, fmt.Sprintf("%d of %d matches. offset=%d shows the next.", n, g.found.Total, next))
	case more >= 0 && g.params.Event != nil:
		sentences = append(sentences, fmt.Sprintf("Only the first %s matching lines of the event are looked at: a longer pattern matches fewer.", text.Number(maxReach)))
	case more >= 0:
		h := g.page[more].hit
		sentences = append(sentences, fmt.Sprintf("more counts others of an event: ids=[%q], event=%d shows all %d.", h.Conversation.ID, h.Number, h.Lines))
	}
	if g.context < given(g.params.Context) {
		sentences = append(sentences, "The lines around it are too long for an answer.")
	}
	return sentences
}

// leftOut returns a sentence on what was left out of the search, and how to search it; nil if nothing was left out.
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

// nothingFound returns sentences on what was searched for and where, how often its words occur, and what may find it.
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
	sentences := []string{fmt.Sprintf("No line %s %s, %s, in %s of the %s searched.",
		either(isRegex, "matches the regular expression", "contains"), text.Quote(clip(p.Pattern, maxQuoted)),
		either(p.IgnoreCase, "in any case", "in exactly this case"),
		where, text.Count(g.found.Searched, "conversation", "conversations"))}
	if len(g.words) > 0 {
		sentences = append(sentences, "Of its words: "+strings.Join(g.words, ", ")+".")
	}
	if !isRegex && strings.ContainsAny(p.Pattern, `|*\^$`) {
		sentences = append(sentences, "It is searched for as it is; regex=true takes it for a regular expression.")
	}
	if p.Event == nil {
		sentences = append(sentences, "conversation_recall finds words apart and in other forms, in archived conversations too.")
	}
	return sentences
}

// nothingSearched returns a sentence that no conversation was searched, with the reason unless another note has it.
func (g *grepping) nothingSearched() string {
	why := ": there is no other live conversation" + either(len(g.params.Sources) > 0, " of these sources", "") + " here, hidden ones aside"
	if len(g.params.IDs) > 0 {
		why = ": ids names no other conversation"
	}
	if len(g.found.Problems) > 0 && len(g.found.Excluded) == 0 { // the note about problems has the reason
		why = ""
	}
	return "Nothing was searched" + why + "."
}
