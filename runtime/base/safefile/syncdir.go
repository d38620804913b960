package safefile

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// SyncDir returns once the disk has which files are in a directory. It does nothing where directories cannot be synced:
// on Windows, and on some file systems.
func SyncDir(root *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
