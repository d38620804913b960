package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// Root is the open directory of a store, with the cached metadata of its files. Names in it have slashes. It is closed
// after use.
type Root struct {
	*filecache.Cache
	path string
	dirs map[string]*os.Root // the directory itself as ".", and those in it that can be links
}

// Open opens the directory of the store, and each directory in Moved that can be opened. These directories may be links.
// No other link that leads out of them is followed.
func (s *Store) Open() (*Root, error) {
	r := &Root{Cache: s.Cache, path: s.Dir, dirs: map[string]*os.Root{}}
	for _, name := range append([]string{"."}, s.Moved...) { // "." is the directory of the store
		dir, err := safefile.OpenDir(filepath.Join(s.Dir, name))
		switch {
		case err == nil:
			r.dirs[name] = dir
		case name == ".":
			return nil, fmt.Errorf("opening the conversations in %s: %w", s.Dir, err)
		}
	}
	return r, nil
}

// Close closes the directories.
func (r *Root) Close() {
	for _, dir := range r.dirs {
		dir.Close()
	}
}

// within returns the directory that contains a file, and the name of the file there.
func (r *Root) within(name string) (dir *os.Root, rest string) {
	first, rest, _ := strings.Cut(name, "/")
	if dir, ok := r.dirs[first]; ok {
		return dir, path.Clean(rest)
	}
	return r.dirs["."], name
}

// Stamp returns the stamp of a file as [filecache.At] does.
func (r *Root) Stamp(name string) filecache.Stamp {
	return filecache.At(filepath.Join(r.path, filepath.FromSlash(name)))
}

// File opens a regular file and returns it with its size.
func (r *Root) File(name string) (*os.File, int64, error) {
	d, rest := r.within(name)
	f, info, err := safefile.OpenIn(d, rest)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// ReadFile returns the content of a file of up to most bytes.
func (r *Root) ReadFile(name string, most int64) ([]byte, error) {
	d, rest := r.within(name)
	return safefile.ReadIn(d, rest, most)
}

// Description returns the description of a sub-agent's task in a file beside its log; "" if there is none.
func (r *Root) Description(name string) string {
	const most = 64 << 10
	about, _ := r.ReadFile(name, most) // some versions write none
	return jsontext.String(jsontext.Get(about, "description"))
}

// ReadDir returns the entries of a directory, in the order of their names.
func (r *Root) ReadDir(name string) ([]fs.DirEntry, error) {
	d, rest := r.within(name)
	entries, err := safefile.ReadDirIn(d, rest, -1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// Entries returns an entry for each file of [Store.Walk] for which describe returns true. describe gets an entry with its
// File, and sets the other fields. E is a type that embeds Entry[M], P is *E, and M is the type of the metadata.
func Entries[E any, P interface {
	*E
	Base() *Entry[M]
}, M any](s *Store, r *Root, name string, enter func(dir string) bool, describe func(P) bool) (all []P, problems []store.Problem) {
	files, problems := s.Walk(r, name, enter)
	for _, file := range files {
		e := P(new(E))
		e.Base().File = file
		if describe(e) {
			all = append(all, e)
		}
	}
	return all, problems
}

// Walk returns the names of the files in a directory and the directories below, in order. It enters a directory below if
// enter returns true for the name; otherwise the name is returned as that of a file. If enter is nil, Walk enters none. It
// follows no links. The problems are the directories that cannot be read.
func (s *Store) Walk(r *Root, dir string, enter func(dir string) bool) (files []string, problems []store.Problem) {
	entries, err := r.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the program may have just deleted it
		problems = append(problems, s.Problem("", store.Unreadable, dir, err))
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.IsDir() && enter != nil && enter(name) {
			below, unread := s.Walk(r, name, enter)
			files, problems = append(files, below...), append(problems, unread...)
		} else {
			files = append(files, name)
		}
	}
	return files, problems
}
