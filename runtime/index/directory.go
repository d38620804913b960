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

// directory stores the files of an index. Files are never changed, except for the catalog, which is replaced.
type directory interface {
	// lock makes the directory if there is none, and waits until no other writer has it.
	lock(ctx context.Context) (unlock func(), err error)
	// open opens a file. The error is a [*DamageError] if it is not a regular file.
	open(name string) (content, error)
	// write makes or replaces a file, as a whole or not at all. It does not keep the data.
	write(name string, data []byte) error
	names() ([]string, error)
	remove(name string) error
}

// content is an open file. It stays readable if the file is removed or replaced.
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
		return func() {}, nil // without locks the last commit wins
	}
	return unlock, err
}

// diskFile is a file of a disk. The garbage collector closes it if nothing else does.
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

// write replaces a file. It does not sync: after a loss of power, checksums show which files are incomplete.
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
	writing chan struct{} // has an element during a write
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
	m.files.Store(name, bytes.Clone(data))
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
