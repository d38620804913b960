package recall

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	maxPattern  = 1000    // characters
	linesOfEach = 3       // of an event that is not the only one that is searched
	maxReach    = 100_000 // matching lines of one event are looked at
)

// About how many characters an answer has, unless limit is more than
// usualLimit: with lines of context over several conversations fewer
// are mostly tags.
const (
	usualLimit   = 50
	usualChars   = 3000
	contextChars = 6000
)

// How wide lines are shown, in characters: few lines wide, many narrow.
// What comes after the first usualLines makes them no narrower, since
// there is seldom room for it.
const (
	widest, narrowest = 400, 120
	usualLines        = 16
	textShare         = 60 // of an answer, in percent; the rest is tags
)

// grepping is one call of conversation_grep in the making.
type grepping struct {
	asking
	params  conversation.GrepParams
	context int
	offset  int
	pattern *excerpt.Pattern
	words   []string // where nothing matches, with how many events have each

	order []*match                       // of all pages
	page  []*match                       // of the page
	texts map[*conversations.Hit]*nearby // of the page
	shows int                            // so many of the page
	named int                            // so many conversations without a line
}

// match is a matching line of an event, or of a title.
type match struct {
	hit    *conversations.Hit
	place  int      // of its conversation, among those that match
	at     int      // among the lines that are near a match
	sum    uint64   // equal for lines that are shown once
	size   int      // characters of it and its context, about, none of more than widest
	times  int      // how many equal lines of the event it stands for
	more   int      // matching lines of the event that are not looked at, or stand for none
	round  int      // how many of its conversation are shown before it
	others []*match // of other events, that are equal
}

// nearby is the lines of an event that match, and those around them,
// without blank ones.
type nearby struct {
	lines []nearLine
	chars int // of the event
}

type nearLine struct {
	excerpt.Line
	gap  bool   // lines that are not blank come between it and the one before
	text string // as it is shown
}

// Grep answers conversation_grep.
func (t *Tools) Grep(ctx context.Context, call contract.Call, p conversation.GrepParams) (*conversation.GrepEnvelope, error) {
	if p.Event != nil && len(p.IDs) != 1 {
		return nil, contract.Fixable(fmt.Sprintf(`event=%d is an event of one conversation: ids must name exactly that one, as in ids=["jp-c17648402467"], and names %d.`, *p.Event, len(p.IDs)))
	}
	if utf8.RuneCountInString(p.Pattern) > maxPattern {
		return nil, failure(ctx, &excerpt.PatternError{Reason: excerpt.PatternTooLarge})
	}
	pattern, err := excerpt.Compile(p.Pattern, given(p.Regex), p.IgnoreCase)
	if err != nil {
		return nil, failure(ctx, err)
	}
	g := &grepping{params: p, context: given(p.Context), offset: given(p.Offset), pattern: pattern}
	g.asking = asking{
		call: call, undone: "nothing could be left out as the current conversation", whole: given(p.IncludeCurrent),
		query: conversations.SearchQuery{
			Filter:  conversations.Filter{IDs: p.IDs, Hidden: given(p.IncludeHidden), Sources: p.Sources},
			Pattern: pattern, Scopes: scopesOf(p.Scopes), OwnToo: slices.Contains(p.Scopes, "recall"),
		},
	}
	if err := g.search(ctx, t.open, g.choose); err != nil {
		return nil, err
	}
	return g.answer(), nil
}

// scopesOf returns the scopes that some names of the parameter scopes
// stand for.
func scopesOf(names []string) (scopes transcript.Scopes) {
	for _, known := range transcript.NamedScopes() {
		if slices.Contains(names, known.Name) {
			scopes |= known.Scopes
		}
	}
	return scopes
}

// choose puts all lines that match in order, and reads those of the
// page.
func (g *grepping) choose(ctx context.Context, source conversations.Source) error {
	if n := g.params.Event; n != nil {
		g.found.Total = 0
		g.found.Hits = slices.DeleteFunc(g.found.Hits, func(h conversations.Hit) bool { return h.Number != *n })
		for _, h := range g.found.Hits {
			g.found.Total, h.Conversation.Matches = h.Lines, h.Lines
		}
	}
	if len(g.found.Hits) == 0 {
		return g.countWords(ctx, source)
	}
	var all []*match
	place := map[*conversations.Matched]int{}
	for i := range g.found.Hits {
		h := &g.found.Hits[i]
		content, err := g.found.Read(h)
		if err != nil {
			return err
		}
		if _, ok := place[h.Conversation]; !ok {
			place[h.Conversation] = len(place)
		}
		all = append(all, g.look(h, place[h.Conversation], content)...)
	}
	g.deal(all)
	from := min(g.offset, len(g.order))
	g.page = g.order[from:min(from+g.params.Limit, len(g.order))]
	return g.readPage()
}

// near returns the matching lines of an event that are looked at, and
// lines around these.
func (g *grepping) near(content []byte) *nearby {
	most := linesOfEach
	if g.params.Event != nil {
		most = maxReach
	}
	n := &nearby{chars: utf8.RuneCount(content)}
	gap, number := false, 0
	for l := range g.pattern.Lines(content, 2*g.context, most) {
		gap = gap || l.Number != number+1
		number = l.Number
		if l.IsMatch || len(bytes.TrimSpace(content[l.Start:l.End])) > 0 {
			n.lines = append(n.lines, nearLine{Line: l, gap: gap})
			gap = false
		}
	}
	return n
}

// inContext returns which lines are shown with the i-th one: up to most
// before it, and after it.
func (n *nearby) inContext(i, most int) (from, to int) {
	from, to = i, i+1
	for from > 0 && i-from < most && !n.lines[from].gap {
		from--
	}
	for to < len(n.lines) && to-i <= most && !n.lines[to].gap {
		to++
	}
	return from, to
}

// look returns the matching lines of an event. With context, lines are
// equal where those around them are too.
func (g *grepping) look(h *conversations.Hit, place int, content []byte) (all []*match) {
	const prime = 1099511628211
	near, bySum := g.near(content), map[uint64]*match{}
	rest := h.Lines
	for i := range near.lines {
		if !near.lines[i].IsMatch {
			continue
		}
		m := &match{hit: h, place: place, at: i, times: 1}
		from, to := near.inContext(i, g.context)
		for _, l := range near.lines[from:to] {
			m.sum = m.sum*prime ^ excerpt.LineSum(content[l.Start:l.End])
			m.size += min(l.End-l.Start, widest)
		}
		m.sum = m.sum*prime ^ uint64(i-from) //nolint:gosec // a count
		if same := bySum[m.sum]; same == nil {
			bySum[m.sum] = m
			all = append(all, m)
		} else if g.params.Event != nil {
			same.times++
		} else {
			continue
		}
		rest--
	}
	for _, m := range all {
		m.more = rest
	}
	return all
}

// deal puts lines in order: in turn one of each conversation, what was
// said first. Of equal lines the first one is shown.
func (g *grepping) deal(all []*match) {
	slices.SortStableFunc(all, func(a, b *match) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(classOf(a.hit.Scope), classOf(b.hit.Scope)))
	})
	first := make(map[uint64]*match, len(all))
	rounds := map[int]int{}
	for _, m := range all {
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

// The classes of what a conversation has, in order.
const (
	classSaid = iota
	classTitle
	classTool // and what else there is
	classReasoning
)

func classOf(scope transcript.Scopes) int {
	switch {
	case scope&(transcript.ScopeUser|saidScopes) != 0:
		return classSaid
	case scope == transcript.ScopeTitle:
		return classTitle
	case scope == transcript.ScopeReasoning:
		return classReasoning
	}
	return classTool
}

// width returns how wide lines are shown, so that the first lines of
// the page keep to a size.
func (g *grepping) width() int {
	first := g.page
	if g.params.Limit <= usualLimit {
		first = first[:min(len(first), max(usualLines/(1+g.context), usualLines/4))]
	}
	size := 1
	for _, m := range first {
		size += m.size
	}
	return max(min(widest, widest*g.usualSize()*textShare/100/size), narrowest)
}

// usualSize returns about how many characters an answer has.
func (g *grepping) usualSize() int {
	if g.context > 0 && len(g.params.IDs) != 1 {
		return contextChars
	}
	return usualChars
}

// readPage makes the lines of the page, and those around them.
func (g *grepping) readPage() error {
	width := g.width()
	g.texts = map[*conversations.Hit]*nearby{}
	for _, m := range g.page {
		if g.texts[m.hit] != nil {
			continue
		}
		content, err := g.found.Read(m.hit)
		if err != nil {
			return err
		}
		near := g.near(content)
		for i := range near.lines {
			l := &near.lines[i]
			shown := g.pattern.Window(content[l.Start:l.End], width, l.IsMatch)
			l.text = text.Line(string(shown.Text))
		}
		g.texts[m.hit] = near
	}
	return nil
}

const (
	maxCounted = 8 // words of a pattern that nothing matches

	countWordsFor = 300 * time.Millisecond // of a million events some words are in most
)

// countWords counts the events that have each word of a text that no
// line has, as long as there is time.
func (g *grepping) countWords(ctx context.Context, source conversations.Source) error {
	words := wordsOf(g.params.Pattern)
	if given(g.params.Regex) || g.params.Event != nil || g.found.Searched == 0 || len(words) < 2 {
		return nil
	}
	counting, cancel := context.WithTimeout(ctx, countWordsFor)
	defer cancel()
	for _, word := range words[:min(len(words), maxCounted)] {
		query := g.query
		query.Pattern = excerpt.Literal(word, g.params.IgnoreCase)
		found, err := source.Search(counting, query)
		if counting.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		n := len(slices.DeleteFunc(found.Hits, func(h conversations.Hit) bool { return h.Number == 0 }))
		g.words = append(g.words, text.Quote(word)+" "+text.Count(n, "event", "events"))
	}
	return nil
}
