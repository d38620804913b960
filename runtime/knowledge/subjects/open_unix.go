//go:build unix

package subjects

import (
	"io/fs"
	"os"
	"syscall"
)

// openNonblock makes opening a FIFO return at once.
const openNonblock = syscall.O_NONBLOCK

// readDir returns up to n entries of an open directory.
//
// A directory opened in an [os.Root] would call lstat for every entry, which
// takes four times as long as reading them. The types of entries are all that
// is asked for and come with their names, so the entries are read from a
// duplicate of the descriptor, of which package os does not know the root.
func readDir(dir *os.File, n int) ([]fs.DirEntry, error) {
	syscall.ForkLock.RLock()
	fd, err := syscall.Dup(int(dir.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	f := os.NewFile(uintptr(fd), dir.Name())
	defer f.Close()
	return f.ReadDir(n)
}
