//go:build unix && !solaris && !aix

package safefile

import (
	"errors"
	"os"
	"syscall"
)

// tryLock returns nil for unlock if somebody else has the lock.
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
	// Who had the lock may have removed what was opened, and somebody else may
	// have made and locked another.
	mine, err := f.Stat()
	if err == nil {
		there, err := os.Stat(name)
		if err != nil || !os.SameFile(mine, there) {
			f.Close()
			return nil, err
		}
	}
	return func() {
		// A process that is being started has a copy of every open file until it runs its program: closing this one
		// would leave the lock to that.
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
		f.Close()
	}, err
}
