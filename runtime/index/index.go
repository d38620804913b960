package index

import (
	"bytes"
	"errors"
	"io/fs"
	"sync"

	"github.com/convtools/convtools/runtime/base/fold"
	"github.com/convtools/convtools/runtime/index/terms"
)

// Index is an index in a directory. It is safe for concurrent use, also by several
// processes: one writes, and others read what it wrote last.
type Index struct {
	// Language is that of the words. It is set before anything else; an index that was made with
	// another one cannot be used.
	Language terms.Language

	files  directory
	limits limits

	mu        sync.Mutex
	view      *View // of the catalog that stamp is of; nil where none was read
	stamp     stamp
	discarded stamp // of a catalog that is not used, nor what it names; nil for none
}

// Open returns the index in a directory, which need not be there. Nothing is read.
func Open(dir string) *Index { return &Index{files: disk(dir), limits: usualLimits()} }

// InMemory returns an index that has nothing yet, and that no other process sees.
func InMemory() *Index {
	return &Index{files: &memory{writing: make(chan struct{}, 1), files: map[string]*content{}}, limits: usualLimits()}
}

// View is an index as it was written last. It is safe for concurrent use, and closed after
// use.
type View struct {
	*catalog
	segments []*segment
	index    *Index
	users    int // with the index, which is one
	titles   func() *titles
}

// View returns the index as it was written last. The error is [fs.ErrNotExist] where nothing
// was, and a [*DamageError] where it cannot be used.
func (x *Index) View() (*View, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	const tries = 10 // while segments are merged
	var err error
	for range tries {
		var stamp stamp
		if stamp, err = x.files.stamp(catalogFile); err != nil {
			break
		}
		if x.discarded != nil && stamp.same(x.discarded) {
			err = fs.ErrNotExist
			break
		}
		if x.view != nil && stamp.same(x.stamp) {
			x.view.users++
			return x.view, nil
		}
		x.drop()
		if x.view, err = x.load(); err == nil {
			x.stamp, x.view.users = stamp, 2
			return x.view, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	x.drop()
	return nil, err
}

// load reads the catalog, and opens the segments.
func (x *Index) load() (*View, error) {
	c, err := readCatalog(x.files, x.Language)
	if err != nil {
		return nil, err
	}
	v := &View{catalog: c, index: x}
	v.titles = sync.OnceValue(v.readTitles)
	for _, n := range c.Segments {
		s, err := openSegment(x.files, n)
		if err != nil {
			v.closeFiles()
			return nil, err
		}
		s.numbers = sync.OnceValue(func() []uint32 { return c.ofParts(s.owners) })
		v.segments = append(v.segments, s)
	}
	return v, nil
}

// discard leaves the catalog unused that is there, so that it is made anew.
func (x *Index) discard() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.discarded, _ = x.files.stamp(catalogFile)
}

// isDiscarded reports whether what is there is not to be used.
func (x *Index) isDiscarded() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	stamp, err := x.files.stamp(catalogFile)
	return err == nil && x.discarded != nil && stamp.same(x.discarded)
}

// guard is guard of what reads the view: where it is damaged, the index is made anew.
func (v *View) guard(read func() error) error {
	err := guard(read)
	var damage *DamageError
	if errors.As(err, &damage) {
		v.index.discard()
	}
	return err
}

// drop forgets the last view.
func (x *Index) drop() {
	if x.view != nil {
		x.view.release()
		x.view, x.stamp = nil, nil
	}
}

// Close closes the index. Views that are in use stay open.
func (x *Index) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.drop()
}

// Close ends the use of a view.
func (v *View) Close() {
	v.index.mu.Lock()
	defer v.index.mu.Unlock()
	v.release()
}

// release ends one use of a view. The index is locked.
func (v *View) release() {
	if v.users--; v.users == 0 {
		v.closeFiles()
	}
}

func (v *View) closeFiles() {
	for _, s := range v.segments {
		s.close()
	}
}

// Info is how large an index is.
type Info struct {
	State
	Conversations, Messages int
	Bytes                   int64 // of its files
	Segments                int
}

// Info describes the view. Messages that are gone count until their segment is merged.
func (v *View) Info() Info {
	i := Info{State: v.State(), Conversations: int(v.conversations), Bytes: int64(len(v.data)), Segments: len(v.segments)}
	for _, s := range v.segments {
		i.Messages += int(s.messages)
		i.Bytes += s.Size
	}
	return i
}

// State is what was said of the index as a whole when it was written.
func (v *View) State() State { return v.contents.State }

// Kept is what else was kept when the index was written; nothing where that is damaged. It is not to be changed.
func (v *View) Kept() (kept []byte) {
	_ = v.guard(func() error {
		kept = v.all(secKept)
		return nil
	})
	return kept
}

// Lookup returns the conversation with a key, or nil.
func (v *View) Lookup(key string) (c *Conversation, err error) {
	err = v.guard(func() error {
		if n, ok := v.find(key); ok {
			c = v.conversation(n)
		}
		return nil
	})
	return c, err
}

// Conversations calls yield with each conversation, in no order, until it returns false.
func (v *View) Conversations(yield func(*Conversation) bool) error {
	return v.guard(func() error {
		for n := range v.conversations {
			if !yield(v.conversation(n)) {
				break
			}
		}
		return nil
	})
}

// titles are the folded titles of all conversations, with end after each.
type titles struct {
	text []byte
	ends []int
}

func (v *View) readTitles() *titles {
	t := &titles{}
	for n := range v.conversations {
		t.text = append(fold.Append(t.text, []byte(v.conversation(n).Title)), end)
		t.ends = append(t.ends, len(t.text))
	}
	return t
}

// holding returns the conversations whose titles hold a folded text, if there are some.
func (t *titles) holding(folded []byte) (found set) {
	for at, n := 0, 0; ; at = t.ends[n] {
		next := bytes.Index(t.text[at:], folded)
		if next < 0 {
			return found
		}
		for t.ends[n] <= at+next {
			n++
		}
		if found == nil {
			found = newSet(uint32(len(t.ends))) //nolint:gosec // a count
		}
		found.add(uint32(n)) //nolint:gosec // a count
	}
}
