package index

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// directory is where an index has its files. A file that was created is never changed, but for
// the catalog, which is replaced.
type directory interface {
	// lock makes the directory where there is none, and waits until nobody else writes there.
	lock(ctx context.Context) (unlock func(), err error)
	// open opens a file; it is a [*DamageError] that something else is in its place.
	open(name string) (content, error)
	// write makes a file, or puts another one in its place, as a whole or not at all.
	write(name string, data []byte) error
	names() ([]string, error)
	remove(name string) error
}

// content is what an open file has, whatever becomes of its name.
type content interface {
	io.ReaderAt
	io.Closer
	Len() int
}

// disk is a directory of the file system, by its path.
type disk string

func (d disk) path(name string) string { return filepath.Join(string(d), name) }

func (d disk) lock(ctx context.Context) (func(), error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	unlock, err := safefile.Lock(ctx, string(d))
	if errors.Is(err, errors.ErrUnsupported) {
		return func() {}, nil // a system without locks: the last one to commit wins
	}
	return unlock, err
}

// diskFile is a file of a disk. If nobody closes it, it is closed once nobody reads it.
type diskFile struct {
	*os.File
	size int64
}

func (f diskFile) Len() int { return int(f.size) }

func (d disk) open(name string) (content, error) {
	f, info, err := safefile.Open(d.path(name))
	if errors.Is(err, safefile.ErrNotRegular) {
		return nil, &DamageError{name, err}
	}
	if err != nil {
		return nil, err
	}
	return diskFile{f, info.Size()}, nil
}

// write does not wait for the disk: what a loss of power leaves of a file does not fit its checksums.
func (d disk) write(name string, data []byte) error {
	root, err := safefile.OpenDir(string(d))
	if err != nil {
		return err
	}
	defer root.Close()
	temp, err := safefile.StageUnsynced(root, name, data, 0o600)
	if err != nil {
		return err
	}
	if err := root.Rename(temp, name); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

func (d disk) names() (names []string, err error) {
	entries, err := os.ReadDir(string(d))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (d disk) remove(name string) error { return os.Remove(d.path(name)) }

// memory is a directory that is only in the memory of this process.
type memory struct {
	writing chan struct{} // holds an element while somebody writes
	files   sync.Map      // []byte by name
}

func newMemory() *memory { return &memory{writing: make(chan struct{}, 1)} }

func (m *memory) lock(ctx context.Context) (func(), error) {
	select {
	case m.writing <- struct{}{}:
		return func() { <-m.writing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }

func (m *memory) open(name string) (content, error) {
	if data, ok := m.files.Load(name); ok {
		return memoryFile{bytes.NewReader(data.([]byte))}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (m *memory) write(name string, data []byte) error {
	m.files.Store(name, data)
	return nil
}

func (m *memory) names() (names []string, err error) {
	for name := range m.files.Range {
		names = append(names, name.(string))
	}
	return names, nil
}

func (m *memory) remove(name string) error {
	m.files.Delete(name)
	return nil
}
