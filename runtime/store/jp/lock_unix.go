//go:build unix && !solaris && !aix

package jp

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes the lock that JP takes on a file, and reports false where another
// process has it.
func lockFile(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return err == nil, err
		}
	}
}

// releaseLock removes the file before the lock ends, so that whoever waits for it
// sees that it is gone.
func releaseLock(f *os.File, remove func()) {
	remove()
	f.Close()
}
