//go:build unix

package safefile

import (
	"io/fs"
	"os"
	"syscall"
)

// OfAnother reports whether a file or a directory belongs to another user than this
// process, or a link in its place does, or what that leads to. One that is not there
// does not.
func OfAnother(name string) bool {
	for _, look := range []func(string) (fs.FileInfo, error){os.Lstat, os.Stat} {
		info, err := look(name)
		if err != nil {
			return false
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
			return true
		}
	}
	return false
}
