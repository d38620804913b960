package index

import (
	"bytes"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/fold"
	"github.com/convtools/convtools/runtime/index/terms"
)

// Index is an index in a directory. It is safe for concurrent use, also by several
// processes: one writes, and others read the last commit. Files are closed when no reader has them.
type Index struct {
	// Language is the language of the words. Set it before any other use. An index made with
	// another language is a [*DamageError].
	Language terms.Language

	files  directory
	limits limits

	mu   sync.Mutex
	view *View // the last view; nil if there is none
}

// Open returns the index in a directory, which need not exist. It reads nothing.
func Open(dir string) *Index { return newIndex(disk(dir)) }

// InMemory returns an empty index in the memory of this process.
func InMemory() *Index { return newIndex(newMemory()) }

func newIndex(files directory) *Index {
	return &Index{files: files, limits: limits{segment: 10 << 20, messages: 1 << 16}}
}

// View is a snapshot of an index. It is safe for concurrent use.
type View struct {
	*catalog
	segments []*opened
	index    *Index
}

// opened is a segment of a view.
type opened struct {
	*segment
	conversations []*Conversation // by the place of an owner; nil if the conversation was removed
	titles        func() *titles  // of the conversations
}

// View returns the last committed state. The error is [fs.ErrNotExist] if nothing was committed, and a [*DamageError]
// if the index cannot be used.
func (x *Index) View() (*View, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	const tries = 10 // another process may remove a segment after load has read the catalog that names it
	var err error
	for range tries {
		if err = x.load(); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		x.view = nil
	}
	return x.view, err
}

// load sets the view to the state that the catalog on the disk has now. It opens the segments of the catalog, except
// those that the view before has open. After an error the view is as before.
func (x *Index) load() error {
	f, err := openFile(x.files, catalogFile)
	if err != nil {
		return err
	}
	defer f.content.Close()
	if x.view != nil && x.view.footer == f.footer {
		return nil
	}
	c, err := readCatalog(f, x.Language)
	if err != nil {
		return err
	}
	v := &View{catalog: c, index: x}
	byPart := conversationsByPart(slices.Values(v.Conversations))
	for _, n := range c.Segments {
		s, err := x.segment(n)
		if err != nil {
			return err
		}
		o := &opened{segment: s}
		for _, part := range s.owners {
			o.conversations = append(o.conversations, byPart[part])
		}
		o.titles = sync.OnceValue(o.readTitles)
		v.segments = append(v.segments, o)
	}
	x.view = v
	return nil
}

// conversationsByPart returns a map from the parts of conversations to the conversations.
func conversationsByPart(conversations iter.Seq[*Conversation]) map[uint32]*Conversation {
	byPart := map[uint32]*Conversation{}
	for c := range conversations {
		for _, part := range c.parts {
			byPart[part] = c
		}
	}
	return byPart
}

// segment returns the open segment of the view with a name, or else opens it.
func (x *Index) segment(n named) (*segment, error) {
	if x.view != nil {
		if i := slices.IndexFunc(x.view.segments, func(o *opened) bool { return o.named == n }); i >= 0 {
			return x.view.segments[i].segment, nil
		}
	}
	return openSegment(x.files, n)
}

// discard removes a catalog that cannot be used, so that the next writer makes the index anew. If it cannot be
// removed, the index is in memory from now on.
func (x *Index) discard() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.files.remove(catalogFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.files = newMemory()
	}
}

// guard calls read as the function guard does. If the error is a [*DamageError], it also discards the catalog, so that a
// writer makes a new index.
func (x *Index) guard(read func() error) error {
	err := guard(read)
	var damage *DamageError
	if errors.As(err, &damage) {
		x.discard()
	}
	return err
}

// Info is the size and the state of an index.
type Info struct {
	State
	Conversations, Messages int
	Bytes                   int64 // of the files of the index
	Segments                int
}

// Info returns the size and the state of the index in the view. Removed messages count while a segment has them.
func (v *View) Info() Info {
	i := Info{State: v.State, Conversations: len(v.Conversations), Bytes: v.size, Segments: len(v.segments)}
	for _, s := range v.segments {
		i.Messages += int(s.messages)
		i.Bytes += int64(s.content.Len())
	}
	return i
}

// titles are the folded titles of the conversations of a segment, each with a separator after it.
type titles struct {
	text []byte
	ends []int // by the place of a conversation: the end of its separator in text
	// hashes is true at the hashes of all three adjacent bytes of text. Few texts that no title has have only such hashes.
	hashes [1 << 15]bool
}

// readTitles returns the folded titles of a segment's conversations; the title of a removed conversation is empty.
func (o *opened) readTitles() *titles {
	t := &titles{}
	for _, c := range o.conversations {
		if c != nil {
			t.text = fold.Append(t.text, []byte(c.Title))
		}
		t.text = append(t.text, end)
		t.ends = append(t.ends, len(t.text))
	}
	for i := range len(t.text) - 2 { // each three adjacent bytes, for a quick test of whether a text can be in a title
		t.hashes[hashOf(t.text[i:i+3])%uint64(len(t.hashes))] = true
	}
	return t
}

// holding yields the place of each conversation whose title contains a folded text. A place is an index in t.ends. It
// first tests the hashes, because most texts are in no title. Then it searches t.text, which has all titles, for the
// text from the last byte of the first rune: many runes of a script begin with the same bytes.
func (t *titles) holding(folded []byte) iter.Seq[int] {
	_, size := utf8.DecodeRune(folded)
	before := size - 1 // the number of bytes of the first rune before its last byte
	return func(yield func(int) bool) {
		for i := range len(folded) - 2 {
			if !t.hashes[hashOf(folded[i:i+3])%uint64(len(t.hashes))] {
				return
			}
		}
		for from := before; from < len(t.text); {
			n := bytes.Index(t.text[from:], folded[before:])
			if n < 0 {
				return
			}
			from += n + 1 // after the last byte of what may be the first rune
			if !bytes.HasPrefix(t.text[from-1-before:], folded) {
				continue
			}
			place, _ := slices.BinarySearch(t.ends, from) // of the first title that ends at from or later
			if !yield(place) {
				return
			}
			from = t.ends[place] + before // where that last byte can be in the next title
		}
	}
}
