package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// maxEventLines is how many lines one run may print, context included, so that they
// stay within [maxStdout].
const maxEventLines = 20_000

// Messages implements [conversations.Source]: no program has a command for it.
func (s source) Messages(context.Context, conversations.MessageQuery) (conversations.MessageMatches, error) {
	return conversations.MessageMatches{}, &conversations.UnavailableError{
		Setting: s.config.Setting, Err: fmt.Errorf("searching for messages: %w", conversations.ErrUnsupported),
	}
}

// SearchEvents implements [conversations.Source] over the lines that the program
// finds, which it groups by event. Matching lines behind the first ones are only
// counted. What lines do not tell is not known: how close words stand together, and
// whether there is an event in which nothing matches. Of a long line there is one
// window. Each word is a run of its own, and has to be rare enough for all of its lines
// to be printed.
func (s source) SearchEvents(ctx context.Context, q conversations.EventQuery) (conversations.EventMatches, error) {
	words := q.Words
	if len(words) == 0 {
		words = []string{q.Pattern}
	}
	if len(words) > conversations.MaxWords {
		return conversations.EventMatches{}, &conversations.PatternError{Reason: conversations.PatternTooLarge}
	}
	for _, word := range words {
		if err := conversations.CheckPattern(word, false, q.IgnoreCase); err != nil {
			return conversations.EventMatches{}, err
		}
	}
	g := grouping{query: q, words: make([]int, len(words)), events: map[eventKey]*event{}, held: map[transcript.ID]uint{}}
	if q.Scopes == 0 && !q.OwnToo {
		return conversations.EventMatches{Searched: -1}, checkIDs(slices.Concat(q.IDs, q.Exclude)...)
	}
	for i, word := range words {
		found, err := s.Search(ctx, conversations.SearchQuery{
			Filter: q.Filter, Pattern: word, IgnoreCase: q.IgnoreCase, Scopes: q.Scopes, ByEvent: true, Own: q.Own, OwnToo: q.OwnToo,
			Context: q.Context, MaxMatches: maxEventLines / (1 + 2*q.Context), MaxLine: q.MaxLine, CountAll: true,
			Line: func(l *conversations.Line) error { return g.add(i, l) },
		})
		if err != nil {
			return conversations.EventMatches{}, err
		}
		if len(q.Words) > 0 && found.Returned < found.Total {
			return conversations.EventMatches{}, fmt.Errorf("searching for a word with %d matching lines: %w", found.Total, conversations.ErrUnsupported)
		}
		if i == 0 {
			g.found = found
		} else if q.Any {
			g.merge(found)
		}
	}
	return g.handOver()
}

// eventKey is what lines of one event have in common.
type eventKey struct {
	id            transcript.ID
	number, index int // as far as the program prints them
	turn          int
	scope         transcript.Scopes
	at            time.Time
}

// event is an event in which lines were found.
type event struct {
	conversations.EventMatch
	index  int // as the program prints it
	wanted bool
	words  uint // that it holds, as bits
	lines  []eventLine
}

// eventLine is a line, and the words that it holds, as bits.
type eventLine struct {
	conversations.EventLine
	words uint
}

// grouping groups lines by event.
type grouping struct {
	query  conversations.EventQuery
	found  conversations.Matches // of the first word
	events map[eventKey]*event
	order  []*event
	words  []int                  // by word: events that hold it
	held   map[transcript.ID]uint // by conversation: the words that it holds, as bits
	ids    []transcript.ID        // of conversations, as they were found first
}

// add adds a line that was found for a word.
func (g *grouping) add(word int, l *conversations.Line) error {
	id := l.Conversation.ID
	switch n := g.query.Number; {
	case n == 0, n == l.EventNumber:
	case l.Scope == transcript.ScopeTitle, l.EventNumber > 0:
		return nil
	default:
		return fmt.Errorf("searching one event, which the program does not number: %w", conversations.ErrUnsupported)
	}
	key := eventKey{id, l.EventNumber, l.Event, l.Turn, l.Scope, l.Time}
	e := g.events[key]
	if e == nil {
		c := *l.Conversation
		e = &event{index: l.Event, wanted: g.query.Wanted == nil || g.query.Wanted(id, l.EventNumber)}
		e.EventMatch = conversations.EventMatch{Conversation: &c, Number: l.EventNumber, Turn: l.Turn, Scope: l.Scope, Time: l.Time}
		g.events[key] = e
		g.order = append(g.order, e)
		if _, ok := g.held[id]; !ok {
			g.ids = append(g.ids, id)
		}
	}
	line := eventLine{EventLine: conversations.EventLine{Number: l.Number}}
	if l.IsMatch {
		line.words = 1 << word
		g.held[id] |= line.words
		if e.words&line.words == 0 {
			e.words |= line.words
			g.words[word]++
		}
	}
	if e.wanted {
		e.Chars = l.EventChars
		line.Text, line.Chars, line.Sum = string(l.Text), l.Chars, conversations.LineSum(l.Text)
	}
	e.lines = append(e.lines, line)
	return nil
}

// merge adds what was found for another word, of which any is enough.
func (g *grouping) merge(found conversations.Matches) {
	// Both lists are in the order of the latest activity, which is not printed: what
	// stands in both is the frame, and between that the ids, of which most are by age.
	at := 0
	for _, c := range found.Conversations {
		same := func(other conversations.Match) bool { return other.ID == c.ID }
		if i := slices.IndexFunc(g.found.Conversations, same); i >= 0 {
			at = i + 1
			continue
		}
		for at < len(g.found.Conversations) && g.found.Conversations[at].ID > c.ID && !slices.ContainsFunc(found.Conversations, func(m conversations.Match) bool { return m.ID == g.found.Conversations[at].ID }) {
			at++
		}
		g.found.Conversations = slices.Insert(g.found.Conversations, at, c)
		at++
	}
}

// inOrder orders events that several runs found, by conversation and number.
func (g *grouping) inOrder() {
	rank := map[transcript.ID]int{}
	for i, c := range g.found.Conversations {
		rank[c.ID] = i
	}
	slices.SortStableFunc(g.order, func(a, b *event) int {
		return cmp.Or(
			cmp.Compare(rank[a.Conversation.ID], rank[b.Conversation.ID]),
			cmp.Compare(a.Number, b.Number), cmp.Compare(a.index, b.index), cmp.Compare(a.Turn, b.Turn), a.Time.Compare(b.Time),
		)
	})
}

// handOver hands over the events that hold all words, or any of them.
func (g *grouping) handOver() (conversations.EventMatches, error) {
	q := &g.query
	result := conversations.EventMatches{Total: g.found.Total, Own: g.found.Own, Searched: g.found.Searched, Aside: g.found.Aside}
	all := uint(1)<<len(g.words) - 1
	matches := map[transcript.ID]int{}
	total := 0
	if q.Any {
		g.inOrder()
	}
	for _, e := range g.order {
		if e.words == 0 || q.Apart() && e.words != all {
			continue
		}
		e.finish(q, all)
		n := e.Matches
		if q.Apart() {
			n = 1
		}
		matches[e.Conversation.ID] += n
		total += n
		if q.Event != nil {
			if err := q.Event(&e.EventMatch); err != nil {
				return result, err
			}
		}
	}
	if len(q.Words) > 0 {
		result.Words = g.words
	}
	whole := len(q.Words) == 0 && q.Number == 0
	if !whole {
		result.Total, result.Own = total, 0 // in which events something was left out is not known
	}
	for _, m := range g.found.Conversations {
		c := conversations.MatchedConversation{Conversation: m.Conversation, Matches: matches[m.ID], Turns: m.Turns}
		if whole {
			c.Matches = m.Matches
		}
		if c.Matches > 0 {
			result.Conversations = append(result.Conversations, c)
		}
	}
	for _, id := range g.ids {
		if q.Apart() && total == 0 && g.held[id] == all && len(result.Together) < maxTogether {
			result.Together = append(result.Together, id)
		}
	}
	return result, nil
}

// maxTogether bounds [conversations.EventMatches.Together].
const maxTogether = 8

// finish puts the lines of an event together.
func (e *event) finish(q *conversations.EventQuery, all uint) {
	slices.SortStableFunc(e.lines, func(a, b eventLine) int { return cmp.Compare(a.Number, b.Number) })
	lines := e.lines[:0]
	for _, l := range e.lines {
		if last := len(lines) - 1; last >= 0 && l.Number > 0 && lines[last].Number == l.Number {
			if lines[last].words == 0 {
				lines[last].EventLine = l.EventLine // which is a window around a match
			}
			lines[last].words |= l.words
			continue
		}
		lines = append(lines, l)
	}
	var matching []int // indexes
	for i, l := range lines {
		if l.words != 0 {
			matching = append(matching, i)
		}
	}
	e.Matches = len(matching)
	e.lines = nil
	if !e.wanted {
		return
	}
	if q.MaxLines > 0 {
		if q.Apart() && q.Number == 0 {
			matching = shortest(lines, matching, all)
		}
		matching = matching[:min(q.MaxLines, len(matching))]
	}
	near := func(i, match int) bool {
		if lines[i].Number == 0 { // lines of context were printed around their match
			return match-q.Context <= i && i <= match+q.Context
		}
		return lines[match].Number-q.Context <= lines[i].Number && lines[i].Number <= lines[match].Number+q.Context
	}
	next := 0 // index in matching
	for i := range lines {
		for next < len(matching) && matching[next] < i && !near(i, matching[next]) {
			next++
		}
		if next == len(matching) {
			break
		}
		if near(i, matching[next]) {
			lines[i].IsMatch = slices.Contains(matching[next:min(next+2*q.Context+1, len(matching))], i)
			e.Lines = append(e.Lines, lines[i].EventLine)
		}
	}
}

// shortest returns the fewest of the matching lines next to one another that hold
// all words, and of several the first.
func shortest(lines []eventLine, matching []int, all uint) []int {
	best := matching
	for from := range matching {
		var words uint
		for to := from; to < len(matching); to++ {
			if words |= lines[matching[to]].words; words == all {
				if span(lines, matching[from:to+1]) < span(lines, best) {
					best = matching[from : to+1]
				}
				break
			}
		}
	}
	return best
}

// span is how many lines there are from the first to the last, at least.
func span(lines []eventLine, matching []int) int {
	first, last := matching[0], matching[len(matching)-1]
	return max(lines[last].Number-lines[first].Number, last-first)
}
