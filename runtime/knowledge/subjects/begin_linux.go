package subjects

import (
	"os"
	"syscall"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// beginOf fills buf with what a file in an open directory begins with, and returns
// how much that is and the size of the file. A link is an error, and so is what is
// no regular file. name has one component, and is none of "." and "..".
//
// Four system calls read a small file this way. Through an [os.Root] and package
// os it takes twice as many, and `knowledge ls` of 20,000 subjects twice as long.
func beginOf(dir *os.File, name string, buf []byte) (n int, size int64, err error) {
	const flags = syscall.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_CLOEXEC | syscall.O_LARGEFILE
	fd, err := syscall.Openat(int(dir.Fd()), name, flags, 0)
	if err != nil {
		return 0, 0, err
	}
	defer syscall.Close(fd)
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return 0, 0, err
	}
	if stat.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return 0, 0, safefile.ErrNotRegular
	}
	for n < len(buf) {
		read, err := syscall.Read(fd, buf[n:])
		if err != nil {
			return 0, 0, err
		}
		if n += read; read == 0 || int64(n) == stat.Size {
			break
		}
	}
	return n, stat.Size, nil
}
