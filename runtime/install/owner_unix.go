//go:build unix

package install

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and group of another, so that a change made
// as root does not take a file from its user. Nothing is done where they agree,
// or where there is no other file.
func keepOwner(f *os.File, like string) error {
	other, err := os.Stat(like)
	if err != nil {
		return nil //nolint:nilerr // a new file belongs to whoever makes it
	}
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	want, ok := other.Sys().(*syscall.Stat_t)
	have, ok2 := mine.Sys().(*syscall.Stat_t)
	if !ok || !ok2 || want.Uid == have.Uid && want.Gid == have.Gid {
		return nil
	}
	// A group that its user is not in can only be lost.
	if err := f.Chown(int(want.Uid), int(want.Gid)); err != nil && want.Uid != have.Uid {
		return fmt.Errorf("the file belongs to somebody else: %w", err)
	}
	return nil
}

// hardLinks returns how many names a file has.
func hardLinks(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink) //nolint:unconvert // narrower on other systems
	}
	return 1
}
