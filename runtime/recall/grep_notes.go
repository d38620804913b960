package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/transcript"
)

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
		if err == nil {
			found.Close()
		}
		if counting.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		events := 0
		for i := range found.Hits {
			if found.Hits[i].Scope != transcript.ScopeTitle {
				events++
			}
		}
		g.words = append(g.words, text.Quote(word)+" "+count(events, "event", "events"))
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
		found = []string{fmt.Sprintf("offset=%d is past the last of the %s that can be shown; offset=%d shows the last.", g.offset, count(len(g.order), "line", "lines"), len(g.order)-1)}
	default:
		found = g.shown(n)
	}
	wrong := append(remarks(g.call), notSearched(g.found.Aside.Problems)...)
	var notes []string
	for _, sentences := range [][]string{found, g.leftOut(), wrong} {
		if len(sentences) > 0 {
			notes = append(notes, strings.Join(sentences, " "))
		}
	}
	return notes
}

// shown says what of all that matches is shown, and which calls show more.
func (g *grepping) shown(n int) []string {
	var say []string
	if next := g.offset + n; next < len(g.order) {
		note := fmt.Sprintf("%d of %d matches. offset=%d shows the next", n, g.found.Total, next)
		isSaid := func(l *grepLine) bool { return classOf(l.hit.Scope) == classSaid }
		isOther := func(l *grepLine) bool { return classOf(l.hit.Scope) > classTitle }
		if len(g.params.Scopes) == 0 && g.params.Event == nil && slices.ContainsFunc(g.page[:n], isOther) && slices.ContainsFunc(g.order[next:], isSaid) {
			note += `; scopes=["user","assistant"] leaves out reasoning and tool traffic`
		}
		say = append(say, note+".")
	} else if i := slices.IndexFunc(g.page[:n], func(l *grepLine) bool { return l.more > 0 && l.hit.Number > 0 }); i >= 0 {
		h := g.page[i].hit
		if g.params.Event != nil {
			say = append(say, fmt.Sprintf("Only the first %s matching lines of the event are looked at: a longer pattern matches fewer.", text.Number(maxReach)))
		} else {
			say = append(say, fmt.Sprintf("more counts others of an event: ids=%s, event=%d shows all %d.", list([]string{string(h.Conversation.ID)}), h.Number, h.Lines))
		}
	}
	if g.context < given(g.params.Context) {
		say = append(say, "The lines around it are too long for an answer.")
	}
	return say
}

// leftOut says what was not searched, and how it is.
func (g *grepping) leftOut() []string {
	var left, kin []string
	id := transcript.ID(g.call.Context.ConversationID)
	excluded := g.found.Aside.Excluded
	for _, other := range excluded {
		if other != id {
			kin = append(kin, string(other))
		}
	}
	what, they := "the current conversation, "+string(id), "them"
	switch {
	case len(kin) == 0:
		they = "it"
	case len(kin) == len(excluded): // it is not recorded here
		what = "what belongs to the current conversation, " + string(id) + ": " + bounded(kin, ", ", maxListed)
	default:
		what += ", and what belongs to it: " + bounded(kin, ", ", maxListed)
	}
	if len(excluded) > 0 {
		left = append(left, what+" (include_current=true searches "+they+" too)")
	}
	if n := g.found.Own; n > 0 {
		left = append(left, count(n, "match", "matches")+` in calls and results of these tools (scopes=["recall"] searches them)`)
	}
	if len(left) == 0 {
		return nil
	}
	return []string{"Left out: " + strings.Join(left, "; ") + "."}
}

// nothingFound says what was searched for and where, and what may find something.
func (g *grepping) nothingFound() []string {
	p := g.params
	if g.found.Searched == 0 {
		return []string{g.nothingSearched()}
	}
	holds, how, where := "contains", "in any case", "any scope"
	if given(p.Regex) {
		holds = "matches the regular expression"
	}
	if !p.IgnoreCase {
		how = "in exactly this case"
	}
	if len(p.Scopes) > 0 {
		where = "scopes=" + list(p.Scopes)
	}
	if p.Event != nil {
		where = fmt.Sprintf("event %d", *p.Event)
	}
	say := []string{fmt.Sprintf("No line %s %s, %s, in %s of the %s%s searched.",
		holds, text.Quote(clip(p.Pattern, maxQuoted)), how, where, count(g.found.Searched, "conversation", "conversations"), ofSources(p.Sources))}
	if len(g.words) > 0 {
		say = append(say, "Of its words: "+strings.Join(g.words, ", ")+".")
	}
	if !given(p.Regex) && strings.ContainsAny(p.Pattern, `|*\^$`) {
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
	case len(aside.Excluded) > 0 && len(p.IDs) > 0:
		why = ": ids names the current conversation alone"
	case len(aside.Excluded) > 0:
		why = ": there is no other live conversation"
	case len(aside.Problems) == 0:
		why = ": there are no live conversations" + ofSources(p.Sources) + " here, hidden ones aside"
	}
	return "Nothing was searched" + why + "."
}
