//go:build !unix

package install

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: files get their owner from the directory they are in.
func keepOwner(_ *os.File, _ string, mode fs.FileMode) (fs.FileMode, error) { return mode, nil }

// hardLinks returns 1: what the system knows about names is not asked for.
func hardLinks(fs.FileInfo) uint64 { return 1 }
