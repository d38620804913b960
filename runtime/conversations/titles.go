package conversations

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
)

// A conversation is called by its own title, else by a summary that its program recorded: both
// are up to its store. Else it is called by its first request, without an opener that many
// conversations of the store share: "Implement the following plan:" says nothing of the plan.
// Openers that the index of a store knows it keeps: else a title would change with how much of the
// store is listed.

const (
	// maxTitle is how many characters of a request are a title.
	maxTitle = 100
	// manyShare is how many requests that go on in different ways share an opener.
	manyShare = 3
	// maxOpener is how long an opener is at the most, in bytes, and leastWords how many words one
	// has that ends inside of a line: "uploads: retry" is about uploads.
	maxOpener, leastWords = 200, 3
	// maxOpeners is how many openers an index knows.
	maxOpeners = 200
)

// opener returns what a request, as [store.Request] makes it, may begin with instead of the
// matter, and what follows: the first line, or a part of it that ends with a colon. Both are empty where there is none.
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

// openers are those that many requests share, by their hashes: an index keeps them, and no text.
type openers map[string]bool

// openersOf returns the openers that an index knows.
func openersOf(note *indexNote) openers {
	o := openers{}
	for _, key := range note.Openers {
		o[key] = true
	}
	return o
}

func openerKey(begin string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(begin)))
	return hex.EncodeToString(sum[:8])
}

// entitle gives the conversations of a list that have no title one.
func (o openers) entitle(list []store.Conversation) {
	for i := range list {
		c := &list[i]
		if c.Title != "" {
			continue
		}
		title := strings.ReplaceAll(c.Request, "\n", " ")
		if begin, rest := opener(c.Request); begin != "" && o[openerKey(begin)] {
			title = rest
		}
		c.Title = text.Cut(title, maxTitle)
	}
}

// add adds the openers that many conversations of a list share.
func (o openers) add(list []store.Conversation) {
	found := map[string][]string{} // what follows
	for i := range list {
		begin, rest := opener(list[i].Request)
		if begin == "" || list[i].Title != "" {
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

// list returns the openers for an index to keep.
func (o openers) list() []string {
	all := slices.Sorted(maps.Keys(o))
	return all[:min(len(all), maxOpeners)]
}

// entitle gives the conversations that a store listed and that have no title of their own one.
func (a *asking) entitle(ctx context.Context, s *source, list []store.Conversation, isWhole bool) {
	note, isIndexed := s.open()
	shared := openersOf(&note)
	if isWhole {
		shared.add(list)
	} else if !isIndexed && slices.ContainsFunc(list, func(c store.Conversation) bool { return c.Title == "" }) {
		// Where it cannot be listed, a title is the whole beginning.
		all, _, _ := a.listed.list(ctx, s.Store, store.Scope{Set: store.Live | store.Archived})
		shared.add(all)
	}
	shared.entitle(list)
}
