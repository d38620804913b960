package safefile

import (
	"fmt"
	"os"
	"syscall"
)

// reopened returns an open directory as a file that no root opened; nil where that fails. It
// has a name by which the system finds it, wherever it is.
func reopened(dir *os.File) *os.File {
	syscall.ForkLock.RLock()
	fd, err := syscall.Dup(int(dir.Fd())) //nolint:gosec // a descriptor
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), fmt.Sprintf("/proc/self/fd/%d", fd)) //nolint:gosec // the same
}
