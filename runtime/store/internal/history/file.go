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
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/transcript"
)

// Root is an opened directory of a store, with what is kept of its files. It is closed after use.
type Root struct {
	*os.Root
	*filecache.Book
	dir *os.File // the same
}

// OpenRoot opens a directory.
func OpenRoot(dir string, book *filecache.Book) (*Root, error) {
	root, err := safefile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	r := &Root{Root: root, Book: book}
	if r.dir, err = root.Open("."); err != nil {
		root.Close()
		return nil, err
	}
	return r, nil
}

// Close saves what was found out.
func (r *Root) Close() {
	r.Save()
	r.dir.Close()
	r.Root.Close()
}

// Stamp returns the stamp of a file.
func (r *Root) Stamp(name string) (filecache.Stamp, error) { return filecache.At(r.dir, name) }

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

// File is the file that a conversation is recorded in. It implements [store.Record].
type File struct {
	Store  *Store
	ID     transcript.ID
	Name   string            // in the directory of the store, with slashes
	Stamps []filecache.Stamp // of all files that have events of it
	// Script returns the records of the opened file.
	Script func(f *os.File, info fs.FileInfo) recorded.Script
}

// Open opens a file of the store. The error is a [*store.NotFoundError] where it is gone.
func (f *File) Open(name string) (*os.File, fs.FileInfo, error) {
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

// Version implements [store.Record]: it is that of when the conversation was listed.
func (f *File) Version(context.Context) (string, error) {
	var none *filecache.Book
	sheet := none.Sheet("", f.Stamps...)
	return f.Name + sheet.Version(), nil
}

// Read implements [store.Record].
func (f *File) Read(ctx context.Context, mark *[]byte, yield func(*transcript.Event) bool) (store.Totals, error) {
	opened, info, err := f.Open(f.Name)
	if err != nil {
		return store.Totals{}, fmt.Errorf("reading the events of %s: %w", f.ID, err)
	}
	defer opened.Close()
	return recorded.Read(ctx, f.ID, f.Script(opened, info), mark, yield)
}
