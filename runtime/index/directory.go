package index

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// directory is where an index has its files. A file that was created is never changed, but for
// the catalog, which is replaced.
type directory interface {
	// lock makes the directory where there is none, and waits until nobody else writes there.
	lock(ctx context.Context) (unlock func(), err error)
	// stamp returns what is another one once a file was replaced; [fs.ErrNotExist] without the file.
	stamp(name string) (stamp, error)
	// read returns the content of a file.
	read(name string) ([]byte, error)
	// write makes a file, or puts another one in its place, as a whole or not at all.
	write(name string, data []byte) error
	// open returns the content of a file of a size, and what ends its use. It is a *DamageError
	// where it has another size.
	open(name string, size int64) (data []byte, done func(), err error)
	names() ([]string, error)
	remove(name string) error
}

// stamp tells one state of a file from another.
type stamp interface{ same(other stamp) bool }

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

// fileStamp is the inode, the time and the size of a file.
type fileStamp struct{ fs.FileInfo }

func (s fileStamp) same(other stamp) bool {
	o, ok := other.(fileStamp)
	return ok && os.SameFile(s.FileInfo, o.FileInfo) && s.ModTime().Equal(o.ModTime()) && s.Size() == o.Size()
}

func (d disk) stamp(name string) (stamp, error) {
	info, err := os.Stat(d.path(name))
	if err != nil {
		return nil, err
	}
	return fileStamp{info}, nil
}

// maxRead bounds what is read of a catalog, in bytes.
const maxRead = 1 << 30

func (d disk) read(name string) ([]byte, error) {
	data, err := safefile.Read(d.path(name), maxRead)
	return data, damaged(name, err)
}

// damaged is the error for something else in place of a file.
func damaged(name string, err error) error {
	if errors.Is(err, safefile.ErrNotRegular) {
		return &DamageError{name, safefile.ErrNotRegular}
	}
	return err
}

func (d disk) write(name string, data []byte) error {
	return safefile.Write(d.path(name), data, 0o600)
}

func (d disk) open(name string, size int64) ([]byte, func(), error) {
	f, info, err := safefile.Open(d.path(name))
	if err != nil {
		return nil, nil, damaged(name, err)
	}
	defer f.Close()
	if info.Size() != size || size == 0 {
		return nil, nil, &DamageError{name, errCut}
	}
	return mapFile(f, int(size))
}

func (d disk) names() ([]string, error) {
	entries, err := os.ReadDir(string(d))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (d disk) remove(name string) error { return os.Remove(d.path(name)) }

// memory is a directory that is only in the memory of this process.
type memory struct {
	writing chan struct{} // holds an element while somebody writes
	mu      sync.Mutex
	files   map[string]*content
}

// content is a file, and by its address the stamp of it.
type content struct{ data []byte }

func (c *content) same(other stamp) bool { return stamp(c) == other }

func (m *memory) lock(ctx context.Context) (func(), error) {
	select {
	case m.writing <- struct{}{}:
		return func() { <-m.writing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *memory) stamp(name string) (stamp, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.files[name]; f != nil {
		return f, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (m *memory) read(name string) ([]byte, error) {
	f, err := m.stamp(name)
	if err != nil {
		return nil, err
	}
	return f.(*content).data, nil
}

func (m *memory) write(name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[name] = &content{data}
	return nil
}

func (m *memory) open(name string, _ int64) ([]byte, func(), error) {
	data, err := m.read(name)
	return data, func() {}, err
}

func (m *memory) names() ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.files)), nil
}

func (m *memory) remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, name)
	return nil
}
