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

func openerKey(begin string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(begin)))
	return hex.EncodeToString(sum[:8])
}

// title returns what a conversation is called that begins with a request.
func (o openers) title(request string) string {
	title := strings.ReplaceAll(request, "\n", " ")
	if begin, rest := opener(request); begin != "" && o[openerKey(begin)] {
		title = rest
	}
	return text.Cut(title, maxTitle)
}

// add adds the openers that many conversations of a list share.
func (o openers) add(list []store.Conversation) {
	found := map[string][]string{} // what follows
	for i := range list {
		c := &list[i]
		if c.Title != "" {
			continue
		}
		begin, rest := opener(c.Request)
		if begin == "" {
			continue
		}
		key := openerKey(begin)
		if rests := found[key]; len(rests) < manyShare && !slices.Contains(rests, rest) {
			found[key] = append(rests, rest)
		}
	}
	for key, rests := range found {
		if len(rests) == manyShare {
			o[key] = true
		}
	}
}

// list returns the openers for an index to keep.
func (o openers) list() []string {
	all := slices.Sorted(maps.Keys(o))
	return all[:min(len(all), maxOpeners)]
}

// openers returns those that the index of a store knows, and whether there is one. What it
// knows it keeps: else a title would change with how much of the store is listed.
func (l *Library) openers(s store.Store) (openers, bool) {
	known := openers{}
	view, err := l.indexes.of(s).View()
	if err != nil {
		return known, false
	}
	note, ok := noteOf(view)
	for _, key := range note.Openers {
		known[key] = true
	}
	return known, ok
}

// entitle gives the conversations that a store lists and that have no title of their own one,
// and returns the openers that these are without.
func (l *Library) entitle(s store.Store, list []store.Conversation) openers {
	untitled := 0
	for i := range list {
		if c := &list[i]; c.Title == "" && c.Request != "" {
			untitled++
		}
	}
	shared, _ := l.openers(s)
	if untitled == 0 {
		return shared
	}
	shared.add(list)
	for i := range list {
		if c := &list[i]; c.Title == "" {
			c.Title = shared.title(c.Request)
		}
	}
	return shared
}

// entitleOne gives a conversation of a store that was not listed its title.
func (o *asking) entitleOne(ctx context.Context, s store.Store, c *store.Conversation) {
	if c.Title != "" || c.Request == "" {
		return
	}
	shared, indexed := o.library.openers(s)
	if begin, _ := opener(c.Request); begin != "" && !indexed {
		// Where it cannot be listed, the title is the whole beginning.
		list, _, _ := o.listed.list(ctx, s, store.Scope{Set: store.Live | store.Archived})
		shared.add(list)
	}
	c.Title = shared.title(c.Request)
}
