// Package safefile opens, reads, writes and locks files that other programs, or
// people this program does not trust, may have put where they are.
//
// A read waits for nobody and has a bound; a write replaces a file as a whole or
// not at all. All that convtools opens it opens with this package: a FIFO in the
// place of a file would keep it waiting. The package never leaves an [os.Root] it was
// given, and never decides what a file is for: names come from the caller.
package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// The reasons for which something is not opened that is there.
var (
	ErrNotRegular = errors.New("it is not a regular file")
	ErrLink       = errors.New("it is a symbolic link, or lies behind one")
)

// TooLargeError is the error for a file of more bytes than may be read.
type TooLargeError struct{ Most int64 }

func (e *TooLargeError) Error() string { return fmt.Sprintf("it has more than %d bytes", e.Most) }

// Open opens a regular file for reading, through links. It does not wait for a
// writer of a FIFO, which is [ErrNotRegular], like a directory or a device.
func Open(name string) (*os.File, fs.FileInfo, error) { return OpenFile(name, os.O_RDONLY, 0) }

// OpenIn is [Open] for a file in a root, and for links that stay in it.
func OpenIn(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	return OpenFileIn(root, name, os.O_RDONLY, 0)
}

// OpenFile is [Open] with the flags and the mode of [os.OpenFile], for a file that
// is written in place.
func OpenFile(name string, flag int, mode fs.FileMode) (*os.File, fs.FileInfo, error) {
	return regular(os.OpenFile(name, flag|nonblock, mode))
}

// OpenFileIn is [OpenFile] for a file in a root, and for links that stay in it.
func OpenFileIn(root *os.Root, name string, flag int, mode fs.FileMode) (*os.File, fs.FileInfo, error) {
	return regular(root.OpenFile(name, flag|nonblock, mode))
}

// OpenDir opens a directory, through links. It does not wait for a writer of a FIFO,
// which is [syscall.ENOTDIR], like everything that is no directory.
func OpenDir(name string) (*os.Root, error) { return openDir(name, os.Stat, os.OpenRoot) }

// OpenDirIn is [OpenDir] for a directory in a root, and for links that stay in it.
func OpenDirIn(root *os.Root, name string) (*os.Root, error) {
	return openDir(name, root.Stat, root.OpenRoot)
}

// openDir looks first: a root is opened as a file is, and waits.
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

// OpenNoFollow is [OpenIn] for a path, with slashes, that has no link in it. One
// in any place is [ErrLink], also if it came there a moment ago.
func OpenNoFollow(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	if slash := strings.LastIndexByte(name, '/'); slash >= 0 {
		dir, err := OpenDirNoFollow(root, name[:slash])
		if err != nil {
			return nil, nil, err
		}
		defer dir.Close()
		root, name = dir, name[slash+1:]
	}
	there, err := lstat(root, name)
	if err != nil {
		return nil, nil, err
	}
	f, info, err := OpenIn(root, name)
	if err == nil && !os.SameFile(there, info) {
		f.Close()
		return nil, nil, pathError(name, ErrLink)
	}
	return f, info, err
}

// OpenDirNoFollow opens a directory in a root, by a path with slashes that has no
// link in it. One in any place is [ErrLink], also if it came there a moment ago.
func OpenDirNoFollow(root *os.Root, name string) (*os.Root, error) {
	dir, rest, below := strings.Cut(name, "/")
	there, err := lstat(root, dir)
	if err != nil {
		return nil, err
	}
	if !there.IsDir() {
		return nil, pathError(dir, syscall.ENOTDIR)
	}
	inner, err := OpenDirIn(root, dir)
	if err != nil {
		return nil, err
	}
	info, err := inner.Stat(".")
	if err == nil && !os.SameFile(there, info) {
		err = pathError(dir, ErrLink)
	}
	if err != nil {
		inner.Close()
		return nil, err
	}
	if !below {
		return inner, nil
	}
	defer inner.Close()
	return OpenDirNoFollow(inner, rest)
}

// lstat looks at what is no link.
func lstat(root *os.Root, name string) (fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = pathError(name, ErrLink)
	}
	return info, err
}

// regular closes what was opened unless it is a regular file.
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

// Read returns what a regular file holds, which is opened as [Open] does. More
// bytes than most are a [*TooLargeError].
func Read(name string, most int64) ([]byte, error) {
	f, info, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, info.Size(), most)
}

// ReadIn is [Read] for a file in a root, opened as [OpenIn] does.
func ReadIn(root *os.Root, name string, most int64) ([]byte, error) {
	f, info, err := OpenIn(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, info.Size(), most)
}

// ReadAll returns what is left to read in an open file. It does not rely on a
// size, which may grow. More bytes than most are a [*TooLargeError].
func ReadAll(f *os.File, most int64) ([]byte, error) { return readAll(f, 0, most) }

// readAll is [ReadAll] of a file with about size bytes left.
func readAll(f *os.File, size, most int64) ([]byte, error) {
	var data bytes.Buffer
	if size <= most {
		data.Grow(int(max(0, size)) + bytes.MinRead)
		if _, err := data.ReadFrom(io.LimitReader(f, most+1)); err != nil {
			return nil, err
		}
		size = int64(data.Len())
	}
	if size > most {
		return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: &TooLargeError{Most: most}}
	}
	return data.Bytes(), nil
}

// tempPrefix begins the names of temporary files.
const tempPrefix = ".convtools-"

// Temporary reports whether a file's base name is one that [Stage] and [Write]
// give to temporary files. One of those that nobody is writing was left behind
// by a process that was killed.
func Temporary(base string) bool { return strings.HasPrefix(base, tempPrefix) }

// Stage writes a new file beside a place in a root, name with slashes, and
// returns its name. Renaming it to name replaces what is there as a whole. Its
// mode is that of a file created with mode. Where the error is not nil, nothing
// is left behind.
func Stage(root *os.Root, name string, data []byte, mode fs.FileMode) (temp string, err error) {
	return stage(root, name, data, mode, (*os.File).Sync)
}

// StageUnsynced is [Stage] for files that can be made again, and of which there are
// many: it does not wait until the disk has them. Where power is lost, a file that
// was renamed to its place can be empty.
func StageUnsynced(root *os.Root, name string, data []byte, mode fs.FileMode) (temp string, err error) {
	return stage(root, name, data, mode, func(*os.File) error { return nil })
}

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

// Write replaces a file, or makes it, as a whole or not at all. Its mode is that
// of a file created with mode, also where there was one with another. A link in
// the file's place is replaced; the folder has to be there.
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
