//go:build unix

package safefile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// nonblock makes opening a FIFO return at once.
const nonblock = syscall.O_NONBLOCK

// tryLock locks a directory or a file as [Lock] does, but does not wait. Both results are nil if somebody else has the
// lock, or if another file is now in the place of the one that was locked.
func tryLock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		f.Close()
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return nil, nil
		case errors.Is(err, syscall.ENOLCK):
			err = errors.ErrUnsupported
		}
		return nil, &os.PathError{Op: "flock", Path: name, Err: err}
	}
	// The last owner of the lock may have removed this file, and somebody else may have made and locked another.
	locked, err := f.Stat()
	var current fs.FileInfo
	if err == nil {
		current, err = os.Stat(name)
	}
	if err != nil || !os.SameFile(locked, current) {
		f.Close()
		return nil, err
	}
	return func() {
		// A process that is being started has a copy of every open file until it runs its program: closing this file
		// alone would leave the lock with that process.
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
		f.Close()
	}, nil
}

// OfAnother reports whether a file or a directory, a link in its place, or the target of that link belongs to another user
// than this process. A file that does not exist belongs to nobody.
func OfAnother(name string) bool {
	for _, stat := range []func(string) (fs.FileInfo, error){os.Lstat, os.Stat} {
		info, err := stat(name)
		if err != nil {
			return false
		}
		if sys, ok := info.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Geteuid() {
			return true
		}
	}
	return false
}
