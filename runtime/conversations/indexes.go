package conversations

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
)

// Indexes are the indexes of stores, shared by libraries. An index only saves time: a conversation that has changed
// since it was indexed is read again. Indexes are safe for concurrent use.
type Indexes struct {
	dir string // empty if all are in memory

	mu     sync.Mutex
	open   map[string]*index.Index     // by the name and the language of the index
	caches map[string]*filecache.Cache // by the name of the index and the exclusions
}

// indexFormat is the version of the values that this package keeps in an index.
const indexFormat = 17

// NewIndexes returns the indexes in a directory, which need not exist.
func NewIndexes(dir string) *Indexes {
	return &Indexes{dir: filepath.Join(dir, fmt.Sprint("v", indexFormat))}
}

// OpenIndexes returns the indexes in the user's cache directory; nil if the environment has none.
func OpenIndexes(getenv func(string) string) *Indexes {
	dir := config.CacheDir(getenv)
	if dir == "" {
		return nil
	}
	return NewIndexes(filepath.Join(dir, "index"))
}

// indexName returns the name of the directory of a store's index.
func indexName(kind, place string) string {
	return kind + "-" + shortHash(kind+"\x00"+place)
}

// shortHash returns 16 hexadecimal digits of the hash of a text.
func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%x", sum[:8])
}

// ofStore returns the index of a store.
func (x *Indexes) ofStore(set *settings, s store.Store) *index.Index {
	return x.openOrReplace(set, indexName(s.Name(), s.Place()), nil)
}

// openOrReplace returns the open index with a name, in the language of the settings. If failed is nil, it opens the
// index if it is not open. Otherwise failed is an index that could not be written: if failed is still the open index, a
// new index in memory replaces it for all libraries.
func (x *Indexes) openOrReplace(set *settings, name string, failed *index.Index) *index.Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	key := name + " " + string(set.language)
	if open := x.open[key]; open != failed { // failed is nil and an index is open, or failed was replaced before
		return open
	}
	opened := index.InMemory()
	if failed == nil && x.dir != "" {
		opened = index.Open(filepath.Join(x.dir, name))
	}
	opened.Language = set.language
	if x.open == nil {
		x.open = map[string]*index.Index{}
	}
	x.open[key] = opened
	return opened
}

// cache returns the cache of values from the files of a store. A new cache has the values that the index of the store
// keeps. The result is nil if x is nil. Among the values are titles, which may be of excluded projects: so there is one
// cache for each state of the exclusions.
func (x *Indexes) cache(set *settings, kind, place string) *filecache.Cache {
	if x == nil {
		return nil
	}
	name := indexName(kind, place)
	storeIndex := x.openOrReplace(set, name, nil)
	x.mu.Lock()
	defer x.mu.Unlock()
	key := name + " " + set.exclusions
	if x.caches == nil {
		x.caches = map[string]*filecache.Cache{}
	}
	if x.caches[key] == nil {
		x.caches[key] = filecache.New(func() []byte {
			view, err := storeIndex.View()
			if line := savedFor(set.exclusions); err == nil && bytes.HasPrefix(view.Kept, line) {
				return view.Kept[len(line):]
			}
			return nil
		})
	}
	return x.caches[key]
}

// savedFor returns the line of exclusions before the cached values that an index keeps.
func savedFor(exclusions string) []byte { return []byte(exclusions + "\n") }

// Foreign returns which of the directory of the indexes and the two directories above it belongs to another user; empty
// for none. If there is one, no index may be used: its owner could have put false messages there.
func (x *Indexes) Foreign() string {
	if x == nil {
		return ""
	}
	parent := filepath.Dir(x.dir)
	for _, dir := range []string{filepath.Dir(parent), parent, x.dir} {
		if safefile.OfAnother(dir) {
			return dir
		}
	}
	return ""
}

// Close forgets all indexes. The files of an index are closed after its last use.
func (x *Indexes) Close() {
	if x != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		clear(x.open)
		clear(x.caches)
	}
}

// Clear forgets all indexes, and removes the directory that has the files of all indexes, in this and other formats.
func (x *Indexes) Clear() error {
	x.Close() // nothing for a nil x
	if x == nil || x.dir == "" {
		return nil
	}
	dir, name := filepath.Split(filepath.Dir(x.dir)) // x.dir is for one format, and its parent for all formats
	root, err := safefile.OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return root.RemoveAll(name)
}

// removeOlder removes the caches of earlier versions of this program. Caches of later versions stay: both programs
// may be in use. It ignores errors: the next refresh tries again.
func (x *Indexes) removeOlder() {
	parent := filepath.Dir(x.dir)
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		number, hasNumber := strings.CutPrefix(e.Name(), "v")
		version, err := strconv.ParseUint(number, 10, 64)
		isOlder := hasNumber && err == nil && version < indexFormat
		first, _, _ := strings.Cut(e.Name(), "-") // the first versions had no number
		if isOlder || first == "facts" || first == "facts2" {
			_ = os.RemoveAll(filepath.Join(parent, e.Name()))
		}
	}
}

// indexNote is the note of an index about its store.
type indexNote struct {
	Store, Place string
	// Version is the version of the store if all its conversations are indexed without problems; otherwise empty.
	Version string
	// Listed is the Unix time when all of the store was listed last.
	Listed int64 `json:",omitempty"`
	// Exclusions is the text of [settings.exclusions] from when excluded conversations were removed last.
	Exclusions string `json:",omitempty"`
	// Openers are the hashes of the beginnings of requests that are left out of titles.
	Openers []string `json:",omitempty"`
}

// noteOf returns the note of an index, and reports whether it can be read.
func noteOf(view *index.View) (note indexNote, ok bool) {
	err := json.Unmarshal([]byte(view.State.Note), &note)
	return note, err == nil
}

// removeUnused removes the caches of earlier versions, and the indexes that nothing will use again. A library of one
// project does not know which indexes these are, and removes only the caches.
func (l *Library) removeUnused() error {
	if l.indexes.dir == "" {
		return nil
	}
	l.indexes.removeOlder()
	if l.partial {
		return nil
	}
	used := map[string]bool{}
	for _, s := range l.stores {
		used[indexName(s.Name(), s.Place())] = true
	}
	var err error
	entries, _ := os.ReadDir(l.indexes.dir) // an unreadable directory has no index
	for _, e := range entries {
		if dir := filepath.Join(l.indexes.dir, e.Name()); !used[e.Name()] && e.IsDir() && l.isUseless(dir) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// isUseless reports whether the index in a directory is of a store that is gone, excluded or switched off. It returns
// false for an index that cannot be read: another process may be making it.
func (l *Library) isUseless(dir string) bool {
	x := index.Open(dir)
	x.Language = l.settings.language
	view, err := x.View()
	if err != nil {
		return false
	}
	note, ok := noteOf(view)
	places := filepath.SplitList(note.Place) // a place can be a path or a list of paths
	isExcluded := l.project != nil && slices.ContainsFunc(places, l.project.Excludes)
	if isExcluded || slices.Contains(l.settings.Off, note.Store) {
		return true
	}
	isGone := func(path string) bool {
		_, err := os.Stat(path)
		return errors.Is(err, fs.ErrNotExist)
	}
	left := slices.DeleteFunc(append(places, note.Place), isGone)
	return ok && filepath.IsAbs(note.Place) && len(left) == 0
}
