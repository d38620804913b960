//go:build unix && !solaris && !aix

package facts

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// At returns the stamp of a regular file below a directory, with one system call. A link, or
// anything else, has none. The error is that of the system.
func At(dir *os.File, name string) (Stamp, error) {
	var stat unix.Stat_t
	for {
		err := unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return Stamp{}, err
		}
	}
	return Stamp{stat.Mode&unix.S_IFMT == unix.S_IFREG, uint64(stat.Ino), stat.Size, unix.TimespecToNsec(stat.Mtim), unix.TimespecToNsec(stat.Ctim)}, nil //nolint:unconvert // of another type on some systems
}

// Of returns the stamp of a file of which this is known.
func Of(info fs.FileInfo) Stamp {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Stamp{}
	}
	return Stamp{info.Mode().IsRegular(), uint64(stat.Ino), stat.Size, info.ModTime().UnixNano(), changed(stat)} //nolint:unconvert // as above
}
