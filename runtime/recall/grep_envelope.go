package recall

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
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
	n := g.shows
	return fit(maxUnshown, max(limit, chars(e)), func(named int) *conversation.GrepEnvelope {
		g.named = named
		return g.envelope(n)
	})
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
			if chars := g.texts[h].chars; chars > aboutWhole && (g.context == 0 || chars > partChars) {
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

// mostBeside is how many lines around a match are shown in one hit with it, on each side: tags
// around each run of so few would be a fifth of an answer. Among more the match would be hard to
// see, and they have hits of their own.
const mostBeside = 3

// hits are some matching lines of an event, with the lines around them.
func (g *grepping) hits(lines []*grepLine) (hits []conversation.GrepHit) {
	near := g.texts[lines[0].hit].near
	matches, isShown := map[int]*grepLine{}, make([]bool, len(near)+1)
	for _, l := range lines {
		matches[l.at] = l
		from, to := inContext(near, l.at, g.context)
		for i := from; i < to; i++ {
			isShown[i+1] = true
		}
	}
	var last *conversation.GrepHit // that the next line may be in
	for i := range near {
		if !isShown[i+1] {
			continue
		}
		l, text, isApart := matches[i], near[i].text, last != nil && (near[i].gap || !isShown[i])
		isContext, joins := last != nil && last.IsMatch != nil, last != nil && !isApart && g.context <= mostBeside
		if l == nil && isApart {
			text = leftOutLines + "\n" + text
		}
		switch {
		case l != nil && isContext && joins:
			last.IsMatch, last.Text = nil, last.Text+"\n"+text
		case l == nil && (isContext || joins):
			last.Text += "\n" + text
			continue
		default:
			hits = append(hits, conversation.GrepHit{Text: text})
			if last = &hits[len(hits)-1]; l == nil {
				last.IsMatch = new(false)
				continue
			}
		}
		if last.Also = l.also(); l.times > 1 {
			last.Times = l.times
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

const (
	maxCounted = 8   // words of a pattern that nothing matches
	maxQuoted  = 200 // characters of a pattern

	countWordsFor = 300 * time.Millisecond // of a million events some words are in most
)

// countWords counts the events that have each word of a text that no line has, as long as there
// is time.
func (g *grepping) countWords(ctx context.Context, source conversations.Source) error {
	words := wordsOf(g.params.Pattern, g.params.IgnoreCase)
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
		events := slices.DeleteFunc(found.Hits, func(h conversations.Hit) bool { return h.Scope == transcript.ScopeTitle })
		g.words = append(g.words, text.Quote(word)+" "+text.Count(len(events), "event", "events"))
	}
	return nil
}

// notes are at most three: what was found and which call shows more of it; what was
// left out; what is not as it should be.
func (g *grepping) notes(n int) []string {
	var found []string
	switch {
	case len(g.found.Hits) == 0:
		found = g.nothingFound()
	case n == 0:
		found = []string{fmt.Sprintf("offset=%d is past the last of the %s that can be shown; offset=%d shows the last.", g.offset, text.Count(len(g.order), "line", "lines"), len(g.order)-1)}
	default:
		found = g.shown(n)
	}
	var notes []string
	for _, sentences := range [][]string{found, g.leftOut(), append(remarks(g.call), missedNotes(g.found.Aside.Problems)...)} {
		if len(sentences) > 0 {
			notes = append(notes, strings.Join(sentences, " "))
		}
	}
	return notes
}

// shown says how much of all that matches is shown, and which calls show more.
func (g *grepping) shown(n int) (say []string) {
	next := g.offset + n
	more := slices.IndexFunc(g.page[:n], func(l *grepLine) bool { return l.more > 0 && l.hit.Number > 0 })
	switch {
	case next < len(g.order):
		note := fmt.Sprintf("%d of %d matches. offset=%d shows the next", n, g.found.Total, next)
		isSaid := func(l *grepLine) bool { return classOf(l.hit.Scope) == classSaid }
		isOther := func(l *grepLine) bool { return classOf(l.hit.Scope) > classTitle }
		if len(g.params.Scopes) == 0 && g.params.Event == nil && slices.ContainsFunc(g.page[:n], isOther) && slices.ContainsFunc(g.order[next:], isSaid) {
			note += `; scopes=["user","assistant"] leaves out reasoning and tool traffic`
		}
		say = append(say, note+".")
	case more >= 0 && g.params.Event != nil:
		say = append(say, fmt.Sprintf("Only the first %s matching lines of the event are looked at: a longer pattern matches fewer.", text.Number(maxReach)))
	case more >= 0:
		h := g.page[more].hit
		say = append(say, fmt.Sprintf("more counts others of an event: ids=%s, event=%d shows all %d.", list([]string{string(h.Conversation.ID)}), h.Number, h.Lines))
	}
	if g.context < given(g.params.Context) {
		say = append(say, "The lines around it are too long for an answer.")
	}
	return say
}

// leftOut says what was not searched, and how it is.
func (g *grepping) leftOut() []string {
	var left []string
	id := transcript.ID(g.call.Context.ConversationID)
	excluded := g.found.Aside.Excluded
	if kin := slices.DeleteFunc(slices.Clone(excluded), func(other transcript.ID) bool { return other == id }); len(excluded) > 0 {
		what, they := "the current conversation, "+string(id), "it"
		if len(kin) == len(excluded) { // it is not recorded here
			what = "what belongs to " + what
		} else if len(kin) > 0 {
			what += ", and what belongs to it"
		}
		if len(kin) > 0 {
			what, they = what+": "+bounded(names(kin), ", ", maxListed), "them"
		}
		left = append(left, what+" (include_current=true searches "+they+" too)")
	}
	if n := g.found.Own; n > 0 {
		left = append(left, text.Count(n, "match", "matches")+` in calls and results of these tools (scopes=["recall"] searches them)`)
	}
	if len(left) > 0 {
		left = []string{"Left out: " + strings.Join(left, "; ") + "."}
	}
	return left
}

// nothingFound says what was searched for and where, and what may find something.
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
		where = "scopes=" + list(p.Scopes)
	}
	say := []string{fmt.Sprintf("No line %s %s, %s, in %s of the %s%s searched.",
		either(isRegex, "matches the regular expression", "contains"), text.Quote(clip(p.Pattern, maxQuoted)), either(p.IgnoreCase, "in any case", "in exactly this case"),
		where, text.Count(g.found.Searched, "conversation", "conversations"), ofSources(p.Sources))}
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
	p, aside, why := g.params, &g.found.Aside, ""
	switch {
	case len(p.IDs) > 0 && len(p.Sources) > 0:
		why = ": ids names no conversations" + ofSources(p.Sources)
	case len(aside.Excluded) > 0:
		why = either(len(p.IDs) > 0, ": ids names the current conversation alone", ": there is no other live conversation")
	case len(aside.Problems) == 0:
		why = ": there are no live conversations" + ofSources(p.Sources) + " here, hidden ones aside"
	}
	return "Nothing was searched" + why + "."
}

// wordsOf returns the different words of a text, without the punctuation around them unless no
// letter and no digit is inside. Words of one or two letters of the Latin alphabet, which are
// inside of many others, are left out where two longer ones remain.
func wordsOf(s string, ignoreCase bool) []string {
	var words []string
	for _, word := range strings.Fields(s) {
		if bare := strings.TrimFunc(word, unicode.IsPunct); strings.ContainsFunc(bare, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			word = bare
		}
		if !slices.ContainsFunc(words, func(other string) bool { return other == word || ignoreCase && strings.EqualFold(other, word) }) {
			words = append(words, word)
		}
	}
	isShort := func(word string) bool {
		return len(word) <= 2 && !strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf || !unicode.IsLetter(r) })
	}
	if long := slices.DeleteFunc(slices.Clone(words), isShort); len(long) > 1 {
		return long
	}
	return words
}
