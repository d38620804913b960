//go:build !unix || solaris || aix

package filecache

import (
	"os"
	"path/filepath"
)

// At returns the stamp of a regular file in a directory; the zero stamp for anything else, as a link. The error is
// that of the system, which has only the time of modification.
func At(dir *os.File, name string) (Stamp, error) {
	info, err := os.Lstat(filepath.Join(dir.Name(), name))
	if err != nil {
		return Stamp{}, err
	}
	return Stamp{known: info.Mode().IsRegular(), size: info.Size(), modified: info.ModTime().UnixNano()}, nil
}
