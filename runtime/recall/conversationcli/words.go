package conversationcli

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
)

// What is counted of a text that nothing has: so many of its words, for so long at most.
const (
	maxCounted = 8
	countFor   = 2 * time.Second
)

// countWords counts the events that have each word of a text that a query found nowhere. Of
// words that no event has it finds near spellings.
func (c *commands) countWords(ctx context.Context, library *conversations.Library, q conversations.SearchQuery, said string, ignoreCase bool) ([]conversations.Word, error) {
	counting, cancel := context.WithTimeout(ctx, countFor)
	defer cancel()
	ranked := q
	ranked.Question, ranked.Pattern, ranked.Order, ranked.Limit = strings.ReplaceAll(said, `"`, " "), nil, conversations.Relevance, 1
	known, err := library.Search(counting, ranked)
	var words []conversations.Word
	fields := strings.Fields(said)
	for _, word := range fields[:min(len(fields), maxCounted)] {
		if word = strings.TrimFunc(word, unicode.IsPunct); err != nil || word == "" {
			continue
		}
		w := conversations.Word{Word: word}
		if i := slices.IndexFunc(known.Words, func(w conversations.Word) bool { return w.Word == word }); i >= 0 {
			w.Near = known.Words[i].Near
		}
		var found *conversations.Results
		q.Pattern = excerpt.Literal(word, ignoreCase)
		if found, err = library.Search(counting, q); err == nil {
			w.Events = found.Total
			if q.Order == conversations.ByConversation { // else lines are counted
				w.Events = len(slices.DeleteFunc(found.Hits, func(h conversations.Hit) bool { return h.Number == 0 }))
			}
			words = append(words, w)
		}
	}
	if ctx.Err() == nil && counting.Err() != nil {
		err = nil
	}
	return words, err
}

// explainWords says how often the words of a search that found nothing occur, and what may
// find something.
func (c *commands) explainWords(words []conversations.Word, try ...string) {
	var there []string
	for _, w := range words {
		switch {
		case w.Events > 0:
			there = append(there, text.Quote(w.Word)+" in "+plural(w.Events, "event"))
		case w.Near != "":
			try = append([]string{text.Quote(w.Near) + " for " + text.Quote(w.Word)}, try...)
		}
	}
	if len(there) > 0 {
		c.note("occurs: %s", strings.Join(there, ", "))
	}
	if len(words) > 0 {
		c.noteWords(words)
	}
	c.note("hint: try %s", strings.Join(filled(try...), ", "))
}

// without names the flags of a search that were given and leave something out.
func without(flags *pflag.FlagSet) (try []string) {
	flags.Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"label", "role", "scope", "since", "source", "until"}, f.Name) {
			try = append(try, "without --"+f.Name)
		}
	})
	return try
}
