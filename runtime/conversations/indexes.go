package conversations

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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

// Indexes are the indexes of stores, shared by libraries. An index only saves time: it is used for a store that has
// not changed since; all else is read. Indexes are safe for concurrent use.
type Indexes struct {
	dir string // empty if all are in memory

	mu     sync.Mutex
	open   map[string]*index.Index     // by their names and languages
	caches map[string]*filecache.Cache // by the names of their indexes and exclusions
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
	sum := sha256.Sum256([]byte(kind + "\x00" + place))
	return kind + "-" + hex.EncodeToString(sum[:8])
}

// of returns the index of a store.
func (x *Indexes) of(set *settings, s store.Store) *index.Index {
	return x.replace(set, indexName(s.Name(), s.Place()), nil)
}

// inMemory returns an index in memory in place of one that cannot be written. All libraries use it from then on.
func (x *Indexes) inMemory(set *settings, s store.Store, failed *index.Index) *index.Index {
	return x.replace(set, indexName(s.Name(), s.Place()), failed)
}

// replace returns the index with a name, or a new one in memory if that is the failed one.
func (x *Indexes) replace(set *settings, name string, failed *index.Index) *index.Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	key := name + " " + string(set.language)
	if x.open[key] != failed {
		return x.open[key]
	}
	one := index.InMemory()
	if failed == nil && x.dir != "" {
		one = index.Open(filepath.Join(x.dir, name))
	}
	one.Language = set.language
	if x.open == nil {
		x.open = map[string]*index.Index{}
	}
	x.open[key] = one
	return one
}

// cache returns the cached values of the files of a store: the ones in its index, and new ones; nil without indexes.
// These have titles, and do not tell of which project, so that they are for the same exclusions only.
func (x *Indexes) cache(set *settings, kind, place string) *filecache.Cache {
	if x == nil {
		return nil
	}
	name := indexName(kind, place)
	one := x.replace(set, name, nil)
	x.mu.Lock()
	defer x.mu.Unlock()
	key := name + " " + set.exclusions
	if x.caches == nil {
		x.caches = map[string]*filecache.Cache{}
	}
	if x.caches[key] == nil {
		x.caches[key] = filecache.New(func() []byte {
			view, err := one.View()
			if err != nil {
				return nil
			}
			if saved, ok := bytes.CutPrefix(view.Kept, savedFor(set.exclusions)); ok {
				return saved
			}
			return nil
		})
	}
	return x.caches[key]
}

// savedFor returns the beginning of cached values that are saved for some exclusions.
func savedFor(exclusions string) []byte { return []byte(exclusions + "\n") }

// Foreign returns the directory of the indexes that belongs to another user; empty for none. If there is one, nothing
// is read and nothing kept: its owner could have put false messages there.
func (x *Indexes) Foreign() string {
	if x == nil {
		return ""
	}
	all := filepath.Dir(x.dir)
	for _, dir := range []string{filepath.Dir(all), all, x.dir} {
		if safefile.OfAnother(dir) {
			return dir
		}
	}
	return ""
}

// Close forgets all indexes. Their files are closed after their last use.
func (x *Indexes) Close() {
	if x != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		clear(x.open)
		clear(x.caches)
	}
}

// Clear removes all indexes, also those of other formats.
func (x *Indexes) Clear() error {
	x.Close()
	if x == nil || x.dir == "" {
		return nil
	}
	dir, name := filepath.Split(filepath.Dir(x.dir))
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
// may be in use. The next refresh tries again after an error.
func (x *Indexes) removeOlder() {
	all := filepath.Dir(x.dir)
	entries, _ := os.ReadDir(all)
	for _, e := range entries {
		number, isIndex := strings.CutPrefix(e.Name(), "v")
		n, err := strconv.ParseUint(number, 10, 64)
		first, _, _ := strings.Cut(e.Name(), "-") // the first version had caches for lists
		if isIndex && err == nil && n < indexFormat || first == "facts" || first == "facts2" {
			_ = os.RemoveAll(filepath.Join(all, e.Name()))
		}
	}
}

// indexNote is the note of an index about its store.
type indexNote struct {
	Store, Place string
	// Version is the version of the store if all of it is indexed without problems; otherwise empty.
	Version string
	// Listed is the Unix time when all of the store was listed last.
	Listed int64 `json:",omitempty"`
	// Exclusions are [settings.exclusions] when excluded conversations were removed last.
	Exclusions string `json:",omitempty"`
	// Openers are left out of titles.
	Openers []string `json:",omitempty"`
}

// noteOf returns the note of an index, and reports whether it can be read.
func noteOf(view *index.View) (note indexNote, ok bool) {
	err := json.Unmarshal([]byte(view.State.Note), &note)
	return note, err == nil
}

// removeUnused removes the caches of earlier versions, and indexes that nothing will use again. A library of one
// project does not know these.
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

// isUseless reports whether an index is of a store that is gone, excluded or switched off. An index that cannot be
// read may be in the making by another process.
func (l *Library) isUseless(dir string) bool {
	x := index.Open(dir)
	x.Language = l.settings.language
	view, err := x.View()
	if err != nil {
		return false
	}
	note, ok := noteOf(view)
	places := filepath.SplitList(note.Place)
	if slices.Contains(l.settings.Off, note.Store) || l.project != nil && slices.ContainsFunc(places, l.project.Excludes) {
		return true
	}
	isThere := func(path string) bool {
		_, err := os.Stat(path)
		return !errors.Is(err, fs.ErrNotExist)
	}
	return ok && filepath.IsAbs(note.Place) && !isThere(note.Place) && !slices.ContainsFunc(places, isThere)
}
