package recall

import (
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// notes are at most three: what was found and which call shows more of it; what was
// left out; what is not as it should be.
func (g *grepping) notes(n, unlisted int) []string {
	var found []string
	switch {
	case g.ordered == nil:
		found = g.nothingFound()
	case n == 0:
		found = []string{fmt.Sprintf("offset=%d is past the last of the %s that can be shown; offset=%d shows the last.", g.params.Offset, count(len(g.ordered.places), "line", "lines"), len(g.ordered.places)-1)}
	default:
		found = g.shown(n, unlisted)
	}
	wrong := append(remarks(g.call), notSearched(g.searched.aside.Problems)...)
	var notes []string
	for _, sentences := range [][]string{found, g.leftOut(), wrong} {
		if len(sentences) > 0 {
			notes = append(notes, strings.Join(sentences, " "))
		}
	}
	return notes
}

// notSearched says which conversations were not searched, or in part.
func notSearched(problems []conversations.Problem) []string {
	var damaged []string
	var others, reported []conversations.Problem
	for _, p := range problems {
		switch p.Kind {
		case conversations.BadField: // which takes nothing from a search
		case conversations.DamagedEvents:
			damaged = append(damaged, string(p.ID))
		case conversations.Reported:
			reported = append(reported, p)
		default:
			others = append(others, p)
		}
	}
	say := asideNotes(reported, nil)
	if len(damaged) > 0 {
		say = append(say, "Searched only up to where it is damaged: "+bounded(damaged, ", ", maxListed)+".")
	}
	if len(others) > 0 {
		say = append(say, "Not searched: "+namely(others)+".")
	}
	return say
}

// shown says what of all that matches is shown, and which calls show more.
func (g *grepping) shown(n, unlisted int) []string {
	var say []string
	next := g.params.Offset + n
	if g.query.Archived {
		say = append(say, "Only archived conversations match.")
	}
	if plain := g.query.Pattern; plain != g.params.Pattern {
		say = append(say, "Searched for "+text.Quote(plain)+", without escapes.")
	}
	if g.isApart() {
		quoted := make([]string, len(g.words))
		for i, word := range g.words {
			quoted[i] = text.Quote(word)
		}
		note := fmt.Sprintf("No line contains %s as it stands. %s %s apart from one another",
			text.Quote(g.params.Pattern), count(g.found.Total, "event has", "events have"), join(quoted, "and"))
		if g.found.Total > 1 {
			note += ", closest first"
		}
		say = append(say, note+".")
	}
	if g.query.Any {
		say = append(say, "Lines with any of: "+g.counts()+".")
	}
	if next < g.ordered.total && !g.isApart() {
		shown := 0
		for _, p := range g.page[:n] {
			shown += max(p.event.lines[p.line].times, 1)
		}
		say = append(say, fmt.Sprintf("%d of %d matches.", shown, g.found.Total))
	}
	switch event := g.withMore(n); {
	case next < g.ordered.total && g.params.Event != nil && next >= len(g.ordered.places):
		say = append(say, "offset reaches no further: a longer pattern matches fewer lines.")
	case next < g.ordered.total:
		note := fmt.Sprintf("offset=%d shows the next", next)
		if g.saidIsSooner(n) {
			note += `; scopes=["user","assistant"] leaves out reasoning and tool traffic`
		}
		say = append(say, note+".")
	case event != nil && event.number > 0:
		say = append(say, fmt.Sprintf("more counts others of an event: ids=%s, event=%d shows all %d.", list([]string{string(g.ordered.ids[event.conversation])}), event.number, event.matches))
	}
	if e := g.long(n); e != nil {
		say = append(say, fmt.Sprintf("Event %d is long: ids=%s, event=%d, context=3 shows these places.", e.number, list([]string{string(g.ordered.ids[e.conversation])}), e.number))
	}
	if unlisted > 0 {
		say = append(say, fmt.Sprintf("%s not listed.", count(unlisted, "more conversation that matches is", "more conversations that match are")))
	}
	if a := g.archived; a != nil {
		say = append(say, fmt.Sprintf("Archived: %s, %s.", count(a.found, "match", "matches"), a.call))
	}
	return say
}

// longEvent is how many characters of an event are worth a search of it in place of
// reading it.
const longEvent = 4000

// long is the first event of n lines of the page, shown without context, that is a
// longEvent; nil where there is none.
func (g *grepping) long(n int) *candidate {
	if g.params.Context > 0 || g.params.Event != nil || g.isApart() {
		return nil
	}
	for _, p := range g.page[:n] {
		if g.texts[p.event].Chars >= longEvent {
			return p.event
		}
	}
	return nil
}

// saidIsSooner reports whether with scopes=["user","assistant"] something would be shown
// that a later page has, in place of reasoning and tool traffic.
func (g *grepping) saidIsSooner(n int) bool {
	next := min(g.params.Offset+n, len(g.ordered.places))
	return len(g.params.Scopes) == 0 && g.params.Event == nil &&
		slices.ContainsFunc(g.page[:n], func(p place) bool {
			return p.event.scope&(transcript.ScopeReasoning|transcript.ScopeTool) != 0
		}) &&
		slices.ContainsFunc(g.ordered.places[next:], func(p place) bool {
			return p.event.scope&(transcript.ScopeUser|transcript.ScopeAssistant) != 0
		})
}

// leftOut says what was not searched, and how it is.
func (g *grepping) leftOut() []string {
	var left []string
	if note := g.currentLeftOut(); note != "" {
		left = append(left, note)
	}
	if n := g.searched.own; n > 0 {
		what := count(n, "match", "matches")
		if g.searched.ownEvents {
			what = count(n, "event that holds the words", "events that hold the words")
		}
		left = append(left, what+` in calls and results of these tools (scopes=["recall"] searches them)`)
	}
	if len(left) == 0 {
		return nil
	}
	return []string{"Left out: " + strings.Join(left, "; ") + "."}
}

// currentLeftOut names the current conversation, where it was left out, and those that
// belong to it; empty where none was.
func (g *grepping) currentLeftOut() string {
	id := transcript.ID(g.call.Context.ConversationID)
	var kin []string
	for _, other := range g.searched.aside.Excluded {
		if other != id {
			kin = append(kin, string(other))
		}
	}
	what, they := "the current conversation, "+string(id), "it"
	switch {
	case len(g.searched.aside.Excluded) == 0:
		return ""
	case len(kin) == len(g.searched.aside.Excluded): // it is not recorded here
		what, they = "what belongs to the current conversation, "+string(id)+": "+bounded(kin, ", ", maxListed), "them"
	case len(kin) > 0:
		what, they = what+", and what belongs to it: "+bounded(kin, ", ", maxListed), "them"
	}
	return what + " (include_current=true searches " + they + " too)"
}

// nothingFound says what was searched for and where, and which calls find something.
func (g *grepping) nothingFound() []string {
	p, in := g.params, g.searched
	var say []string
	if in.live == 0 && in.archived == 0 {
		say = append(say, g.nothingSearched())
	} else {
		how := "in any case"
		if !p.IgnoreCase {
			how = "in exactly this case"
		}
		where := "any scope"
		if len(p.Scopes) > 0 {
			where = "scopes=" + list(p.Scopes)
		}
		if p.Event != nil {
			where = fmt.Sprintf("event %d", *p.Event)
		}
		note := fmt.Sprintf("No line contains %s, %s, in %s", text.Quote(p.Pattern), how, where)
		switch {
		case in.live >= 0 && in.archived > 0:
			note += fmt.Sprintf(" of the %d live and %s searched", in.live, count(in.archived, "archived conversation", "archived conversations"))
		case in.live > 0:
			note += " of the " + count(in.live, "conversation", "conversations") + " searched"
		}
		if len(g.words) > 0 && eitherOf(p.Pattern) == nil {
			note += ", and no event holds all of its words: " + g.counts()
		}
		say = append(say, note+".")
	}
	if len(g.together) > 0 {
		ids := make([]string, len(g.together))
		for i, id := range g.together {
			ids[i] = string(id)
		}
		say = append(say, "In different events all of them stand in "+bounded(ids, ", ", maxListed)+".")
	}
	advice := slices.Clone(g.elsewhere)
	if g.fewer != nil {
		advice = append(advice, *g.fewer)
	}
	if isRegexp(p.Pattern) {
		note := "The pattern is taken literally"
		if len(g.nowhere) > 0 && len(g.nowhere)+len(g.literal) > 1 {
			note += "; nothing is found for " + join(g.nowhere, "or") + " either"
		}
		say = append(say, note+".")
	}
	for _, a := range g.literal {
		if !slices.Contains(advice, a) {
			advice = append(advice, a)
		}
	}
	for _, a := range advice {
		say = append(say, a.String()+".")
	}
	if len(advice) == 0 && p.Event == nil && in.live+in.archived != 0 {
		say = append(say, "conversation_list with outline=true shows how each request of the user begins.")
	}
	return say
}

func (g *grepping) nothingSearched() string {
	p := g.params
	switch {
	case len(p.IDs) > 0 && len(p.Sources) > 0:
		return "Nothing was searched: ids names no conversations" + ofSources(p.Sources) + "."
	case len(g.searched.aside.Excluded) > 0 && len(p.IDs) > 0:
		return "Nothing was searched: ids names the current conversation alone."
	case len(g.searched.aside.Excluded) > 0:
		return "Nothing was searched: there is no other live conversation."
	case len(g.searched.aside.Problems) == 0:
		return "Nothing was searched: there are no live conversations" + ofSources(p.Sources) + " here, hidden ones aside."
	default:
		return "Nothing was searched."
	}
}

// counts is how many events hold each word.
func (g *grepping) counts() string {
	counts := make([]string, len(g.holding))
	for i, n := range g.holding {
		counts[i] = text.Quote(g.words[i]) + " " + count(n, "event", "events")
	}
	return strings.Join(counts, ", ")
}
