package jp

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile takes the lock that JP takes on a file, and reports false where another
// process has it.
func lockFile(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, ^uint32(0), ^uint32(0), new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// releaseLock removes the file when it is closed: an open one cannot be removed
// here, and so neither can one that somebody else has opened meanwhile.
func releaseLock(f *os.File, remove func()) {
	f.Close()
	remove()
}
