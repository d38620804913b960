package index

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/index/terms"
)

const (
	catalogFile = "catalog"
	segmentExt  = ".seg"
)

// The sections of a catalog.
const (
	secContents      = iota // JSON of the contents
	secConversations        // records of conversations, sorted by their keys
	secKept                 // other data of the caller
)

// catalog is a committed state of an index: its conversations and the names of its segments.
type catalog struct {
	footer
	contents
	Conversations []*Conversation // sorted by their keys; not to be changed
	Kept          []byte          // data that the caller passed to Commit; not to be changed
	size          int64
}

// contents are the part of a catalog that is stored as JSON.
type contents struct {
	Language terms.Language
	Part     uint32 // the number of the next part
	State    State
	Segments []named
}

// State describes the index as a whole, as passed to Commit.
type State struct {
	Note    string // any text
	Updated int64  // Unix time
}

// named is a segment in a catalog.
type named struct {
	Number uint64 // random, so that no other file ever has the name
	Sum    uint32 // of its footer
	Text   int64  // bytes of the messages
}

func (n *named) file() string { return fmt.Sprintf("%016x", n.Number) + segmentExt }

// readCatalog reads the catalog of an index. If it is damaged or of another language, the error is a [*DamageError].
func readCatalog(f *file, language terms.Language) (*catalog, error) {
	c := &catalog{footer: f.footer, size: int64(f.content.Len())}
	return c, guard(func() error {
		if err := json.Unmarshal(f.all(secContents), &c.contents); err != nil {
			return f.damage(err)
		}
		if cmp.Or(c.Language, terms.English) != cmp.Or(language, terms.English) {
			return f.damage(errLanguage)
		}
		r := reader{f.all(secConversations), true}
		for len(r.rest) > 0 {
			next := readRecord(&r)
			next.number = uint32(len(c.Conversations)) //nolint:gosec // a count
			c.Conversations = append(c.Conversations, next)
		}
		if !r.ok {
			f.malformed()
		}
		c.Kept = f.all(secKept)
		return nil
	})
}

// write replaces the catalog in a directory by one with the contents, the conversations and other data of the caller.
func (c *contents) write(files directory, conversations map[string]*Conversation, kept []byte) error {
	about, err := json.Marshal(c)
	if err != nil {
		return err
	}
	var records []byte
	for _, key := range slices.SortedFunc(maps.Keys(conversations), compareKeys) {
		records = conversations[key].appendRecord(records)
	}
	var b fileBuilder
	b.add(secContents, about)
	b.add(secConversations, records)
	b.add(secKept, kept)
	data, _ := b.finish()
	return files.write(catalogFile, data)
}

// Lookup returns the conversation with a key, or nil. The conversation must not be changed.
func (c *catalog) Lookup(key string) *Conversation {
	i, ok := sort.Find(len(c.Conversations), func(i int) int { return compareKeys(key, c.Conversations[i].Key) })
	if !ok {
		return nil
	}
	return c.Conversations[i]
}

// sweep removes the files of segments that the catalog does not name, and the temporary files of writers that were
// killed. It ignores errors: the next writer tries again.
func (c *contents) sweep(files directory) {
	names, _ := files.names()
	for _, name := range names {
		isNamed := slices.ContainsFunc(c.Segments, func(n named) bool { return n.file() == name })
		if !isNamed && (strings.HasSuffix(name, segmentExt) || safefile.Temporary(name)) {
			_ = files.remove(name)
		}
	}
}
