package workspace

import (
	"context"
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
	return readAll(context.Background(), f, nil, info.Size(), max)
}

// readAll reads a file into buf, or into a new buffer when that is too small.
// size is what the file is expected to have; it may grow while it is read. The
// context is looked at between chunks.
func readAll(ctx context.Context, f *os.File, buf []byte, size, max int64) ([]byte, error) {
	const chunk = 8 << 20
	if size > max {
		return nil, tooLarge(f, size, max)
	}
	// One byte more shows the end of the file without growing the buffer.
	if int64(cap(buf)) <= size {
		buf = make([]byte, 0, size+1)
	}
	buf = buf[:0]
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := f.Read(buf[len(buf):min(cap(buf), len(buf)+chunk)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > max {
			return nil, tooLarge(f, int64(len(buf)), max)
		}
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func tooLarge(f *os.File, size, max int64) error {
	return fmt.Errorf("%s has %d bytes; at most %d are read", path.Base(f.Name()), size, max)
}
