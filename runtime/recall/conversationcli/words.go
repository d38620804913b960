package conversationcli

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
)

// maxCounted bounds the words of a query that are counted if it finds nothing.
const maxCounted = 8

// countWords counts the events that have each word of a query.
func countWords(ctx context.Context, library *conversations.Library, q conversations.SearchQuery, query string, ignoreCase bool) (words []conversations.Word, err error) {
	fields := strings.Fields(query)
	for _, word := range fields[:min(len(fields), maxCounted)] {
		if word = strings.TrimFunc(word, unicode.IsPunct); word == "" {
			continue
		}
		q.Pattern = excerpt.Literal(word, ignoreCase)
		found, err := library.Search(ctx, q)
		if err != nil {
			return nil, err
		}
		n := found.Total
		if q.Order == conversations.ByConversation { // the total is of lines
			n = len(slices.DeleteFunc(found.Hits, func(h conversations.Hit) bool { return h.Number == 0 }))
		}
		words = append(words, conversations.Word{Word: word, Events: n})
	}
	return words, nil
}

// explainWords notes how often the words of a query that found nothing occur, and what to try.
func (c *commands) explainWords(words []conversations.Word, try ...string) {
	var there, near []string
	for _, w := range words {
		switch {
		case w.Events > 0:
			there = append(there, text.Quote(w.Word)+" in "+plural(w.Events, "event"))
		case w.Near != "":
			near = append(near, text.Quote(w.Near)+" for "+text.Quote(w.Word))
		}
	}
	if len(there) > 0 {
		c.note("occurs: %s", strings.Join(there, ", "))
	}
	c.noteMissing(words)
	c.note("hint: try %s", strings.Join(filled(append(near, try...)...), ", "))
}

// noteMissing notes the words of a query that no event has.
func (c *commands) noteMissing(words []conversations.Word) {
	var missing []string
	for _, w := range words {
		if w.Events == 0 {
			missing = append(missing, text.Quote(w.Word)+either(w.Near == "", "", " (near: "+text.Quote(w.Near)+")"))
		}
	}
	if len(missing) > 0 {
		c.note("occurs nowhere: %s", strings.Join(missing, ", "))
	}
}

// without returns "without --x" for each flag that was given and narrows a search.
func without(flags *pflag.FlagSet) (try []string) {
	flags.Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"label", "role", "scope", "since", "source", "until"}, f.Name) {
			try = append(try, "without --"+f.Name)
		}
	})
	return try
}
