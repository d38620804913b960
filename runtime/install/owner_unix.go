//go:build unix

package install

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and group of another, so that a change made
// as root does not take a file from its user, and returns the mode it may have:
// a lesser one where the group cannot be kept. Nothing is done where they agree,
// or where there is no other file.
func keepOwner(f *os.File, like string, mode fs.FileMode) (fs.FileMode, error) {
	other, err := os.Stat(like)
	if err != nil {
		return mode, nil //nolint:nilerr // a new file belongs to whoever makes it
	}
	mine, err := f.Stat()
	if err != nil {
		return mode, err
	}
	want, ok := other.Sys().(*syscall.Stat_t)
	have, ok2 := mine.Sys().(*syscall.Stat_t)
	if !ok || !ok2 || want.Uid == have.Uid && want.Gid == have.Gid {
		return mode, nil
	}
	err = f.Chown(int(want.Uid), int(want.Gid))
	switch {
	case err == nil:
		return mode, nil
	case want.Uid != have.Uid:
		return mode, fmt.Errorf("the file belongs to somebody else: %w", err)
	}
	return withoutGroup(mode), nil // a group that its user is not in can only be lost
}

// withoutGroup returns the mode of a file that gets another group. That one must
// not be let in for the former, and who is in the former must not be let in with
// all others: both may do what the group and all others could. Where there is an
// access control list, this also bounds what it gives to other users and groups.
func withoutGroup(mode fs.FileMode) fs.FileMode {
	both := mode >> 3 & mode & 0o007
	return mode&^0o077 | both<<3 | both
}

// hardLinks returns how many names a file has.
func hardLinks(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink) //nolint:unconvert // narrower on other systems
	}
	return 1
}
