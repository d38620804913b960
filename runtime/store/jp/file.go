package jp

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/convtools/convtools/runtime/base/safefile"
)

var errLeavesStore = errors.New("is a link that leads out of the store")

// openRegular opens a regular file inside a store. It neither waits for the other
// end of a FIFO nor follows a link out of the store.
func openRegular(root *os.Root, name string) (*os.File, error) {
	f, _, err := safefile.OpenIn(root, name)
	switch {
	case err != nil && leavesRoot(root, err):
		err = fmt.Errorf("%s %w", path.Base(name), errLeavesStore)
	case errors.Is(err, safefile.ErrNotRegular):
		err = fmt.Errorf("%s: %w", path.Base(name), safefile.ErrNotRegular)
	}
	return f, err
}

// leavesRoot reports whether err is about a path that leads out of the root. Package
// os does not export that error, so one is provoked to compare with.
func leavesRoot(root *os.Root, err error) bool {
	_, outside := root.Lstat("..")
	var pathErr *fs.PathError
	return errors.As(outside, &pathErr) && errors.Is(err, pathErr.Err)
}

// readFile reads a file of at most max bytes.
func readFile(root *os.Root, name string, max int64) ([]byte, error) {
	f, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, max)
}

// readAll reads a file of at most max bytes.
func readAll(f *os.File, max int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if size := info.Size(); size > max {
		return nil, tooLarge(f.Name(), size, max)
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // it was cut off meanwhile
		err = nil
	}
	return data[:n], reason(err)
}

func tooLarge(name string, size, max int64) error {
	return fmt.Errorf("%s has %d bytes; at most %d are read", path.Base(name), size, max)
}
