package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// linesOfEach is how many matching lines of an event are shown, unless it is the
// only one that is searched.
const linesOfEach = 3

// With a limit of no more than usualLimit, the hits of an answer have about
// usualChars characters with their markup, and with lines of context contextChars
// more: what is dealt later is seldom needed.
const (
	usualLimit   = 50
	usualChars   = 5000
	contextChars = 3000
)

// contextReach is how many lines are looked at for each line of context: blank ones
// are none.
const contextReach = 3

// maxReach is how many lines of one event can be left out for the next page: those
// before the page are held in memory.
const maxReach = 100_000

// maxApart is how many events are shown that hold the words of a pattern apart from
// one another.
const maxApart = 8

// grepping is one call of conversation_grep in the making.
type grepping struct {
	call   contract.Call
	params conversation.GrepParams
	query  conversations.EventQuery

	first     conversations.EventMatches // of the pattern as it stands
	apart     conversations.EventMatches // of its words, where they were searched for
	words     []string                   // what was searched for then
	fewer     fewerWords
	elsewhere []elsewhere

	ordered *order
	page    []place
	texts   map[*candidate]eventText
	context int // characters of a line of context
}

// Grep answers conversation_grep. A first search finds which events match; of
// these, the ones that are shown are searched again for their lines.
func (t *Tools) Grep(ctx context.Context, call contract.Call, p conversation.GrepParams) (*conversation.GrepEnvelope, error) {
	if p.Event != nil && len(p.IDs) != 1 {
		return nil, &contract.Error{
			Message: fmt.Sprintf(`event=%d is an event of one conversation: ids must name exactly that one, as in ids=["jp-c17648402467"], and names %d.`, *p.Event, len(p.IDs)),
			Caller:  true,
		}
	}
	undone := "nothing could be left out as the current conversation"
	if p.IncludeCurrent {
		undone = ""
	}
	g := &grepping{call: located(call, undone), params: p}
	g.query = conversations.EventQuery{
		Filter:  conversations.Filter{IDs: p.IDs, Hidden: p.IncludeHidden},
		Pattern: p.Pattern, IgnoreCase: p.IgnoreCase,
		Scopes: scopesOf(p.Scopes), Own: isRecallTool, OwnToo: slices.Contains(p.Scopes, conversation.GrepScopesRecall),
		MaxLines: linesOfEach,
	}
	if len(p.Scopes) == 0 {
		g.query.Scopes = transcript.ScopeAll
	}
	if p.Event != nil {
		g.query.Number, g.query.MaxLines = *p.Event, min(p.Offset, maxReach)+p.Limit
	}
	if current := g.call.Context.ConversationID; current != "" && !p.IncludeCurrent {
		g.query.Exclude = []string{current}
	}
	if err := t.ask(ctx, call, g.search); err != nil {
		return nil, err
	}
	lines := len(g.page)
	if p.Limit <= usualLimit {
		most := usualChars
		if p.Context > 0 {
			most += contextChars
		}
		lines = min(lines, max(1, fit(lines, most, g.hitsAlone).Returned))
	}
	e := fit(lines, conversation.GrepMaxChars, g.envelope)
	if e.Returned == 0 && lines > 0 { // what makes context visible may be much longer than it
		g.params.Context = 0
		e = fit(lines, conversation.GrepMaxChars, g.envelope)
	}
	return e, nil
}

// search looks for the pattern, or else for its words, or else for what would
// have found more.
func (g *grepping) search(ctx context.Context, source conversations.Source) (err error) {
	var all candidates
	if g.first, err = all.collect(ctx, source, g.query); err != nil {
		return err
	}
	if words := wordsOf(g.params.Pattern, g.params.IgnoreCase); len(all.list) == 0 && g.first.Searched != 0 && len(words) > 1 {
		query := g.query
		query.Words = words
		if g.params.Event != nil {
			query.MaxLines = 0 // which else are those where the words stand closest together
		}
		switch g.apart, err = all.collect(ctx, source, query); {
		case err == nil:
			g.words, g.query = words, query
		case !errors.Is(err, conversations.ErrUnsupported):
			return err
		}
	}
	if len(all.list) == 0 {
		if err := g.lookForFewer(ctx, source); err != nil {
			return err
		}
		return g.lookElsewhere(ctx, source)
	}
	g.ordered = all.order(g.params.Event == nil, len(g.words) > 0)
	g.page = g.ordered.page(g.params.Offset, g.params.Limit, len(g.words) > 0)
	if len(g.page) == 0 {
		return nil
	}
	return g.fetch(ctx, source)
}

// eventText is what is shown of an event.
type eventText struct {
	conversations.EventMatch
	matching []int // where its matching lines are among its lines
}

// fetch gets the lines of the events on the page.
func (g *grepping) fetch(ctx context.Context, source conversations.Source) error {
	wanted := map[transcript.ID]map[int]*candidate{} // by position in the conversation
	numbers := map[transcript.ID]map[int]bool{}
	query := g.query
	query.IDs, query.Exclude = nil, nil
	for _, p := range g.page {
		id := g.ordered.ids[p.event.conversation]
		if wanted[id] == nil {
			wanted[id], numbers[id] = map[int]*candidate{}, map[int]bool{}
			query.IDs = append(query.IDs, string(id))
		}
		wanted[id][p.event.position] = p.event
		numbers[id][p.event.number] = true
	}
	width := g.lineWidth()
	query.MaxLine, query.MaxWindows = width, max(1, width/windowWidth)
	query.Context = g.params.Context * contextReach
	query.Wanted = func(id transcript.ID, number int) bool { return numbers[id][number] }
	g.texts = map[*candidate]eventText{}
	positions := map[transcript.ID]int{}
	query.Event = func(e *conversations.EventMatch) error {
		id := e.Conversation.ID
		event := wanted[id][positions[id]]
		positions[id]++
		if event == nil || event.number != e.Number {
			return nil
		}
		text := eventText{EventMatch: *e}
		text.Lines = slices.Clone(e.Lines)
		for i := range text.Lines {
			if text.Lines[i].IsMatch {
				text.matching = append(text.matching, i)
			}
		}
		g.texts[event] = text
		return nil
	}
	if _, err := source.SearchEvents(ctx, query); err != nil {
		return err
	}
	g.page = slices.DeleteFunc(g.page, func(p place) bool { return p.line >= len(g.texts[p.event].matching) })
	g.context = g.contextWidth()
	return nil
}

// fewerWords are some words of a pattern, and how many events hold them.
type fewerWords struct {
	words  []string
	events int
}

// lookForFewer looks for events that hold all words but those that no event holds, or
// where there are none of these all but one, and the shorter one is the sooner left out.
func (g *grepping) lookForFewer(ctx context.Context, source conversations.Source) error {
	var held []string
	for i, n := range g.apart.Words {
		if n > 0 {
			held = append(held, g.words[i])
		}
	}
	sets := [][]string{held}
	if len(held) == len(g.words) {
		sets = nil
		shortest := slices.Clone(held)
		slices.SortStableFunc(shortest, func(a, b string) int { return len(a) - len(b) })
		for _, left := range shortest {
			sets = append(sets, slices.DeleteFunc(slices.Clone(held), func(word string) bool { return word == left }))
		}
	}
	for _, set := range sets {
		if len(set) < 2 {
			continue
		}
		query := g.query
		query.Words = set
		query.Wanted = func(transcript.ID, int) bool { return false }
		found, err := source.SearchEvents(ctx, query)
		if err != nil {
			return err
		}
		if found.Total > 0 {
			g.fewer = fewerWords{set, found.Total}
			return nil
		}
	}
	return nil
}

// elsewhere is a change to a call that found nothing, and what it would find.
type elsewhere struct {
	change  string
	matches int
	ids     []string // where the change is to name conversations
}

// lookElsewhere counts what calls a little wider than this one would find.
func (g *grepping) lookElsewhere(ctx context.Context, source conversations.Source) error {
	type change struct {
		what   string
		differ bool
		apply  func(*conversations.EventQuery)
	}
	p := g.params
	for _, c := range []change{
		{"With ignore_case=true", !p.IgnoreCase, func(q *conversations.EventQuery) { q.IgnoreCase = true }},
		{"Without scopes", len(p.Scopes) > 0, func(q *conversations.EventQuery) { q.Scopes, q.OwnToo = transcript.ScopeAll, false }},
		{"Without event", p.Event != nil, func(q *conversations.EventQuery) { q.Number = 0 }},
		{"Without ids", len(p.IDs) > 0 && p.Event == nil, func(q *conversations.EventQuery) { q.IDs = nil }},
		{"", len(p.IDs) == 0, func(q *conversations.EventQuery) { q.Archived = true }},
	} {
		if !c.differ {
			continue
		}
		query := g.query
		query.Wanted = func(transcript.ID, int) bool { return false }
		c.apply(&query)
		found, err := source.SearchEvents(ctx, query)
		if errors.Is(err, conversations.ErrUnsupported) {
			continue
		}
		if err != nil {
			return err
		}
		if found.Total == 0 {
			continue
		}
		e := elsewhere{change: c.what, matches: found.Total}
		if query.Archived {
			e.matches = 0
			for _, c := range found.Conversations[:min(len(found.Conversations), maxListed)] {
				e.ids = append(e.ids, string(c.ID))
				e.matches += c.Matches
			}
		}
		g.elsewhere = append(g.elsewhere, e)
	}
	return nil
}
