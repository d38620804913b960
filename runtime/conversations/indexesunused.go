package conversations

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/index/terms"
)

// unusedIndex is an index that no store of a library has.
type unusedIndex struct {
	dir, store, place string // as the index has them; empty where it cannot be read
	// isGone is set where nothing will use it again: the store is not there, or it cannot be read.
	isGone bool
}

// unusedIndexes returns the indexes that are of no store of the library: of those that are
// switched off, or that are asked from elsewhere, and of those that are gone.
func (l *Library) unusedIndexes() ([]unusedIndex, error) {
	if l.indexes.dir == "" {
		return nil, nil
	}
	used := map[string]bool{}
	for _, s := range l.stores {
		used[indexName(s.Name(), s.Place())] = true
	}
	entries, err := readDir(l.indexes.dir)
	if err != nil {
		return nil, err
	}
	var unused []unusedIndex
	for _, e := range entries {
		if !used[e.Name()] && e.IsDir() {
			unused = append(unused, describeUnused(filepath.Join(l.indexes.dir, e.Name()), l.language))
		}
	}
	return unused, nil
}

func describeUnused(dir string, language terms.Language) unusedIndex {
	u := unusedIndex{dir: dir}
	x := index.Open(dir)
	x.Language = language
	view, err := x.View()
	if err != nil {
		u.isGone = true // whoever has the store makes it anew
		return u
	}
	note, ok := noteOf(view)
	u.isGone = !ok
	u.store, u.place = note.Store, note.Place
	there := func(path string) bool {
		_, err := os.Stat(path)
		return !errors.Is(err, fs.ErrNotExist)
	}
	if filepath.IsAbs(u.place) && !there(u.place) && !slices.ContainsFunc(filepath.SplitList(u.place), there) {
		u.isGone = true
	}
	return u
}

// RemoveGoneIndexes removes the indexes that nothing will use again.
func (l *Library) RemoveGoneIndexes() error {
	unused, err := l.unusedIndexes()
	for _, u := range unused {
		if u.isGone {
			err = errors.Join(err, os.RemoveAll(u.dir))
		}
	}
	return err
}

// removeOlder removes what earlier versions of this program kept. What a later one keeps stays:
// both may be in use. What cannot be removed now is tried again at the next refresh.
func (x *Indexes) removeOlder() {
	all := filepath.Dir(x.dir)
	entries, _ := os.ReadDir(all)
	for _, e := range entries {
		if isOlder(e.Name()) {
			_ = os.RemoveAll(filepath.Join(all, e.Name()))
		}
	}
}

// isOlder reports whether a directory is what an earlier version kept: indexes of an older
// format, or what lists needed when that had a directory of its own.
func isOlder(name string) bool {
	number, isIndex := strings.CutPrefix(name, "v")
	n, err := strconv.ParseUint(number, 10, 64)
	first, _, _ := strings.Cut(name, "-")
	return isIndex && err == nil && n < indexFormat || first == "facts" || first == "facts2"
}

// readDir is [os.ReadDir] of a directory that need not be there.
func readDir(dir string) ([]os.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}
