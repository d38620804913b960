// Package safefile opens, reads, writes and locks files that other programs, or people whom this program does not trust,
// may have put in their places.
//
// A read waits for nobody and has a bound; a write replaces a file as a whole or not at all. convtools opens every file
// with this package: a FIFO in the place of a file would block it. The package never leaves an [os.Root] that it is given,
// and never decides what a file is for: names come from the caller.
package safefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// The errors for something that is there and is not opened.
var (
	ErrNotRegular = errors.New("it is not a regular file")
	ErrLink       = errors.New("it is a symbolic link, or lies behind one")
)

// TooLargeError is the error for a file of more than Most bytes.
type TooLargeError struct{ Most int64 }

func (e *TooLargeError) Error() string { return fmt.Sprintf("it has more than %d bytes", e.Most) }

// Open opens a regular file for reading, and follows links. The error for anything else is [ErrNotRegular].
func Open(name string) (*os.File, fs.FileInfo, error) { return OpenFile(name, os.O_RDONLY, 0) }

// OpenIn is [Open] for a file in a root. It follows links that stay in the root.
func OpenIn(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	return OpenFileIn(root, name, os.O_RDONLY, 0)
}

// OpenFile is [Open] with the flags and the mode of [os.OpenFile], for a file that is written in place.
func OpenFile(name string, flag int, mode fs.FileMode) (*os.File, fs.FileInfo, error) {
	return regular(os.OpenFile(name, flag|nonblock, mode))
}

// OpenFileIn is [OpenFile] for a file in a root. It follows links that stay in the root.
func OpenFileIn(root *os.Root, name string, flag int, mode fs.FileMode) (*os.File, fs.FileInfo, error) {
	return regular(root.OpenFile(name, flag|nonblock, mode))
}

// OpenDir opens a directory, and follows links. The error for a FIFO and for any other file is [syscall.ENOTDIR].
func OpenDir(name string) (*os.Root, error) { return openDir(name, os.Stat, os.OpenRoot) }

// OpenDirIn is [OpenDir] for a directory in a root. It follows links that stay in the root.
func OpenDirIn(root *os.Root, name string) (*os.Root, error) {
	return openDir(name, root.Stat, root.OpenRoot)
}

// openDir opens the directory with a name, after stat has said that it is a directory: to open a FIFO would wait.
func openDir(name string, stat func(string) (fs.FileInfo, error), open func(string) (*os.Root, error)) (*os.Root, error) {
	info, err := stat(name)
	if err == nil && !info.IsDir() {
		err = pathError(name, syscall.ENOTDIR)
	}
	if err != nil {
		return nil, err
	}
	return open(name)
}

// OpenNoFollow is [OpenIn] for a path with slashes, but follows no link in the path. The error for a link is [ErrLink],
// also for a link that replaces a file or a directory while OpenNoFollow runs.
func OpenNoFollow(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	if dir, rest, below := strings.Cut(name, "/"); below {
		inner, err := openDirNoFollow(root, dir)
		if err != nil {
			return nil, nil, err
		}
		defer inner.Close()
		return OpenNoFollow(inner, rest)
	}
	before, err := lstatNoLink(root, name)
	if err != nil {
		return nil, nil, err
	}
	f, info, err := OpenIn(root, name)
	if err == nil && !os.SameFile(before, info) { // a link has replaced the file
		f.Close()
		return nil, nil, pathError(name, ErrLink)
	}
	return f, info, err
}

// openDirNoFollow is [OpenDirIn] for a base name that is no link. The error for a link is [ErrLink].
func openDirNoFollow(root *os.Root, name string) (*os.Root, error) {
	before, err := lstatNoLink(root, name)
	if err != nil {
		return nil, err
	}
	dir, err := OpenDirIn(root, name)
	if err != nil {
		return nil, err
	}
	info, err := dir.Stat(".")
	if err == nil && !os.SameFile(before, info) { // a link has replaced the directory
		err = pathError(name, ErrLink)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// lstatNoLink returns the information about a name that is no link. The error for a link is [ErrLink].
func lstatNoLink(root *os.Root, name string) (fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = pathError(name, ErrLink)
	}
	return info, err
}

// regular returns an opened file and its information. It closes a file that is not regular and returns
// [ErrNotRegular]. err is that of opening the file.
func regular(f *os.File, err error) (*os.File, fs.FileInfo, error) {
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = pathError(f.Name(), ErrNotRegular)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func pathError(name string, err error) error {
	return &fs.PathError{Op: "open", Path: name, Err: err}
}

// Read returns the content of a file that [Open] opens. The error for more than most bytes is a [*TooLargeError].
func Read(name string, most int64) ([]byte, error) {
	f, _, err := Open(name)
	return readOpened(f, err, most)
}

// ReadIn is [Read] for a file in a root, opened as [OpenIn] does.
func ReadIn(root *os.Root, name string, most int64) ([]byte, error) {
	f, _, err := OpenIn(root, name)
	return readOpened(f, err, most)
}

// readOpened returns the content of f and closes it. err is that of opening f.
func readOpened(f *os.File, err error, most int64) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, most)
}

// ReadAll returns the content of an open file. The error for more than most bytes is a [*TooLargeError].
func ReadAll(f *os.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	tooLarge := &fs.PathError{Op: "read", Path: f.Name(), Err: &TooLargeError{Most: most}}
	if info.Size() > most {
		return nil, tooLarge
	}
	var data bytes.Buffer
	data.Grow(int(max(0, info.Size())) + bytes.MinRead)
	if _, err := data.ReadFrom(io.LimitReader(f, most+1)); err != nil {
		return nil, err
	}
	if int64(data.Len()) > most {
		return nil, tooLarge
	}
	return data.Bytes(), nil
}

// ReadDirIn returns up to n entries of a directory in a root, in no order; all of them if n is -1.
func ReadDirIn(root *os.Root, name string, n int) ([]fs.DirEntry, error) {
	dir, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(n)
	if errors.Is(err, io.EOF) {
		err = nil // the directory is empty
	}
	return entries, err
}

// tempPrefix begins the names of temporary files.
const tempPrefix = ".convtools-"

// Temporary reports whether a base name is one of [Stage] and [Write]. A killed process may have left such a file.
func Temporary(base string) bool { return strings.HasPrefix(base, tempPrefix) }

// Stage writes data to a new file in the directory of name, and returns the new file's path. Both paths have slashes
// and are relative to root. Renaming the new file to name replaces name as a whole. The new file is created with mode.
// After an error there is no new file.
func Stage(root *os.Root, name string, data []byte, mode fs.FileMode) (temp string, err error) {
	return stage(root, name, data, mode, (*os.File).Sync)
}

// StageUnsynced is [Stage] for many files that can be made again: it does not wait until the disk has them. After a loss of
// power, a file that was renamed to its place can be empty.
func StageUnsynced(root *os.Root, name string, data []byte, mode fs.FileMode) (temp string, err error) {
	return stage(root, name, data, mode, func(*os.File) error { return nil })
}

// stage is [Stage] with a function that syncs the written file, or does nothing.
func stage(root *os.Root, name string, data []byte, mode fs.FileMode, sync func(*os.File) error) (temp string, err error) {
	temp = path.Join(path.Dir(name), fmt.Sprintf("%s%016x", tempPrefix, rand.Uint64()))
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, sync(f), f.Close()); err != nil {
		return "", errors.Join(err, root.Remove(temp))
	}
	return temp, nil
}

// Write makes a file or replaces a file, as a whole or not at all. The file has the mode of a file created with mode, also
// if the replaced file had another one. Write replaces a link itself, not its target. The directory has to exist.
func Write(name string, data []byte, mode fs.FileMode) error {
	root, err := OpenDir(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer root.Close()
	base := filepath.Base(name)
	temp, err := Stage(root, base, data, mode)
	if err != nil {
		return err
	}
	if err := root.Rename(temp, base); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// SyncDir returns after the disk has the names in a directory. It does nothing where directories cannot be synced.
func SyncDir(root *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// lockInterval is the time between two tries to lock: systems have no wait that a context can end.
const lockInterval = 10 * time.Millisecond

// Lock locks a directory or a file that exists against other calls of Lock, in this process or another one. It waits for the
// lock until the context is done. It does not keep away programs that do not ask for the lock. The lock ends with unlock
// or with the process; the directory or the file may be removed meanwhile. If the system or the file system has no locks,
// the error is [errors.ErrUnsupported].
func Lock(ctx context.Context, name string) (unlock func(), err error) {
	for {
		unlock, err := tryLock(name)
		if err != nil || unlock != nil {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lockInterval):
		}
	}
}
