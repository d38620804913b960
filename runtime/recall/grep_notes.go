package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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
	kin := slices.DeleteFunc(slices.Clone(excluded), func(other transcript.ID) bool { return other == id })
	what, they := "the current conversation, "+string(id), "them"
	switch {
	case len(kin) == 0:
		they = "it"
	case len(kin) == len(excluded): // it is not recorded here
		what = "what belongs to the current conversation, " + string(id) + ": " + bounded(names(kin), ", ", maxListed)
	default:
		what += ", and what belongs to it: " + bounded(names(kin), ", ", maxListed)
	}
	if len(excluded) > 0 {
		left = append(left, what+" (include_current=true searches "+they+" too)")
	}
	if n := g.found.Own; n > 0 {
		left = append(left, text.Count(n, "match", "matches")+` in calls and results of these tools (scopes=["recall"] searches them)`)
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
