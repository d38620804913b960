//go:build unix

package jp

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// lockFile takes JP's lock on a file, and reports false if another process holds it.
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

// terminalSession returns the session of this process.
func terminalSession() (kind, id string) {
	sid, err := unix.Getsid(0)
	if err != nil {
		return "", ""
	}
	return "getsid", strconv.Itoa(sid)
}
