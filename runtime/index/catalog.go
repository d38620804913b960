package index

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
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
	secContents   = iota // JSON of the contents
	secRecords           // records of conversations, by their keys
	secRecordEnds        // by conversation: where its record ends, uint64
	secParts             // parts of conversations, sorted: the number of the part, and below it that of its conversation, uint64
	secKept              // whatever else is kept
)

// catalog is the last whole state of an index: its conversations, and its segments.
type catalog struct {
	*file
	contents
	conversations uint32
	parts         []byte // secParts
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
	Size int64
	Sum  uint32 // of its footer
	Text int64  // bytes of the messages
}

// readCatalog reads the catalog in a directory of an index in a language.
func readCatalog(files directory, language terms.Language) (*catalog, error) {
	data, err := files.read(catalogFile)
	if err != nil {
		return nil, err
	}
	f, err := begin(catalogFile, data)
	if err != nil {
		return nil, err
	}
	c := &catalog{file: f}
	return c, guard(func() error {
		if err := json.Unmarshal(c.all(secContents), &c.contents); err != nil {
			return c.damage(err)
		}
		if cmp.Or(c.Language, terms.English) != cmp.Or(language, terms.English) {
			return c.damage(errLanguage)
		}
		for _, s := range c.Segments {
			if s == nil || sequenceOf(s.File) < 0 {
				c.malformed()
			}
		}
		c.conversations = c.count(secRecordEnds, 8)
		c.count(secParts, 8)
		c.parts = c.all(secParts)
		return nil
	})
}

// writeCatalog replaces the catalog in a directory.
func writeCatalog(files directory, c *contents, conversations map[string]*Conversation, kept []byte) error {
	about, err := json.Marshal(c)
	if err != nil {
		return err
	}
	var records, ends []byte
	var parts []uint64
	for n, key := range slices.SortedFunc(maps.Keys(conversations), compareKeys) {
		records = conversations[key].appendRecord(records)
		ends = binary.LittleEndian.AppendUint64(ends, uint64(len(records)))
		for _, part := range conversations[key].parts {
			parts = append(parts, uint64(part)<<32|uint64(n)) //nolint:gosec // a count
		}
	}
	slices.Sort(parts)
	var b fileBuilder
	b.add(secContents, about)
	b.add(secRecords, records)
	b.add(secRecordEnds, ends)
	for _, part := range parts {
		b.add(secParts, binary.LittleEndian.AppendUint64(nil, part))
	}
	b.add(secKept, kept)
	data, _ := b.finish()
	return files.write(catalogFile, data)
}

func (c *catalog) record(n uint32) []byte {
	from, to := c.ending(secRecordEnds, n)
	return c.part(secRecords, from, to)
}

// conversation returns a conversation by its number.
func (c *catalog) conversation(n uint32) *Conversation {
	of := &Conversation{}
	if !of.parseRecord(c.record(n)) {
		c.malformed()
	}
	return of
}

// key returns the key of a conversation by its number.
func (c *catalog) key(n uint32) string {
	r := reader{c.record(n), true}
	return string(r.bytes())
}

// find returns the number of the conversation with a key.
func (c *catalog) find(key string) (n uint32, ok bool) {
	i, ok := sort.Find(int(c.conversations), func(i int) int {
		return compareKeys(key, c.key(uint32(i))) //nolint:gosec // a count
	})
	return uint32(i), ok //nolint:gosec // a count
}

// gone is the number of no conversation.
const gone = math.MaxUint32

// ofParts returns the numbers of the conversations that have some parts.
func (c *catalog) ofParts(parts []uint32) (numbers []uint32) {
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(c.parts[8*i:]) }
	for _, part := range parts {
		n := uint32(gone)
		if i, ok := sort.Find(len(c.parts)/8, func(i int) int { return cmp.Compare(uint64(part), at(i)>>32) }); ok {
			if n = uint32(at(i)); n >= c.conversations { //nolint:gosec // the lower half
				c.malformed()
			}
		}
		numbers = append(numbers, n)
	}
	return numbers
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
// were killed.
func (c *contents) sweep(files directory) error {
	names, err := files.names()
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, s := range c.Segments {
		named[s.File] = true
	}
	for _, name := range names {
		if named[name] || sequenceOf(name) < 0 && !safefile.Temporary(name) {
			continue
		}
		if e := files.remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = e
		}
	}
	return err
}
