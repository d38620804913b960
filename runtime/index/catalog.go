package index

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sort"
	"strconv"
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
	secConversations        // records of conversations, by their keys
	secKept                 // whatever else is kept
)

// catalog is the last whole state of an index: its conversations, and its segments.
type catalog struct {
	footer
	contents
	conversations []*Conversation // by their keys
	kept          []byte
	size          int64
}

// contents is what a catalog has beside conversations.
type contents struct {
	Language terms.Language
	Sequence int    // of the next segment
	Part     uint32 // the next one
	State    State
	Segments []*named
}

// State is what is said of an index as a whole by who writes it.
type State struct {
	Note    string // whatever there is to say
	Updated int64  // Unix time
}

// named is a segment in a catalog.
type named struct {
	File string
	Sum  uint32 // of its footer
	Text int64  // bytes of the messages
}

// readCatalog reads a catalog of an index in a language.
func readCatalog(f *file, language terms.Language) (*catalog, error) {
	c := &catalog{footer: f.footer, size: int64(f.content.Len())}
	return c, guard(func() error {
		if err := json.Unmarshal(f.all(secContents), &c.contents); err != nil {
			return f.damage(err)
		}
		if cmp.Or(c.Language, terms.English) != cmp.Or(language, terms.English) {
			return f.damage(errLanguage)
		}
		for _, s := range c.Segments {
			if s == nil || sequenceOf(s.File) < 0 {
				f.malformed()
			}
		}
		r := reader{f.all(secConversations), true}
		for len(r.rest) > 0 {
			next := readRecord(&r)
			next.number = uint32(len(c.conversations)) //nolint:gosec // a count
			c.conversations = append(c.conversations, next)
		}
		if !r.ok {
			f.malformed()
		}
		c.kept = f.all(secKept)
		return nil
	})
}

// write replaces the catalog in a directory.
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

// find returns the conversation with a key, or nil.
func (c *catalog) find(key string) *Conversation {
	i, ok := sort.Find(len(c.conversations), func(i int) int { return compareKeys(key, c.conversations[i].Key) })
	if !ok {
		return nil
	}
	return c.conversations[i]
}

func segmentName(sequence int) string { return fmt.Sprintf("%08d", sequence) + segmentExt }

// sequenceOf returns the number in the name of a segment; below 0 where it is no such name.
func sequenceOf(name string) int {
	digits, ok := strings.CutSuffix(name, segmentExt)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || segmentName(n) != name {
		return -1
	}
	return n
}

// sweep removes segments that a catalog does not name, and what was left over by writers that
// were killed. What cannot be removed is in nobody's way, and left to the next one.
func (c *contents) sweep(files directory) {
	names, _ := files.names()
	for _, name := range names {
		isNamed := slices.ContainsFunc(c.Segments, func(s *named) bool { return s.File == name })
		if !isNamed && (sequenceOf(name) >= 0 || safefile.Temporary(name)) {
			_ = files.remove(name)
		}
	}
}

// isUnusable reports whether an error says that there is no index to be used.
func isUnusable(err error) bool {
	var damage *DamageError
	return errors.Is(err, fs.ErrNotExist) || errors.As(err, &damage)
}
