package recall

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
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

// About how many characters an answer has, unless limit is more than usualLimit: with lines of
// context over several conversations fewer are mostly tags.
const (
	usualLimit   = 50
	usualChars   = 3000
	contextChars = 6000
)

// How wide lines are shown, in characters: few lines wide, many narrow. What comes behind the
// first usualLines makes them no narrower, since there is seldom room for it.
const (
	widest, narrowest = 400, 120
	windowWidth       = 130 // of one of several windows in a line
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

	order []*grepLine // the lines that are shown, of all pages
	page  []*grepLine
	texts map[*conversations.Hit]*grepText // of the page
	shows int                              // so many lines of the page
	named int                              // so many conversations without a line
}

// Grep answers conversation_grep.
func (t *Tools) Grep(ctx context.Context, call contract.Call, p conversation.GrepParams) (*conversation.GrepEnvelope, error) {
	if p.Event != nil && len(p.IDs) != 1 {
		return nil, contract.Fixable(fmt.Sprintf(`event=%d is an event of one conversation: ids must name exactly that one, as in ids=["jp-c17648402467"], and names %d.`, *p.Event, len(p.IDs)))
	}
	if utf8.RuneCountInString(p.Pattern) > maxPattern {
		return nil, failure(ctx, &excerpt.PatternError{Reason: excerpt.PatternTooLarge})
	}
	g := &grepping{params: p, context: given(p.Context), offset: given(p.Offset)}
	var err error
	if g.pattern, err = excerpt.Compile(p.Pattern, given(p.Regex), p.IgnoreCase); err != nil {
		return nil, failure(ctx, err)
	}
	g.asking = asking{
		call: call, undone: "nothing could be left out as the current conversation", whole: given(p.IncludeCurrent),
		query: conversations.SearchQuery{
			Filter:  conversations.Filter{IDs: p.IDs, Hidden: given(p.IncludeHidden), Sources: p.Sources},
			Pattern: g.pattern, Scopes: scopesOf(p.Scopes), OwnToo: slices.Contains(p.Scopes, "recall"),
		},
	}
	if err := g.search(ctx, t.open, g.choose); err != nil {
		return nil, err
	}
	return g.answer(), nil
}

// given is the value of a parameter that need not be given.
func given[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

// choose puts all lines that match in order, and reads those of the page.
func (g *grepping) choose(ctx context.Context, source conversations.Source) error {
	if n := g.params.Event; n != nil {
		g.found.Total = 0
		g.found.Hits = slices.DeleteFunc(g.found.Hits, func(h conversations.Hit) bool { return h.Number != *n || h.Number < 1 })
		for _, h := range g.found.Hits {
			g.found.Total, h.Conversation.Matches = h.Lines, h.Lines
		}
	}
	if len(g.found.Hits) == 0 {
		return g.countWords(ctx, source)
	}
	var all []*grepLine
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
	g.deal(all, len(place))
	from := min(g.offset, len(g.order))
	g.page = g.order[from:min(from+g.params.Limit, len(g.order))]
	return g.show()
}

// grepLine is a matching line of an event, or of a title.
type grepLine struct {
	hit    *conversations.Hit
	place  int         // of its conversation, among the matching ones
	at     int         // among the lines of the event that are near a match
	sum    uint64      // equal for lines that are shown once
	size   int         // characters of it and its context, about, none of more than widest
	count  int         // of these lines
	more   int         // matching lines of the event that are not looked at, or equal to another of it
	round  int         // how many of its conversation are shown before it
	times  int         // how many equal lines it is shown for, of the one event that is searched; else 1
	others []*grepLine // of other events, that are equal
}

// grepText is an event with lines on the page, and how many characters it has.
type grepText struct {
	near  []nearLine
	chars int
}

// nearLine is a line that matches, or one around it.
type nearLine struct {
	excerpt.Line
	gap  bool   // lines that are not blank come between it and the one before
	text string // as it is shown
}

// near returns the matching lines of an event that are looked at, and lines around these, without
// blank ones.
func (g *grepping) near(content []byte) (lines []nearLine) {
	most := linesOfEach
	if g.params.Event != nil {
		most = maxReach
	}
	gap, number := false, 0
	for l := range g.pattern.Lines(content, 2*g.context, most) {
		gap = gap || l.Number != number+1
		number = l.Number
		if l.IsMatch || len(bytes.TrimSpace(content[l.Start:l.End])) > 0 {
			lines = append(lines, nearLine{Line: l, gap: gap})
			gap = false
		}
	}
	return lines
}

// inContext returns which lines are shown with the i-th one: up to most before it, and behind it.
func inContext(lines []nearLine, i, most int) (from, to int) {
	from, to = i, i+1
	for from > 0 && i-from < most && !lines[from].gap {
		from--
	}
	for to < len(lines) && to-i <= most && !lines[to].gap {
		to++
	}
	return from, to
}

// look returns the matching lines of an event. With context, lines are equal where those around
// them are too.
func (g *grepping) look(h *conversations.Hit, place int, content []byte) (all []*grepLine) {
	const prime = 1099511628211
	lines := g.near(content)
	for i := range lines {
		if !lines[i].IsMatch {
			continue
		}
		from, to := inContext(lines, i, g.context)
		l := &grepLine{hit: h, place: place, at: i, count: to - from}
		for _, other := range lines[from:to] {
			l.sum = l.sum*prime ^ excerpt.LineSum(content[other.Start:other.End])
			l.size += min(other.End-other.Start, widest)
		}
		l.sum = l.sum*prime ^ uint64(i-from) //nolint:gosec // a count
		if g.params.Event != nil || !slices.ContainsFunc(all, func(other *grepLine) bool { return other.sum == l.sum }) {
			all = append(all, l)
		}
	}
	for _, l := range all {
		l.more = h.Lines - len(all)
	}
	return all
}

// deal puts lines in order: in turn one of each conversation, what was said first. Of equal lines
// the first one is shown.
func (g *grepping) deal(all []*grepLine, conversations int) {
	slices.SortStableFunc(all, func(a, b *grepLine) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(classOf(a.hit.Scope), classOf(b.hit.Scope)))
	})
	first := make(map[uint64]*grepLine, len(all))
	rounds := make([]int, conversations)
	for _, l := range all {
		switch equal := first[l.sum]; {
		case equal == nil:
			first[l.sum] = l
			l.times, l.round = 1, rounds[l.place]
			rounds[l.place]++
			g.order = append(g.order, l)
		case g.params.Event != nil:
			equal.times++
		default:
			equal.others = append(equal.others, l)
		}
	}
	slices.SortStableFunc(g.order, func(a, b *grepLine) int { return cmp.Compare(a.round, b.round) })
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
	case scope&(transcript.ScopeUser|transcript.ScopeAssistant|transcript.ScopeStructured) != 0:
		return classSaid
	case scope == transcript.ScopeTitle:
		return classTitle
	case scope == transcript.ScopeReasoning:
		return classReasoning
	}
	return classTool
}

// width is the greatest width, within bounds, at which the first lines of the page keep to a size.
func (g *grepping) width() int {
	first := g.page
	if g.params.Limit <= usualLimit {
		first = first[:min(len(first), max(usualLines/(1+g.context), usualLines/4))]
	}
	return widest - sort.Search(widest-narrowest, func(less int) bool {
		total := 0
		for _, l := range first {
			total += min(l.size, l.count*(widest-less))
		}
		return total <= g.usualSize()*textShare/100
	})
}

// usualSize is about how many characters an answer has.
func (g *grepping) usualSize() int {
	if g.context > 0 && len(g.params.IDs) != 1 {
		return contextChars
	}
	return usualChars
}

// show makes the lines of the page, and those around them.
func (g *grepping) show() error {
	width := g.width()
	g.texts = map[*conversations.Hit]*grepText{}
	for _, l := range g.page {
		if g.texts[l.hit] != nil {
			continue
		}
		content, err := g.found.Read(l.hit)
		if err != nil {
			return err
		}
		made := &grepText{g.near(content), utf8.RuneCount(content)}
		for i := range made.near {
			near := &made.near[i]
			window := g.pattern.Window(content[near.Start:near.End], width, width/windowWidth, near.IsMatch)
			near.text = text.Line(string(window.Text))
		}
		g.texts[l.hit] = made
	}
	return nil
}

// scopesOf returns the scopes that some names of the parameter scopes stand for.
func scopesOf(names []string) (scopes transcript.Scopes) {
	for _, known := range transcript.NamedScopes() {
		if slices.Contains(names, known.Name) {
			scopes |= known.Scopes
		}
	}
	return scopes
}
