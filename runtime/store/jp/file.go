package jp

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
)

var errLeavesStore = errors.New("is a link that leads out of the store")

// content is what an open file holds.
type content interface {
	io.ReaderAt
	io.Closer
}

// file is a regular file that is open.
type file struct {
	content
	size     int64
	modified time.Time
}

// openRegular opens a regular file inside a store. It neither waits for the other
// end of a FIFO nor follows a link out of the store. dir may be nil.
func openRegular(root *os.Root, dir *os.File, name string) (*file, error) {
	if f := openBeneath(dir, name); f != nil {
		return f, nil
	}
	f, info, err := safefile.OpenIn(root, name)
	switch {
	case err == nil:
		return &file{f, info.Size(), info.ModTime()}, nil
	case leavesRoot(root, err):
		err = fmt.Errorf("%s %w", path.Base(name), errLeavesStore)
	case errors.Is(err, safefile.ErrNotRegular):
		err = fmt.Errorf("%s: %w", path.Base(name), safefile.ErrNotRegular)
	}
	return nil, err
}

// leavesRoot reports whether err is about a path that leads out of the root. Package
// os does not export that error, so one is provoked to compare with.
func leavesRoot(root *os.Root, err error) bool {
	_, outside := root.Lstat("..")
	var pathErr *fs.PathError
	return errors.As(outside, &pathErr) && errors.Is(err, pathErr.Err)
}

// readSmallFile reads a file of at most max bytes.
func readSmallFile(root *os.Root, dir *os.File, name string, max int64) ([]byte, error) {
	f, err := openRegular(root, dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.size > max {
		return nil, tooLarge(name, f.size, max)
	}
	data := make([]byte, f.size)
	n, err := f.ReadAt(data, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	return data[:n], nil
}

func tooLarge(name string, size, max int64) error {
	return fmt.Errorf("%s has %d bytes; at most %d are read", path.Base(name), size, max)
}
