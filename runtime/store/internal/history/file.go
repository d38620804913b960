package history

import (
	"context"
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
	"github.com/convtools/convtools/runtime/transcript"
)

// Root is the opened directory of a store, with what is known of its files. Names in it have
// slashes. It is closed after use.
type Root struct {
	*filecache.Book
	dirs map[string]opened // the directory itself as ".", and those in it that may be links
}

// opened is an opened directory, or why it is none.
type opened struct {
	*os.Root
	dir *os.File // the same
	err error
}

// Open opens the directory of the store. What leads out of it is not followed, but for the
// directories in it that the user may have moved to elsewhere.
func (s *Store) Open() (*Root, error) {
	r := &Root{Book: s.Cache, dirs: map[string]opened{}}
	for _, name := range append([]string{"."}, s.Moved...) {
		r.dirs[name] = open(filepath.Join(s.Dir, name))
	}
	if err := r.dirs["."].err; err != nil {
		r.Close()
		return nil, fmt.Errorf("opening the conversations in %s: %w", s.Dir, err)
	}
	return r, nil
}

func open(dir string) (o opened) {
	if o.Root, o.err = safefile.OpenDir(dir); o.err == nil {
		o.dir, o.err = o.Open(".")
	}
	return o
}

// Close closes the directories.
func (r *Root) Close() {
	for _, o := range r.dirs {
		if o.Root != nil {
			o.Root.Close()
		}
		if o.dir != nil {
			o.dir.Close()
		}
	}
}

// within returns the directory that a name lies in, and its name there.
func (r *Root) within(name string) (o opened, rest string, err error) {
	first, rest, below := strings.Cut(name, "/")
	o, ok := r.dirs[first]
	switch {
	case !ok:
		o, rest = r.dirs["."], name
	case !below:
		rest = "."
	}
	return o, rest, o.err
}

// Stamp returns the stamp of a file; where there is none, nothing is known of it.
func (r *Root) Stamp(name string) (stamp filecache.Stamp) {
	o, name, err := r.within(name)
	if err == nil {
		stamp, err = filecache.At(o.dir, name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return filecache.Missing()
	}
	return stamp
}

// Stat returns what the system says of a file.
func (r *Root) Stat(name string) (fs.FileInfo, error) {
	o, name, err := r.within(name)
	if err != nil {
		return nil, err
	}
	return o.Stat(name)
}

// File opens a regular file.
func (r *Root) File(name string) (*os.File, fs.FileInfo, error) {
	o, name, err := r.within(name)
	if err != nil {
		return nil, nil, err
	}
	return safefile.OpenIn(o.Root, name)
}

// ReadFile returns what a small file has.
func (r *Root) ReadFile(name string, most int64) ([]byte, error) {
	o, name, err := r.within(name)
	if err != nil {
		return nil, err
	}
	return safefile.ReadIn(o.Root, name, most)
}

// ReadDir returns what is in a directory, in the order of its names.
func (r *Root) ReadDir(name string) ([]fs.DirEntry, error) {
	o, name, err := r.within(name)
	if err != nil {
		return nil, err
	}
	all, err := safefile.ReadDirIn(o.Root, name, -1)
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, err
}

// Walk returns the names in a directory, and in place of those of directories that are to be entered
// the names in them, in their order, and what cannot be read of these. The error is that of the
// directory itself.
func (s *Store) Walk(r *Root, dir string, enter func(dir string) bool) (files []string, problems []store.Problem, err error) {
	entries, err := r.ReadDir(dir)
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if !r.isDir(name, e) || !enter(name) {
			files = append(files, name)
			continue
		}
		below, unread, err := s.Walk(r, name, enter)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it was not deleted meanwhile
			unread = append(unread, s.Problem("", store.Unreadable, name, err))
		}
		files, problems = append(files, below...), append(problems, unread...)
	}
	return files, problems, err
}

// isDir reports whether an entry is a directory, or a link to one in the root.
func (r *Root) isDir(name string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := r.Stat(name)
	return err == nil && info.IsDir()
}

// File is the file that a conversation is recorded in. It implements [store.Record].
type File struct {
	Store  *Store
	ID     transcript.ID
	Name   string            // in the directory of the store
	Stamps []filecache.Stamp // of all files that have events of it
	// Script returns what reads the opened file.
	Script func(f *os.File, info fs.FileInfo) Script
}

// Version implements [store.Record]: it is that of when the conversation was listed.
func (f *File) Version(context.Context) (string, error) {
	var none *filecache.Book
	sheet := none.Sheet("", f.Stamps...)
	return f.Name + sheet.Version(), nil
}

// Read implements [store.Record].
func (f *File) Read(ctx context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	root, err := f.Store.Open()
	if err != nil {
		return store.Totals{}, fmt.Errorf("reading the events of %s: %w", f.ID, err)
	}
	defer root.Close()
	opened, info, err := root.File(f.Name)
	if err != nil {
		return store.Totals{}, f.Failure(err)
	}
	defer opened.Close()
	return Read(ctx, f.ID, f.Script(opened, info), yield)
}

// Failure returns why a file could not be opened: a [*store.NotFoundError] where it is gone.
func (f *File) Failure(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = &store.NotFoundError{IDs: []transcript.ID{f.ID}, Place: f.Store.Dir}
	}
	return fmt.Errorf("reading the events of %s: %w", f.ID, err)
}
