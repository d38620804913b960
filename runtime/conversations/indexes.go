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
	"github.com/convtools/convtools/runtime/index/terms"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
)

// Indexes are the indexes of stores, shared by libraries. An index only saves time: it is used for a store that has
// not changed since; all else is read. Indexes are safe for concurrent use.
type Indexes struct {
	dir string // empty if all are in memory

	mu       sync.Mutex
	language terms.Language
	open     map[string]*index.Index // by the name of their directory
	mark     string                  // of the exclusions
	shelf    *filecache.Shelf        // for that mark; nil before its first use
}

// indexFormat is the version of the values that this package keeps in an index.
const indexFormat = 13

// NewIndexes returns the indexes in a directory, which need not exist.
func NewIndexes(dir string) *Indexes {
	return &Indexes{dir: filepath.Join(dir, fmt.Sprint("v", indexFormat)), open: map[string]*index.Index{}}
}

// OpenIndexes returns the indexes in the user's cache directory; nil if the environment has none.
func OpenIndexes(getenv func(string) string) *Indexes {
	dir := config.CacheDir(getenv)
	if dir == "" {
		return nil
	}
	return NewIndexes(filepath.Join(dir, "index"))
}

// of returns the index of a store.
func (x *Indexes) of(s store.Store) *index.Index { return x.at(indexName(s.Name(), s.Place())) }

// indexName returns the name of the directory of a store's index.
func indexName(kind, place string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + place))
	return kind + "-" + hex.EncodeToString(sum[:8])
}

// at returns the index in a directory.
func (x *Indexes) at(name string) *index.Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open[name] == nil && x.dir != "" {
		x.put(name, index.Open(filepath.Join(x.dir, name)))
	} else if x.open[name] == nil {
		x.put(name, index.InMemory())
	}
	return x.open[name]
}

func (x *Indexes) put(name string, one *index.Index) {
	one.Language = x.language
	x.open[name] = one
}

// inMemory replaces an index that cannot be written by one in memory, and returns that. If another call has replaced
// failed already, it returns the other one.
func (x *Indexes) inMemory(s store.Store, failed *index.Index) *index.Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	name := indexName(s.Name(), s.Place())
	if x.open[name] == failed {
		x.put(name, index.InMemory())
	}
	return x.open[name]
}

// setLanguage sets the language of words. Indexes of another language are made anew.
func (x *Indexes) setLanguage(l terms.Language) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if l != x.language {
		x.language = l
		clear(x.open)
	}
}

// files returns the cached values of the files of stores: those in the indexes that were kept under the same mark,
// and new ones. It is nil without indexes.
func (x *Indexes) files() *filecache.Shelf {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.shelf == nil {
		mark := x.mark
		x.shelf = filecache.New(func(kind, place string) []byte {
			view, err := x.at(indexName(kind, place)).View()
			if err != nil {
				return nil
			}
			kept, ok := bytes.CutPrefix(view.Kept, keptUnder(mark))
			if !ok {
				return nil
			}
			return kept
		})
	}
	return x.shelf
}

// keptUnder returns the beginning of cached values that were kept under a mark.
func keptUnder(mark string) []byte { return []byte(mark + "\n") }

// exclude sets the mark of the exclusions. Cached values of files have titles, and do not tell of which project:
// values under another mark are neither used nor kept.
func (x *Indexes) exclude(mark string) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if mark != x.mark {
		x.mark, x.shelf = mark, nil
	}
}

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
		first, _, _ := strings.Cut(e.Name(), "-") // earlier versions had caches for lists
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
	// Whole is the Unix time when all of the store was listed last.
	Whole int64 `json:",omitempty"`
	// Mark is the mark of the exclusions when excluded conversations were removed last.
	Mark string `json:",omitempty"`
	// Openers are left out of titles.
	Openers []string `json:",omitempty"`
}

// noteOf returns the note of an index, and reports whether it can be read.
func noteOf(view *index.View) (note indexNote, ok bool) {
	err := json.Unmarshal([]byte(view.State.Note), &note)
	return note, err == nil
}

// forget removes the caches of earlier versions, and indexes that nothing will use again. A library of one project
// does not know these.
func (l *Library) forget() error {
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
	x.Language = l.language()
	view, err := x.View()
	if err != nil {
		return false
	}
	note, ok := noteOf(view)
	places := filepath.SplitList(note.Place)
	if l.settings != nil && (slices.Contains(l.settings.Off, note.Store) || slices.ContainsFunc(places, l.project.Excludes)) {
		return true
	}
	there := func(path string) bool {
		_, err := os.Stat(path)
		return !errors.Is(err, fs.ErrNotExist)
	}
	return ok && filepath.IsAbs(note.Place) && !there(note.Place) && !slices.ContainsFunc(places, there)
}
