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

// Indexes are the indexes of stores, for all libraries that share them. An index is only
// ever a shortcut: what it has is used where the store has not changed since, and all else
// is read. They are safe for concurrent use.
type Indexes struct {
	dir string // empty where all are in memory

	mu       sync.Mutex
	language terms.Language
	open     map[string]*index.Index // by name of their directory
	mark     string                  // of what is excluded
	shelf    *filecache.Shelf        // for that; nil until it is asked for
}

// indexFormat is the number of what an index has that this package puts there.
const indexFormat = 13

// NewIndexes returns the indexes in a directory, which need not be there.
func NewIndexes(dir string) *Indexes {
	return &Indexes{dir: filepath.Join(dir, fmt.Sprint("v", indexFormat)), open: map[string]*index.Index{}}
}

// OpenIndexes returns the indexes that the user's cache directory has, or will have; nil
// where the environment does not tell which that is.
func OpenIndexes(getenv func(string) string) *Indexes {
	dir := config.CacheDir(getenv)
	if dir == "" {
		return nil
	}
	return NewIndexes(filepath.Join(dir, "index"))
}

// of returns the index of a store.
func (x *Indexes) of(s store.Store) *index.Index { return x.at(indexName(s.Name(), s.Place())) }

// indexName is the name of the directory of the index of a store, of a kind and at a place.
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

// inMemory makes the index of a store one in memory, where it cannot be written in its directory, and returns
// it. failed is the index that cannot: where somebody has put another one in its place, that stays.
func (x *Indexes) inMemory(s store.Store, failed *index.Index) *index.Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	name := indexName(s.Name(), s.Place())
	if x.open[name] == failed {
		x.put(name, index.InMemory())
	}
	return x.open[name]
}

// setLanguage sets the language that words are read in. Indexes of another one are made anew.
func (x *Indexes) setLanguage(l terms.Language) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if l != x.language {
		x.language = l
		clear(x.open)
	}
}

// files returns what is known of the files of stores: what their indexes have, if it was not kept under
// another mark, and what is found out. It is nil where there are no indexes.
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

// keptUnder begins what an index keeps of files, under a mark.
func keptUnder(mark string) []byte { return []byte(mark + "\n") }

// exclude sets the mark of what is excluded. What is known of files has titles, and does not
// tell whose: that of another mark is neither used nor kept.
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

// Foreign returns the directory of these in the user's cache that belongs to another user; empty
// for none. Where there is one, nothing is read and nothing kept: whose it is could have put there
// what nobody has said.
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

// Close forgets all indexes; their files are closed once nobody reads them.
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

// removeOlder removes what earlier versions of this program kept. What a later one keeps stays:
// both may be in use. What cannot be removed now is tried again at the next refresh.
func (x *Indexes) removeOlder() {
	all := filepath.Dir(x.dir)
	entries, _ := os.ReadDir(all)
	for _, e := range entries {
		number, isIndex := strings.CutPrefix(e.Name(), "v")
		n, err := strconv.ParseUint(number, 10, 64)
		first, _, _ := strings.Cut(e.Name(), "-") // of what lists needed, when that had directories of its own
		if isIndex && err == nil && n < indexFormat || first == "facts" || first == "facts2" {
			_ = os.RemoveAll(filepath.Join(all, e.Name()))
		}
	}
}

// indexNote is what an index says of its store.
type indexNote struct {
	Store, Place string
	// Version is that of the store, all of which is indexed, without anything that would
	// have to be said of it. Empty where that is not so.
	Version string
	// Whole is the Unix time at which all of the store was listed, and this written, last.
	Whole int64 `json:",omitempty"`
	// Mark is that of what was excluded when everything that was excluded was removed last.
	Mark string `json:",omitempty"`
	// Openers are those that titles are without.
	Openers []string `json:",omitempty"`
}

// noteOf returns what an index says of its store, as far as that can be read.
func noteOf(view *index.View) (note indexNote, ok bool) {
	err := json.Unmarshal([]byte(view.State.Note), &note)
	return note, err == nil
}

// forget removes what earlier versions kept and, beside the indexes of the library's stores, those
// that nothing will use again. A library of one project does not know which are.
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
	entries, _ := os.ReadDir(l.indexes.dir) // where it cannot be read, no index can be made
	for _, e := range entries {
		if dir := filepath.Join(l.indexes.dir, e.Name()); !used[e.Name()] && e.IsDir() && l.isUseless(dir) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// isUseless reports whether an index is of a store that is gone, excluded or switched off. Another
// process may be making one that cannot be read.
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
