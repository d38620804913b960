package conversations

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/secret"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
)

// The title of a conversation is its own title, else a summary that its program recorded: the store sets both.
// Otherwise it is the first request, without an opener that many conversations of the store share: "Implement the
// following plan:" says nothing about the plan. The index keeps the openers, so that a title does not depend on how
// much of the store is listed.

const (
	maxTitle  = 100 // the number of characters of a request in a title
	manyShare = 3   // the number of different requests that make their common beginning an opener
	// maxOpener is the most bytes of an opener. leastWords is the least number of words of an opener that ends inside
	// a line: "uploads: retry" is about uploads.
	maxOpener, leastWords = 200, 3
	maxOpeners            = 200 // the number of openers in an index
)

// opener splits a request of [store.Request] into a beginning, which many requests may share, and the rest. The
// beginning ends with a colon and a space in the first line, if there are leastWords words before them; otherwise it is
// the first line. If the rest is empty or the beginning too long, both texts are empty.
func opener(request string) (begin, rest string) {
	line, more, _ := strings.Cut(request, "\n")
	if part, after, ok := strings.Cut(line, ": "); ok && len(strings.Fields(part)) >= leastWords {
		begin, rest = part+":", after+" "+more
	} else {
		begin, rest = line, more
	}
	if rest = strings.TrimSpace(rest); rest == "" || len(begin) > maxOpener {
		return "", ""
	}
	return begin, rest
}

// openers are the openers that many requests share, by the hash of the opener: an index does not keep their text.
type openers map[string]bool

// openersOf returns the openers, the beginnings that many requests share, in the note of an index.
func openersOf(note *indexNote) openers {
	o := openers{}
	for _, key := range note.Openers {
		o[key] = true
	}
	return o
}

// openerKey returns the hash of an opener, which is the same for upper and lower case.
func openerKey(begin string) string { return shortHash(strings.ToLower(begin)) }

// setTitles sets the title of each conversation in a list that has no title. The title is the conversation's request,
// without secrets, and without an opener in o: a beginning that many requests share.
func (o openers) setTitles(list []store.Conversation) {
	for i := range list {
		c := &list[i]
		if c.Title != "" {
			continue
		}
		title := strings.ReplaceAll(c.Request, "\n", " ")
		if begin, rest := opener(c.Request); begin != "" && o[openerKey(begin)] {
			title = rest
		}
		c.Title = text.Cut(string(secret.Mask([]byte(title))), maxTitle) // masked first: Mask does not know a part of a secret
	}
}

// addShared adds to o the openers that many different requests in a list begin with.
func (o openers) addShared(list []store.Conversation) {
	found := map[string][]string{} // the different rests of requests, by opener
	for i := range list {
		begin, rest := opener(list[i].Request)
		if begin == "" {
			continue
		}
		key := openerKey(begin)
		if rests := found[key]; len(rests) < manyShare && !slices.Contains(rests, rest) {
			found[key] = append(rests, rest)
		}
		if len(found[key]) == manyShare {
			o[key] = true
		}
	}
}

// sorted returns the hashes of openers that an index keeps.
func (o openers) sorted() []string {
	keys := slices.Sorted(maps.Keys(o))
	return keys[:min(len(keys), maxOpeners)]
}

// addTitles makes the request of each listed conversation that has no title its title, without an opener: a beginning
// that many requests share. It takes openers from the index and the list. If the list has only named conversations and
// there is no index, it takes openers from the whole store. The request of a conversation that has a title is removed:
// it adds no opener.
func (l *lists) addTitles(ctx context.Context, s *source, list []store.Conversation, isNamed bool) {
	for i := range list {
		if list[i].Title != "" {
			list[i].Request = ""
		}
	}
	note, isIndexed := s.open()
	shared := openersOf(&note)
	lacksTitle := func(c store.Conversation) bool { return c.Title == "" }
	if !isNamed {
		shared.addShared(list)
	} else if !isIndexed && slices.ContainsFunc(list, lacksTitle) {
		if listing, err := l.listing(ctx, s, everything); err == nil { // otherwise titles keep their openers
			shared.addShared(listing.Conversations)
		}
	}
	shared.setTitles(list)
}
