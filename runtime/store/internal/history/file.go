package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/transcript"
)

// Root is an opened directory of a store. It is closed after use.
type Root struct {
	*os.Root
	facts.Look
	dir *os.File // the same; nil where nothing is kept
}

// OpenRoot opens a directory for a look at its files.
func OpenRoot(dir string, look facts.Look) (*Root, error) {
	root, err := safefile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	r := &Root{Root: root, Look: look}
	if r.Wanted() {
		r.dir, _ = root.Open(".") // without it everything is read
	}
	return r, nil
}

// Close saves what was found out, and implements [store.Session].
func (r *Root) Close() {
	r.Save()
	if r.dir != nil {
		r.dir.Close()
	}
	r.Root.Close()
}

// Stamp returns the stamp of a file, which has none where nothing is kept.
func (r *Root) Stamp(name string) (facts.Stamp, error) {
	if r.dir == nil {
		return facts.Stamp{}, nil
	}
	return facts.At(r.dir, name)
}

// ReadDir returns what is in a directory, in the order of its names.
func (r *Root) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := safefile.ReadDirIn(r.Root, name)
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, err
}

// IsDir reports whether there is a directory, or a link to one in the root.
func (r *Root) IsDir(name string) bool {
	info, err := r.Stat(name)
	return err == nil && info.IsDir()
}

// File is the file that a conversation is recorded in. It implements [store.Record] but for
// Events.
type File struct {
	facts.Sheet // of the events; zero where nothing is kept

	Store *Store
	ID    transcript.ID
	Name  string // in the directory of the store, with slashes
}

// Open opens the file. The error is a [*store.NotFoundError] where it is gone.
func (f *File) Open() (*os.File, fs.FileInfo, error) { return f.OpenOther(f.Name) }

// OpenOther opens another file of the store, as Open does.
func (f *File) OpenOther(name string) (*os.File, fs.FileInfo, error) {
	root, err := safefile.OpenDir(f.Store.Dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	opened, info, err := safefile.OpenIn(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = &store.NotFoundError{IDs: []transcript.ID{f.ID}, Place: f.Store.Dir}
	}
	return opened, info, err
}

// Version implements [store.Record].
func (f *File) Version(context.Context) (string, error) {
	if v := f.Sheet.Version(); v != "" {
		return v, nil
	}
	opened, info, err := f.Open()
	if err != nil {
		return "", fmt.Errorf("looking at the events of %s: %w", f.ID, err)
	}
	opened.Close()
	return fmt.Sprintf("%s %d %d", f.Name, info.Size(), info.ModTime().UnixNano()), nil
}
