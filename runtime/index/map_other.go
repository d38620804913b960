//go:build !windows

package index

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the first bytes of a file into memory.
func mapFile(f *os.File, size int) (data []byte, unmap func(), err error) {
	data, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return data, func() { _ = unix.Munmap(data) }, nil
}
