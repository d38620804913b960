package safefile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	nonblock              = 0 // there are no FIFOs
	errorSharingViolation = syscall.Errno(32)
	// fileFlagDeleteOnClose removes a file with its last handle, which a process that is killed closes too.
	fileFlagDeleteOnClose = 0x04000000
)

// OfAnother reports false: other users may not write in the profile of a user.
func OfAnother(string) bool { return false }

// tryLock locks a directory or a file as [Lock] does, but does not wait. Both results are nil if somebody else has the
// lock. The lock is a file that one process alone can open, in the user's folder for temporary files: Windows cannot
// lock a directory. The file disappears with the lock.
func tryLock(name string) (unlock func(), err error) {
	full, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(full); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(strings.ToLower(full)))
	lock := filepath.Join(os.TempDir(), fmt.Sprintf("convtools-%x.lock", sum[:16]))
	text, err := syscall.UTF16PtrFromString(lock)
	if err != nil {
		return nil, err
	}
	handle, err := syscall.CreateFile(text, syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, fileFlagDeleteOnClose, 0)
	switch {
	case errors.Is(err, errorSharingViolation), errors.Is(err, syscall.ERROR_ACCESS_DENIED): // denied: it is being removed
		return nil, nil
	case err != nil:
		return nil, &os.PathError{Op: "lock", Path: lock, Err: err}
	}
	return func() { _ = syscall.CloseHandle(handle) }, nil
}
