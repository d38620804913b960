package jp

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// openBeneath opens a file of the directory dir, which is the one of a store, with
// one system call for a path of several names, where [os.Root] needs one for each
// of them and more for what it returns. The kernel follows no link out of the
// directory. It returns nil where the kernel cannot do that, and for anything but a
// regular file: the caller then finds out what is wrong.
func openBeneath(dir *os.File, name string) *file {
	fd, ok := openDescriptor(dir, name, unix.O_NONBLOCK) // a FIFO would be waited for
	if !ok {
		return nil
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil || stat.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return nil
	}
	return &file{descriptor(fd), stat.Size, time.Unix(stat.Mtim.Unix())}
}

// openDirBeneath is the same for a directory. Unlike one that [os.Root] opens, it
// is read without asking about each entry.
func openDirBeneath(dir *os.File, name string) *os.File {
	fd, ok := openDescriptor(dir, name, unix.O_DIRECTORY)
	if !ok {
		return nil
	}
	return os.NewFile(uintptr(fd), name)
}

func openDescriptor(dir *os.File, name string, flags uint64) (int, bool) {
	if dir == nil {
		return 0, false
	}
	fd, err := unix.Openat2(int(dir.Fd()), name, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_CLOEXEC | flags,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS,
	})
	return fd, err == nil
}

// descriptor is an open file.
type descriptor int

// ReadAt implements [io.ReaderAt].
func (d descriptor) ReadAt(p []byte, offset int64) (read int, err error) {
	for read < len(p) {
		n, err := unix.Pread(int(d), p[read:], offset+int64(read))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return read, os.NewSyscallError("read", err)
		case n == 0:
			return read, io.EOF
		default:
			read += n
		}
	}
	return read, nil
}

// Close implements [io.Closer].
func (d descriptor) Close() error { return unix.Close(int(d)) }
