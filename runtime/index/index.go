package index

import (
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"

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

	mu    sync.Mutex
	view  *View // of the manifest that stamp is of; nil where none was read
	stamp stamp // of the manifest
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
	manifest
	segments []segment
	index    *Index
	users    int // with the index, which is one
	lookups  atomic.Int32
	places   func() (map[string]place, error)
}

// place is where the record of a conversation is.
type place struct{ segment, conversation uint32 }

// View returns the index as it was written last. The error is [fs.ErrNotExist] where nothing
// was, and a [*DamageError] where it cannot be used.
func (x *Index) View() (*View, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	const tries = 10 // while segments are merged
	var err error
	for range tries {
		var stamp stamp
		if stamp, err = x.files.stamp(manifestFile); err != nil {
			break
		}
		if x.view != nil && stamp.same(x.stamp) {
			x.view.users++
			return x.view, nil
		}
		var v *View
		if v, err = x.load(); err == nil {
			x.drop()
			x.view, x.stamp = v, stamp
			v.users = 2
			return v, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	x.drop()
	return nil, err
}

// load reads the manifest, and opens the segments that the last view does not have open.
func (x *Index) load() (*View, error) {
	m, err := readManifest(x.files, x.Language)
	if err != nil {
		return nil, err
	}
	v := &View{manifest: *m, index: x}
	v.places = sync.OnceValues(v.find)
	for _, n := range m.Segments {
		f, err := x.open(n)
		if err != nil {
			v.closeFiles()
			return nil, err
		}
		v.segments = append(v.segments, segment{f, n})
	}
	return v, nil
}

func (x *Index) open(n *named) (*file, error) {
	if x.view != nil {
		for _, s := range x.view.segments {
			if s.File == n.File && s.file.Sum == n.Sum {
				s.users++
				return s.file, nil
			}
		}
	}
	return openFile(x.files, n)
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
		if s.users--; s.users == 0 {
			s.file.close()
		}
	}
}

// Info is how large an index is.
type Info struct {
	State
	Conversations, Messages int
	Text                    int64 // bytes of the messages
	Bytes                   int64 // of its files
	Postings                int64 // of these, which say where grams are
	Segments                int
}

// Info describes the view. Messages that are gone count until their segment is merged.
func (v *View) Info() Info {
	i := Info{State: v.manifest.State, Segments: len(v.segments)}
	for _, s := range v.segments {
		i.Conversations += int(s.Conversations) - s.Superseded.count()
		i.Messages += int(s.Messages)
		i.Text += s.Text
		i.Bytes += s.named.Size
		for _, section := range []int{secListBlocks, secListEntries, secLists} {
			i.Postings += int64(s.Sections[section].Size) //nolint:gosec // of a file
		}
	}
	return i
}

// manyLookups is from how many lookups on all conversations are looked at once for those
// that follow.
const manyLookups = 64

// Lookup returns the conversation with a key, or nil.
func (v *View) Lookup(key string) (c *Conversation, err error) {
	err = guard(func(key string) error {
		if v.lookups.Add(1) < manyLookups {
			c, err = v.lookup(key)
			return err
		}
		places, err := v.places()
		if err != nil {
			return err
		}
		if at, ok := places[key]; ok {
			c, err = v.segments[at.segment].conversation(at.conversation)
		}
		return err
	}, key)
	return c, err
}

// find returns where all conversations are.
func (v *View) find() (map[string]place, error) {
	places := map[string]place{}
	for i := range v.segments {
		s := &v.segments[i]
		for n := range s.Conversations {
			if s.Superseded.has(n) {
				continue
			}
			record, err := s.record(n)
			if err != nil {
				return nil, err
			}
			r := reader{record, true}
			places[string(r.bytes())] = place{uint32(i), n} //nolint:gosec // a count
		}
	}
	return places, nil
}

func (v *View) lookup(key string) (*Conversation, error) {
	for i := range v.segments {
		s := &v.segments[i]
		n, ok, err := s.find(key)
		if err != nil {
			return nil, err
		}
		if ok && !s.Superseded.has(n) {
			return s.conversation(n)
		}
	}
	return nil, nil
}

// current returns a conversation of a segment as the newest segment has it.
func (v *View) current(s *segment, n uint32) (*Conversation, error) {
	c, err := s.conversation(n)
	if err != nil || !s.Superseded.has(n) || s.Dead.has(n) {
		return c, err
	}
	newest, err := v.lookup(c.Key)
	if err == nil && newest == nil {
		err = s.damaged()
	}
	return newest, err
}

// State is what was said of the index as a whole when it was written.
func (v *View) State() State { return v.manifest.State }

// Conversations calls yield with each conversation, in no order, until it returns false.
func (v *View) Conversations(yield func(*Conversation) bool) error {
	return guard(func(yield func(*Conversation) bool) error {
		for i := range v.segments {
			s := &v.segments[i]
			for n := range s.Conversations {
				if s.Superseded.has(n) {
					continue
				}
				c, err := s.conversation(n)
				if err != nil {
					return err
				}
				if !yield(c) {
					return nil
				}
			}
		}
		return nil
	}, yield)
}
