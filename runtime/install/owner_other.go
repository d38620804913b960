//go:build !unix

package install

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a file has the owner of its folder.
func keepOwner(_ *os.Root, _ string, _ snapshot, mode fs.FileMode) (fs.FileMode, error) {
	return mode, nil
}

// hardLinks returns 1: the number of names is not known.
func hardLinks(fs.FileInfo) uint64 { return 1 }
