//go:build !unix || solaris || aix

package filecache

import (
	"os"
	"path/filepath"
)

// At returns the stamp of a regular file below a directory. The error is that of the system, which
// tells only when the file was modified.
func At(dir *os.File, name string) (Stamp, error) {
	info, err := os.Lstat(filepath.Join(dir.Name(), name))
	if err != nil {
		return Stamp{}, err
	}
	return Stamp{known: info.Mode().IsRegular(), size: info.Size(), modified: info.ModTime().UnixNano()}, nil
}
