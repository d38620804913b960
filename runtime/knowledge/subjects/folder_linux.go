package subjects

import (
	"os"
	"syscall"
)

// folder is a directory of a topic that is kept open. Opening a file by its path
// in an [os.Root] opens every directory on its way, and packages os and poll ask
// about each file what does not matter here. In a directory that is open, four
// system calls read a small file.
type folder struct{ dir *os.File }

// openFolder opens a directory in root.
func openFolder(root *os.Root, path string) (folder, error) {
	dir, err := root.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	return folder{dir}, err
}

func (f folder) close() {
	if f.dir != nil {
		f.dir.Close()
	}
}

// begin fills buf with what a file in the folder begins with, and returns how
// much that is and the size of the file. A link is an error, and so is what is no
// regular file. Name has one component, and is none of "." and "..".
func (f folder) begin(name string, buf []byte) (n int, size int64, err error) {
	const flags = syscall.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_CLOEXEC | syscall.O_LARGEFILE
	fd, err := syscall.Openat(int(f.dir.Fd()), name, flags, 0)
	if err != nil {
		return 0, 0, err
	}
	defer syscall.Close(fd)
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return 0, 0, err
	}
	if stat.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return 0, 0, errNotFile
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
