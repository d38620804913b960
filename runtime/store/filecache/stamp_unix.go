//go:build unix && !solaris && !aix

package filecache

import (
	"os"

	"golang.org/x/sys/unix"
)

// At returns the stamp of a regular file in a directory; the zero stamp for anything else, as a link. The error is
// that of the system.
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
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return Stamp{}, nil
	}
	return Stamp{true, uint64(stat.Ino), stat.Size, unix.TimespecToNsec(stat.Mtim), unix.TimespecToNsec(stat.Ctim)}, nil //nolint:unconvert // of another type on some systems
}
