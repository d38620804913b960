//go:build unix

package install

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and group of the one that it replaces, so that a
// change made as root does not take a file from its user, and returns the mode it may
// have: without the group and others if the group cannot be kept.
func keepOwner(root *os.Root, name string, like snapshot, mode fs.FileMode) (fs.FileMode, error) {
	if !like.exists {
		return mode, nil
	}
	mine, err := root.Lstat(name)
	if err != nil {
		return mode, err
	}
	want, ok := like.info.Sys().(*syscall.Stat_t)
	have, ok2 := mine.Sys().(*syscall.Stat_t)
	if !ok || !ok2 || want.Uid == have.Uid && want.Gid == have.Gid {
		return mode, nil
	}
	err = root.Lchown(name, int(want.Uid), int(want.Gid))
	switch {
	case err == nil:
		return mode, nil
	case want.Uid != have.Uid:
		return mode, fmt.Errorf("the file belongs to somebody else: %w", err)
	}
	return mode &^ 0o077, nil // a group that its user is not in can only be lost
}

// hardLinks returns how many names a file has.
func hardLinks(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink) //nolint:unconvert // narrower on other systems
	}
	return 1
}
