package recall

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// linesOfEach is how many matching lines of an event are shown, unless it is the
// only one that is searched.
const linesOfEach = 3

// How many characters an answer has at most, about, unless limit is more than
// usualLimit: what is dealt later is seldom needed. Who gives a limit of more than
// fewLines asks for more. With context over several conversations fewer would be tags
// for a larger part (19.9 % of a set of searches, where at most 20 % are wanted).
const (
	usualLimit   = 50
	fewLines     = 20
	askedChars   = 5000 // where limit is given, and more than fewLines
	usualChars   = 3000
	contextChars = 6000 // with lines of context
	passageChars = 3000 // with lines of context in one conversation
)

// leastHits is the part of these characters, in percent, that hits may have whatever
// stands behind them: conversations without one, and notes.
const leastHits = 70

// The part of these characters, in percent, that hits have where tool traffic stands
// behind what was said, and where reasoning stands last. Lines with context have all: they
// are few.
const (
	asideShare     = 80
	reasoningShare = 55
)

// contextReach is how many lines are looked at for each line of context: blank ones
// are none, and of short ones there are more.
const contextReach = 4

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

	found    conversations.EventMatches // of the search that found what is shown
	words    []string                   // of the pattern, or its alternatives, where they were searched for
	holding  []int                      // by word: events that hold it
	together []transcript.ID            // conversations that hold all words, if no event does
	searched searched

	// What a call shows beside this one: of archived conversations, or, where this one
	// finds nothing, of what is a little wider.
	archived  *advised
	fewer     *advised
	elsewhere []advised
	literal   []advised // of what a regular expression stands for
	nowhere   []string  // of that, what nothing is found for

	join    joining
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
	g := &grepping{params: p}
	g.query = conversations.EventQuery{
		Filter:  conversations.Filter{IDs: p.IDs, Hidden: p.IncludeHidden, Sources: p.Sources},
		Pattern: p.Pattern, IgnoreCase: p.IgnoreCase,
		Scopes: scopesOf(p.Scopes), Own: isRecallTool(), OwnToo: slices.Contains(p.Scopes, conversation.GrepScopesRecall),
		MaxLines: linesOfEach,
	}
	if len(p.Scopes) == 0 {
		g.query.Scopes = transcript.ScopeAll
	}
	if p.Event != nil {
		g.query.Number, g.query.MaxLines, g.join = *p.Event, maxReach+p.Limit, joinOwn
		if p.Context > 0 {
			g.join = joinNone
		}
	}
	err := t.ask(ctx, call, func(ctx context.Context, source conversations.Source) error {
		var current current
		g.call, current = located(ctx, source, call, undone)
		if !p.IncludeCurrent {
			g.query.Exclude, g.query.KinOf = current.ids, current.kinOf
		}
		return g.searchPresent(ctx, source)
	})
	if err != nil {
		return nil, err
	}
	lines := len(g.page)
	if p.Limit <= usualLimit {
		most := g.most(isGiven(call, "limit"))
		lines = max(min(lines, 1), g.within(lines, most*leastHits/100, g.hitsAlone), g.within(lines, most, g.envelope))
		if p.Context == 0 {
			lines = g.withoutAside(lines, transcript.ScopeReasoning, most*reasoningShare/100)
			lines = g.withoutAside(lines, ^saidScopes, most*asideShare/100)
		}
	}
	e := fit(lines, conversation.GrepMaxChars, g.envelope)
	if e.Returned != nil && *e.Returned == 0 && lines > 0 { // what makes context visible may be much longer than it
		g.params.Context = 0
		e = fit(lines, conversation.GrepMaxChars, g.envelope)
	}
	return e, nil
}

// most is about how many characters the answer may have.
func (g *grepping) most(isLimitGiven bool) int {
	p := g.params
	most := usualChars
	switch {
	case p.Context > 0 && (p.Event != nil || len(p.IDs) == 1):
		most = passageChars
	case p.Context > 0:
		most = contextChars
	}
	if isLimitGiven && p.Limit > fewLines {
		most = max(most, askedChars)
	}
	return most
}

// isGiven reports whether a call gives a parameter that has a default.
func isGiven(call contract.Call, name string) bool {
	var given map[string]json.RawMessage
	return json.Unmarshal(call.Arguments, &given) == nil && given[name] != nil && string(given[name]) != "null"
}

// within is how many of the first n lines keep an answer to some characters.
func (g *grepping) within(n, limit int, build func(int) *conversation.GrepEnvelope) int {
	if shown := fit(n, limit, build).Returned; shown != nil {
		return *shown
	}
	return n // all there are, where it is not said
}

// withoutAside is how many of the first n lines of the page are shown where those of
// some scopes that stand last, behind others, make the hits longer than most characters.
func (g *grepping) withoutAside(n int, scopes transcript.Scopes, most int) int {
	before := n
	for before > 0 && g.page[before-1].event.scope&scopes != 0 {
		before--
	}
	if before == 0 || before == n {
		return n
	}
	return max(before, g.within(n, most, g.hitsAlone))
}

// searched is what the searches of a call looked at.
type searched struct {
	live, archived int // conversations; live is negative where that is not known
	own            int // what matches in calls and results of the conversation tools
	ownEvents      bool
	aside          conversations.Aside
}

// fewEvents is how many events of live conversations that match are enough for archived
// ones not to be looked for. Where fewer than that match in archived ones too, they are
// shown beside them, and else counted.
const fewEvents = 5

// maxSearches bounds how often a call searches anew.
const maxSearches = 3

// searchPresent searches, and again where a conversation that something was found in was
// deleted before it was shown: it must not make the search of the others fail.
func (g *grepping) searchPresent(ctx context.Context, source conversations.Source) error {
	begin := *g
	for n := 1; ; n++ {
		err := g.search(ctx, source)
		var missing *conversations.NotFoundError
		if n == maxSearches || len(g.params.IDs) > 0 || !errors.As(err, &missing) {
			return err
		}
		*g = begin
	}
}

// search looks for the pattern, or else for its words, or else for what would
// have found more.
func (g *grepping) search(ctx context.Context, source conversations.Source) error {
	var all candidates
	for _, query := range attempts(g.query) {
		query.Context = g.params.Context
		found, err := all.collect(ctx, source, query)
		if isUnsupported(query, err) {
			continue
		}
		if err != nil {
			return err
		}
		g.add(query, found)
		if len(all.list) > 0 {
			g.query, g.found = query, found
			break
		}
	}
	if len(all.list) == 0 {
		return g.lookElsewhere(ctx, source)
	}
	if len(all.list) < fewEvents {
		if err := g.lookInArchived(ctx, source, &all); err != nil {
			return err
		}
	}
	if g.join == joinNone {
		all.densestFirst(g.params.Context * contextReach)
	}
	g.ordered = all.order(g.join, g.isApart())
	g.page = g.ordered.page(g.params.Offset, g.params.Limit, g.isApart())
	if len(g.page) == 0 {
		return nil
	}
	return g.fetch(ctx, source)
}

// attempts are the searches for the pattern of a query, of which the first that finds
// something counts: for the pattern as it stands, then without the escapes that
// conversation_read shows arguments with, then for its alternatives, or for its
// words where it has none, and each in live conversations and then in archived ones.
func attempts(q conversations.EventQuery) []conversations.EventQuery {
	list := []conversations.EventQuery{q}
	if plain := asRead(q.Pattern); plain != "" {
		other := q
		other.Pattern = plain
		list = append(list, other)
	}
	if either := eitherOf(q.Pattern); either != nil {
		q.Words, q.Any = either, true
		list = append(list, q)
	} else if words := wordsOf(q.Pattern, q.IgnoreCase); len(words) > 1 {
		q.Words = words
		list = append(list, q)
	}
	if len(q.IDs) > 0 {
		return list
	}
	var both []conversations.EventQuery
	for _, q := range list {
		archived := q
		archived.Archived = true
		both = append(both, q, archived)
	}
	return both
}

// isUnsupported reports whether an attempt is one that its source cannot make. That it
// can look for a pattern is certain.
func isUnsupported(q conversations.EventQuery, err error) bool {
	return (q.Archived || len(q.Words) > 0) && errors.Is(err, conversations.ErrUnsupported)
}

// isApart reports whether what is shown are words that stand apart.
func (g *grepping) isApart() bool { return g.query.Apart() }

// add adds what a search looked at.
func (g *grepping) add(query conversations.EventQuery, found conversations.EventMatches) {
	s := &g.searched
	if s.own == 0 {
		s.own, s.ownEvents = found.Own, query.Apart()
	}
	if len(query.Words) > 0 {
		if g.words == nil {
			g.words, g.holding = query.Words, make([]int, len(query.Words))
		}
		for i, n := range found.Words {
			g.holding[i] = cmp.Or(g.holding[i], n)
		}
		g.together = append(g.together, found.Together...)
		return
	}
	if query.Archived {
		s.archived = max(0, found.Searched)
	} else {
		s.live = found.Searched
	}
	for _, id := range found.Aside.Excluded {
		if !slices.Contains(s.aside.Excluded, id) {
			s.aside.Excluded = append(s.aside.Excluded, id)
		}
	}
	for _, p := range found.Aside.Problems {
		// Live and archived conversations are of the same stores.
		if p.ID != "" || !slices.ContainsFunc(s.aside.Problems, func(other conversations.Problem) bool {
			return other.ID == "" && other.Source == p.Source && other.Path == p.Path && other.Kind == p.Kind
		}) {
			s.aside.Problems = append(s.aside.Problems, p)
		}
	}
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
	query.IDs, query.Exclude, query.KinOf = nil, nil, nil // what is left out is not on the page
	for _, p := range g.page {
		id := g.ordered.ids[p.event.conversation]
		if wanted[id] == nil {
			wanted[id], numbers[id] = map[int]*candidate{}, map[int]bool{}
			query.IDs = append(query.IDs, string(id))
		}
		wanted[id][p.event.position] = p.event
		numbers[id][p.event.number] = true
	}
	g.texts = map[*candidate]eventText{}
	query.Context = g.params.Context * contextReach
	query.Wanted = func(id transcript.ID, number int) bool { return numbers[id][number] }
	if g.params.Event != nil {
		query.MaxLines = 0
		for _, p := range g.page {
			query.MaxLines = max(query.MaxLines, p.event.lines[p.line].at+1)
		}
	}
	width := g.lineWidth()
	for _, aside := range []bool{false, true} {
		if aside {
			width = min(width, widestAside)
		}
		if !slices.ContainsFunc(g.page, func(p place) bool { return g.isAside(p.event) == aside }) {
			continue
		}
		query.MaxLine, query.MaxWindows = width, max(1, width/windowWidth)
		query.Event = g.keep(wanted, aside)
		if _, err := source.SearchEvents(ctx, query); err != nil {
			return err
		}
	}
	g.page = slices.DeleteFunc(g.page, func(p place) bool { return p.event.lines[p.line].at >= len(g.texts[p.event].matching) })
	g.context = g.contextWidth()
	return nil
}

// isAside reports whether an event is reasoning on a page that also has something else,
// where no context is asked for.
func (g *grepping) isAside(e *candidate) bool {
	return e.scope == transcript.ScopeReasoning && g.params.Context == 0 &&
		slices.ContainsFunc(g.page, func(p place) bool { return p.event.scope != transcript.ScopeReasoning })
}

// keep returns a function that keeps the lines of those events that are wanted and
// stand aside, or do not.
func (g *grepping) keep(wanted map[transcript.ID]map[int]*candidate, aside bool) func(*conversations.EventMatch) error {
	positions := map[transcript.ID]int{}
	return func(e *conversations.EventMatch) error {
		id := e.Conversation.ID
		event := wanted[id][positions[id]]
		positions[id]++
		if event == nil || event.number != e.Number || g.isAside(event) != aside {
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
}

// advised is a call and what it finds.
type advised struct {
	call   string // as a note says it
	found  int
	events bool // found counts events, and else matching lines, as the answer does
}

func (a advised) String() string {
	if a.events {
		return a.call + ": " + count(a.found, "event", "events")
	}
	return a.call + ": " + count(a.found, "match", "matches")
}

// try counts what a call with a query finds, as [grepping.search] does. It is nil where
// that is nothing.
func try(ctx context.Context, source conversations.Source, call string, q conversations.EventQuery) (*advised, error) {
	for _, query := range attempts(q) {
		query.Wanted = func(transcript.ID, int) bool { return false }
		found, err := source.SearchEvents(ctx, query)
		if isUnsupported(query, err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if found.Total > 0 {
			return &advised{call, found.Total, query.Apart()}, nil
		}
	}
	return nil, nil
}

// lookInArchived adds what archived conversations have of what live ones have little of,
// or counts it where that is more.
func (g *grepping) lookInArchived(ctx context.Context, source conversations.Source, all *candidates) error {
	query := g.query
	if len(query.IDs) > 0 || query.Archived || query.Apart() {
		return nil
	}
	query.Archived = true
	query.Context = g.params.Context
	var archived candidates
	found, err := archived.collect(ctx, source, query)
	switch {
	case isUnsupported(query, err) || err == nil && len(archived.list) == 0:
		return nil
	case err != nil:
		return err
	}
	if len(archived.list) < fewEvents {
		all.add(archived)
		g.found.Total += found.Total
		for i, n := range found.Words {
			g.holding[i] += n
		}
		g.found.Conversations = slices.Concat(g.found.Conversations, found.Conversations)
		g.searched.aside.Problems = append(g.searched.aside.Problems, found.Aside.Problems...)
		return nil
	}
	var ids []string
	matches := 0
	for _, c := range found.Conversations[:min(len(found.Conversations), maxListed)] {
		ids = append(ids, string(c.ID))
		matches += c.Matches
	}
	g.archived = &advised{"ids=" + list(ids), matches, false}
	return nil
}

// lookElsewhere counts what other calls find than this one, which finds nothing.
func (g *grepping) lookElsewhere(ctx context.Context, source conversations.Source) (err error) {
	if g.fewer, err = g.lookForFewer(ctx, source); err != nil {
		return err
	}
	for _, pattern := range alternatives(g.params.Pattern) {
		query := g.query
		query.Pattern = pattern
		found, err := try(ctx, source, "pattern="+strconv.Quote(pattern), query)
		if err != nil {
			return err
		}
		if found != nil {
			g.literal = append(g.literal, *found)
		} else {
			g.nowhere = append(g.nowhere, text.Quote(pattern))
		}
	}
	p := g.params
	for _, c := range []struct {
		call   string
		differ bool
		apply  func(*conversations.EventQuery)
	}{
		{"With ignore_case=true", !p.IgnoreCase, func(q *conversations.EventQuery) { q.IgnoreCase = true }},
		{"Without scopes", len(p.Scopes) > 0, func(q *conversations.EventQuery) { q.Scopes, q.OwnToo = transcript.ScopeAll, false }},
		{"Without event", p.Event != nil, func(q *conversations.EventQuery) { q.Number, q.MaxLines = 0, linesOfEach }},
		{"Without sources", len(p.Sources) > 0, func(q *conversations.EventQuery) { q.Sources = nil }},
		{"Without ids", len(p.IDs) > 0 && p.Event == nil, func(q *conversations.EventQuery) { q.IDs = nil }},
	} {
		if !c.differ {
			continue
		}
		query := g.query
		c.apply(&query)
		found, err := try(ctx, source, c.call, query)
		if err != nil {
			return err
		}
		if found != nil {
			g.elsewhere = append(g.elsewhere, *found)
		}
	}
	return nil
}

// A pattern is worth a try that few events hold, and that is short enough to be
// repeated.
const (
	maxTried  = 80 // characters
	maxCommon = 40 // events
	maxFewer  = 4  // sets of words: each is a search of everything
)

// lookForFewer looks for all words of the pattern but those that no event holds, or
// where there are none of these for all but one of the shortest; and else for the most
// telling one: rare and long. It is nil where nothing that is found is worth a try.
func (g *grepping) lookForFewer(ctx context.Context, source conversations.Source) (*advised, error) {
	var held []string
	telling, events := "", 0
	for i, n := range g.holding {
		if n == 0 {
			continue
		}
		word := g.words[i]
		held = append(held, word)
		if telling == "" || n*square(telling) < events*square(word) {
			telling, events = word, n
		}
	}
	sets := [][]string{held}
	if len(held) == len(g.words) {
		sets = nil
		shortest := slices.Clone(held)
		slices.SortStableFunc(shortest, func(a, b string) int { return len(a) - len(b) })
		for _, left := range shortest[:min(len(shortest), maxFewer)] {
			sets = append(sets, slices.DeleteFunc(slices.Clone(held), func(word string) bool { return word == left }))
		}
	}
	sets = slices.DeleteFunc(sets, func(set []string) bool { return len(set) < 2 })
	if 0 < events && events <= maxCommon {
		sets = append(sets, []string{telling})
	}
	for _, set := range sets {
		query := g.query
		query.Pattern = strings.Join(set, " ")
		found, err := try(ctx, source, "pattern="+strconv.Quote(query.Pattern), query)
		switch {
		case err != nil:
			return nil, err
		case found == nil:
			continue
		case utf8.RuneCountInString(query.Pattern) > maxTried, len(set) > 1 && found.found > maxCommon:
			return nil, nil
		}
		return found, nil
	}
	return nil, nil
}

func square(word string) int { return len(word) * len(word) }
