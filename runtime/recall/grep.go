package recall

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	maxPattern = 1000 // characters
	maxLine    = 400  // characters of a line that are shown

	linesOfEach = 3       // matching lines of an event that are looked at
	maxReach    = 100_000 // the same where one event alone is searched

	// About how many characters an answer has, unless limit is more than usualLimit: with lines of context over several
	// conversations fewer are mostly tags.
	usualLimit, usualChars, contextChars = 50, 2900, 6000

	maxCounted    = 8               // words that are counted of a pattern without a match
	countWordsFor = 2 * time.Second // for all words: one may be in most of a million events
)

// grepping is one call of conversation_grep.
type grepping struct {
	asking
	params  conversation.GrepParams
	context int // lines around a match; 0 where those of the parameter do not fit
	pattern *excerpt.Pattern
	words   []string // of a pattern without a match: each with the number of events that have it

	order []*match // of all pages
	page  []*match // of the page that is asked for
}

// match is a matching line of an event, or of a title.
type match struct {
	hit    *conversations.Hit
	near   *nearby  // of its event
	place  int      // the index of its conversation among those with a hit
	line   int      // the index of its line in near.lines
	sum    uint64   // equal for equal lines in equal context
	times  int      // how many equal lines it stands for; 1 unless one event alone is searched
	more   int      // how many matching lines of the event no match stands for
	round  int      // how many matches of its conversation are before it
	others []*match // equal matches of other events
}

// nearby is the lines of an event that match, and those around them, without blank ones.
type nearby struct {
	lines   []nearLine
	chars   int  // of the event
	isShown bool // the lines have their texts
}

type nearLine struct {
	excerpt.Line
	gap  bool   // lines are missing before it, blank ones aside
	text string // as it is shown, on the page
}

// Grep answers conversation_grep. It returns an error if the call has an event but not exactly one id, or if the
// pattern is too long or invalid. The first of these errors counts.
func (t *Tools) Grep(ctx context.Context, call contract.Call, p conversation.GrepParams) (*conversation.GrepEnvelope, error) {
	if p.Event != nil && len(p.IDs) != 1 {
		return nil, contract.Fixable(fmt.Sprintf(`event=%d is an event of one conversation: ids must name exactly that one, as in ids=["jp-c17648402467"], and names %d.`, *p.Event, len(p.IDs)))
	}
	pattern, err := excerpt.Compile(p.Pattern, given(p.Regex), p.IgnoreCase)
	if utf8.RuneCountInString(p.Pattern) > maxPattern {
		err = &excerpt.PatternError{Problem: "is too long; use a shorter one"} // in place of the error of Compile
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	g := &grepping{params: p, context: given(p.Context), pattern: pattern}
	g.asking = asking{
		call: call, whole: given(p.IncludeCurrent),
		ifCurrentUnknown: either(given(p.IncludeCurrent), "", "nothing could be left out as the current conversation"),
		query: conversations.SearchQuery{
			Filter:  conversations.Filter{IDs: p.IDs, Hidden: given(p.IncludeHidden), Sources: p.Sources},
			Pattern: pattern, Scopes: transcript.ScopesNamed(p.Scopes...), OwnToo: slices.Contains(p.Scopes, "recall"),
		},
	}
	if err := g.search(ctx, t, g.choosePage); err != nil {
		return nil, err
	}
	return g.answer(), nil
}

// choosePage sets g.order to the matches of all hits, and g.page to those that the call shows, with their lines. If the
// call is for one event, it first removes other hits. If there is no hit, it counts the words of the pattern instead.
func (g *grepping) choosePage(ctx context.Context, source conversations.Source) error {
	if n := g.params.Event; n != nil {
		g.found.Total = 0
		g.found.Hits = slices.DeleteFunc(g.found.Hits, func(h conversations.Hit) bool { return h.Number != *n })
		for _, h := range g.found.Hits {
			g.found.Total, h.Conversation.Matches = h.Lines, h.Lines // the only hit: its lines are the totals
		}
	}
	if len(g.found.Hits) == 0 {
		return g.countWords(ctx, source)
	}
	var matches []*match
	place := 0 // how many conversations have hits before h; the hits are sorted by conversation
	for i := range g.found.Hits {
		h := &g.found.Hits[i]
		content, err := g.found.Read(h)
		if err != nil {
			return err
		}
		if isNext := i > 0 && h.Conversation != g.found.Hits[i-1].Conversation; isNext {
			place++
		}
		for _, m := range g.matches(content, h) {
			m.place = place
			matches = append(matches, m)
		}
	}
	g.orderMatches(matches)
	from := min(given(g.params.Offset), len(g.order))
	g.page = g.order[from:min(from+g.params.Limit, len(g.order))]
	return g.readPage()
}

// linesNear returns the first matching lines of an event: up to linesOfEach lines, or maxReach lines if the call is for
// one event alone. It adds the lines around each match, without blank lines.
func (g *grepping) linesNear(content []byte) *nearby {
	n := &nearby{chars: utf8.RuneCount(content)}
	gap, last := false, 0 // whether lines are missing after the last of n.lines; the number of the line before l
	most := either(g.params.Event == nil, linesOfEach, maxReach)
	for l := range g.pattern.Lines(content, 2*g.context, most) { // twice the context: blank lines are dropped, and inContext takes g.context of the rest
		gap = gap || l.Number != last+1
		last = l.Number
		isBlank := len(bytes.TrimSpace(content[l.Start:l.End])) == 0
		if l.IsMatch || !isBlank {
			n.lines = append(n.lines, nearLine{Line: l, gap: gap})
			gap = false
		}
	}
	return n
}

// inContext returns the range n.lines[from:to] that is shown for line i: at most most lines before the line, the line,
// and at most most lines after it. Lines missing before a line, as its field gap says, end the range.
func (n *nearby) inContext(i, most int) (from, to int) {
	from, to = i, i+1
	for from > 0 && i-from < most && !n.lines[from].gap { // i-from lines before i are in the range
		from--
	}
	for to < len(n.lines) && to-i-1 < most && !n.lines[to].gap { // to-i-1 lines after i are in the range
		to++
	}
	return from, to
}

// matches returns the matching lines of a hit, whose text is content. Equal lines in equal context give one match, for
// the first of the lines. The field times of a match is 1; in a call for one event, it is the number of the equal
// lines. The field more of each match is the number of matching lines that no field times counts.
func (g *grepping) matches(content []byte, h *conversations.Hit) (matches []*match) {
	const prime = 1099511628211
	near := g.linesNear(content)
	bySum, more := map[uint64]*match{}, h.Lines // by the hash of a line with its context; matching lines not counted yet
	for i := range near.lines {
		if !near.lines[i].IsMatch {
			continue
		}
		from, to := near.inContext(i, g.context)
		sum := uint64(i - from) //nolint:gosec // a count, of the lines before it
		for _, l := range near.lines[from:to] {
			sum = sum*prime ^ excerpt.LineSum(content[l.Start:l.End])
		}
		m := bySum[sum]
		isRepeat := m != nil
		if !isRepeat {
			m = &match{hit: h, near: near, line: i, sum: sum}
			bySum[sum], matches = m, append(matches, m)
		}
		if !isRepeat || g.params.Event != nil {
			m.times++
			more--
		}
	}
	for _, m := range matches {
		m.more = more
	}
	return matches
}

// orderMatches sets g.order to the first match of each conversation, then the second match of each, and so on. In a
// conversation, matches in what was said come first. Of matches with equal lines, which have the same sum, g.order has
// only the first; the field others of that match gets the rest.
func (g *grepping) orderMatches(matches []*match) {
	slices.SortStableFunc(matches, func(a, b *match) int { // by conversation, and there by scope
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(classOf(a.hit.Scope), classOf(b.hit.Scope)))
	})
	first := make(map[uint64]*match, len(matches)) // by sum
	rounds := map[int]int{}                        // the round of the next match of a conversation, by its place
	for _, m := range matches {
		if equal := first[m.sum]; equal != nil {
			equal.others = append(equal.others, m)
			continue
		}
		first[m.sum] = m
		m.round = rounds[m.place]
		rounds[m.place]++
		g.order = append(g.order, m)
	}
	slices.SortStableFunc(g.order, func(a, b *match) int { return cmp.Compare(a.round, b.round) })
}

// classOf returns the class of a scope, by which matches of a conversation are ordered: 0 for what was said, 1 for the
// title, 2 for tools and all else, 3 for reasoning.
func classOf(scope transcript.Scopes) int {
	switch {
	case scope&(transcript.ScopeUser|saidScopes) != 0:
		return 0
	case scope == transcript.ScopeTitle:
		return 1
	case scope == transcript.ScopeReasoning:
		return 3
	}
	return 2
}

// readPage sets the texts of the lines near each match of the page.
func (g *grepping) readPage() error {
	for _, m := range g.page {
		if m.near.isShown { // by another match of the event
			continue
		}
		m.near.isShown = true
		content, err := g.found.Read(m.hit)
		if err != nil {
			return err
		}
		for i := range m.near.lines {
			l := &m.near.lines[i]
			window := g.pattern.Window(content[l.Start:l.End], maxLine, l.IsMatch)
			l.text = text.Line(string(window.Text))
		}
	}
	return nil
}

// countWords sets g.words to the words of the pattern, each with the number of events that have the word; the caller
// has found no line with the whole pattern. It counts nothing if the pattern is one word or a regular expression, if
// the call is for one event, or if no conversation was searched. It stops counting after countWordsFor.
func (g *grepping) countWords(ctx context.Context, source conversations.Source) error {
	isInWord := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }
	words := strings.FieldsFunc(g.params.Pattern, func(r rune) bool { return !isInWord(r) })
	if len(words) < 2 || given(g.params.Regex) || g.params.Event != nil || g.found.Searched == 0 {
		return nil
	}
	counting, cancel := context.WithTimeout(ctx, countWordsFor)
	defer cancel()
	query := g.query
	for _, word := range words[:min(len(words), maxCounted)] {
		query.Pattern = excerpt.Literal(word, g.params.IgnoreCase)
		found, err := source.Search(counting, query)
		if counting.Err() != nil {
			return ctx.Err() // nil if only the time for counting is over
		}
		if err != nil {
			return err
		}
		isTitle := func(h conversations.Hit) bool { return h.Number == 0 } // events are numbered from 1
		n := len(slices.DeleteFunc(found.Hits, isTitle))
		g.words = append(g.words, text.Quote(word)+" "+text.Count(n, "event", "events"))
	}
	return nil
}
