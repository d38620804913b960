package jp

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

var (
	errNotRegular   = errors.New("it is not a regular file")
	errNotDirectory = errors.New("it is not a directory")
	errLeavesStore  = errors.New("is a link that leads out of the store")
)

// openRegular opens a regular file inside a store. It neither waits for the
// other end of a FIFO nor follows a link out of the store.
func openRegular(root *os.Root, name string) (*os.File, os.FileInfo, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		if leavesRoot(root, err) {
			err = fmt.Errorf("%s %w", path.Base(name), errLeavesStore)
		}
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path.Base(name), errNotRegular)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// leavesRoot reports whether err says that a path leads out of the root. Package
// os does not export that error, so one is provoked to compare with.
func leavesRoot(root *os.Root, err error) bool {
	_, outside := root.Lstat("..")
	var pathErr *fs.PathError
	return errors.As(outside, &pathErr) && errors.Is(err, pathErr.Err)
}

// readSmallFile reads a file of at most max bytes.
func readSmallFile(root *os.Root, name string, max int64) ([]byte, error) {
	f, info, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > max {
		return nil, tooLarge(f, info.Size(), max)
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, err
	}
	return data[:n], nil
}

func tooLarge(f *os.File, size, max int64) error {
	return fmt.Errorf("%s has %d bytes; at most %d are read", path.Base(f.Name()), size, max)
}
