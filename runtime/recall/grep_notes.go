package recall

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// notes are at most three: what was found and which call shows more of it; what was
// left out; what is not as it should be.
func (g *grepping) notes(e *conversation.GrepEnvelope, unlisted int) []string {
	var found []string
	switch {
	case g.ordered == nil:
		found = g.nothingFound()
	case e.Returned == 0:
		found = []string{fmt.Sprintf("offset=%d is past the last of the %s that can be shown; offset=%d shows the last.", g.params.Offset, count(len(g.ordered.places), "line", "lines"), len(g.ordered.places)-1)}
	default:
		found = g.shown(e, unlisted)
	}
	wrong := append(remarks(g.call), notSearched(g.first.Aside.Problems)...)
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
		say = append(say, "Not searched: "+namely(others, "")+".")
	}
	return say
}

// shown says what of all that matches is shown, and which calls show more.
func (g *grepping) shown(e *conversation.GrepEnvelope, unlisted int) []string {
	var say []string
	next := g.params.Offset + e.Returned
	if len(g.words) > 0 {
		quoted := make([]string, len(g.words))
		for i, word := range g.words {
			quoted[i] = text.Quote(word)
		}
		note := fmt.Sprintf("No line contains %s as it stands. %s %s apart from one another",
			text.Quote(g.params.Pattern), count(g.apart.Total, "event has", "events have"), join(quoted, "and"))
		if g.apart.Total > 1 {
			note += ", closest first"
		}
		say = append(say, note+".")
	}
	if next < g.ordered.total {
		note := fmt.Sprintf("offset=%d shows the next", next)
		if len(g.words) == 0 {
			note = fmt.Sprintf("%d of %d matches. ", e.Returned, e.Matches) + note
		}
		if g.chatIsSooner(e.Returned) {
			note += `; scopes=["chat"] leaves out tool traffic`
		}
		say = append(say, note+".")
	}
	if event := g.withMore(e.Returned); event != nil && event.number > 0 {
		say = append(say, fmt.Sprintf("more: ids=%s, event=%d shows all %d of that event.", list([]string{string(g.ordered.ids[event.conversation])}), event.number, event.matches))
	}
	if unlisted > 0 {
		say = append(say, fmt.Sprintf("%s not listed.", count(unlisted, "more conversation that matches is", "more conversations that match are")))
	}
	return say
}

// chatIsSooner reports whether with scopes=["chat"] something would be shown in place
// of tool traffic that a later page has.
func (g *grepping) chatIsSooner(n int) bool {
	next := min(g.params.Offset+n, len(g.ordered.places))
	return len(g.params.Scopes) == 0 && g.params.Event == nil &&
		slices.ContainsFunc(g.page[:n], func(p place) bool { return p.event.scope&transcript.ScopeTool != 0 }) &&
		slices.ContainsFunc(g.ordered.places[next:], func(p place) bool { return p.event.scope&transcript.ScopeChat != 0 })
}

// leftOut says what was not searched, and how it is.
func (g *grepping) leftOut() []string {
	var left []string
	if len(g.first.Aside.Excluded) > 0 {
		left = append(left, "the current conversation, "+g.call.Context.ConversationID+" (include_current=true searches it too)")
	}
	what := count(g.first.Own, "match", "matches")
	if g.first.Own == 0 {
		what = count(g.apart.Own, "event that holds the words", "events that hold the words")
	}
	if g.first.Own > 0 || g.apart.Own > 0 {
		left = append(left, what+` in calls and results of these tools (scopes=["recall"] searches them)`)
	}
	if len(left) == 0 {
		return nil
	}
	return []string{"Left out: " + strings.Join(left, "; ") + "."}
}

// nothingFound says what was searched for and where, and which calls find something.
func (g *grepping) nothingFound() []string {
	searched := g.first.Searched
	if searched == 0 {
		say := []string{g.nothingSearched()}
		return append(say, g.found()...)
	}
	var say []string
	p := g.params
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
	if searched > 0 {
		note += " of the " + count(searched, "conversation", "conversations") + " searched"
	}
	if len(g.words) > 0 {
		note += ", and no event holds all of its words: " + g.counts()
	}
	say = append(say, note+".")
	if len(g.apart.Together) > 0 {
		ids := make([]string, len(g.apart.Together))
		for i, id := range g.apart.Together {
			ids[i] = string(id)
		}
		say = append(say, "In different events all of them stand in "+bounded(ids, ", ", maxListed)+".")
	}
	try := g.worthATry()
	if try != "" {
		say = append(say, try)
	}
	if found := g.found(); len(found) > 0 {
		return append(say, found...)
	}
	if try == "" && p.Event == nil {
		say = append(say, "conversation_list with outline=true shows how each request of the user begins.")
	}
	return say
}

func (g *grepping) nothingSearched() string {
	p := g.params
	switch {
	case len(g.first.Aside.Excluded) > 0 && len(p.IDs) > 0:
		return "Nothing was searched: ids names the current conversation alone."
	case len(g.first.Aside.Excluded) > 0:
		return "Nothing was searched: there is no other live conversation."
	case len(g.first.Aside.Problems) == 0:
		return "Nothing was searched: there are no live conversations here, hidden ones aside."
	default:
		return "Nothing was searched."
	}
}

// counts is how many events hold each word.
func (g *grepping) counts() string {
	counts := make([]string, len(g.apart.Words))
	for i, n := range g.apart.Words {
		counts[i] = text.Quote(g.words[i]) + " " + count(n, "event", "events")
	}
	return strings.Join(counts, ", ")
}

// A pattern is worth a try that few events hold, and that is short enough to be
// repeated.
const (
	maxTried  = 80 // characters
	maxCommon = 40 // events
)

// worthATry is the advice to look for fewer words, or for the most telling one: rare
// and long. It is empty where none of them is worth a try.
func (g *grepping) worthATry() string {
	words, events := g.fewer.words, g.fewer.events
	for i, n := range g.apart.Words {
		word := g.words[i]
		if n > 0 && g.fewer.events == 0 && (words == nil || n*square(words[0]) < events*square(word)) {
			words, events = []string{word}, n
		}
	}
	pattern := strings.Join(words, " ")
	if events == 0 || events > maxCommon || utf8.RuneCountInString(pattern) > maxTried {
		return ""
	}
	return fmt.Sprintf("Try pattern=%s: %s.", strconv.Quote(pattern), count(events, "event", "events"))
}

func square(word string) int { return len(word) * len(word) }

// found says what calls a little wider than this one find.
func (g *grepping) found() []string {
	var say []string
	for _, e := range g.elsewhere {
		what := count(e.matches, "match", "matches")
		if len(g.words) > 0 {
			what = count(e.matches, "event", "events")
		}
		if e.ids == nil {
			say = append(say, e.change+": "+what+".")
			continue
		}
		say = append(say, fmt.Sprintf("In archived conversations: %s, ids=%s.", what, list(e.ids)))
	}
	return say
}
