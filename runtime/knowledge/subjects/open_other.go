//go:build !unix

package subjects

import (
	"io/fs"
	"os"
)

// openNonblock is nothing where files cannot be FIFOs.
const openNonblock = 0

// readDir returns up to n entries of an open directory.
func readDir(dir *os.File, n int) ([]fs.DirEntry, error) { return dir.ReadDir(n) }
