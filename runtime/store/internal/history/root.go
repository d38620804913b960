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
)

// Root is the open directory of a store, with the cached metadata of its files. Names in it have slashes. It is closed
// after use.
type Root struct {
	*filecache.Cache
	dirs map[string]dir // the directory itself as ".", and those in it that can be links
}

type dir struct {
	*os.Root
	file *os.File // the directory as a file
}

// Open opens the directory of the store. Links that lead out of it are not followed, except the
// directories in Moved.
func (s *Store) Open() (*Root, error) {
	r := &Root{Cache: s.Cache, dirs: map[string]dir{}}
	for _, name := range append([]string{"."}, s.Moved...) {
		root, err := safefile.OpenDir(filepath.Join(s.Dir, name))
		if err == nil {
			r.dirs[name] = dir{Root: root}
			var file *os.File
			file, err = root.Open(".")
			r.dirs[name] = dir{root, file}
		}
		if err != nil && name == "." {
			r.Close()
			return nil, fmt.Errorf("opening the conversations in %s: %w", s.Dir, err)
		}
	}
	return r, nil
}

// Close closes the directories.
func (r *Root) Close() {
	for _, d := range r.dirs {
		d.Root.Close()
		d.file.Close()
	}
}

// within returns the directory that contains a file, and the name of the file there.
func (r *Root) within(name string) (d dir, rest string) {
	first, rest, _ := strings.Cut(name, "/")
	if d, ok := r.dirs[first]; ok {
		return d, path.Clean(rest)
	}
	return r.dirs["."], name
}

// Stamp returns the stamp of a file: [filecache.Missing] if there is no file, and the zero stamp if it
// cannot be examined.
func (r *Root) Stamp(name string) filecache.Stamp {
	d, rest := r.within(name)
	stamp, err := filecache.At(d.file, rest)
	if errors.Is(err, fs.ErrNotExist) {
		return filecache.Missing()
	}
	return stamp
}

// File opens a regular file and returns it with its size.
func (r *Root) File(name string) (*os.File, int64, error) {
	d, rest := r.within(name)
	f, info, err := safefile.OpenIn(d.Root, rest)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// ReadFile returns the content of a file of up to most bytes.
func (r *Root) ReadFile(name string, most int64) ([]byte, error) {
	d, rest := r.within(name)
	return safefile.ReadIn(d.Root, rest, most)
}

// ReadDir returns the entries of a directory, in the order of their names.
func (r *Root) ReadDir(name string) ([]fs.DirEntry, error) {
	d, rest := r.within(name)
	entries, err := safefile.ReadDirIn(d.Root, rest, -1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// Walk returns the names of the files in a directory, in their order, and of those in its directories
// for which enter returns true. The problems are the directories that cannot be read.
func (s *Store) Walk(r *Root, name string, enter func(dir string) bool) (files []string, problems []store.Problem) {
	entries, err := r.ReadDir(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the program may have just deleted it
		problems = append(problems, s.Problem("", store.Unreadable, name, err))
	}
	for _, e := range entries {
		name := path.Join(name, e.Name())
		if !r.isDir(name, e) || !enter(name) {
			files = append(files, name)
			continue
		}
		below, unread := s.Walk(r, name, enter)
		files, problems = append(files, below...), append(problems, unread...)
	}
	return files, problems
}

// isDir reports whether an entry is a directory, or a link to one in the root.
func (r *Root) isDir(name string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	d, rest := r.within(name)
	info, err := d.Stat(rest)
	return err == nil && info.IsDir()
}
