package kbconfig

import (
	"os"
	"path/filepath"

	"github.com/convtools/convtools/runtime/trust"
)

// The files that are read, in this order after the user's. What stands in a later
// one is merged into what stands in those before it.
const (
	jpConfigFile  = ".jp/config.toml" // JP's own: only its key kb is looked at
	jpTopicsFile  = ".jp/kb.toml"
	convtoolsFile = "convtools.toml"
)

// FindRoot returns the nearest directory, from dir upwards, that has a directory
// .jp or a file convtools.toml. The path is absolute.
func FindRoot(dir string) (string, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for {
		if info, err := os.Stat(filepath.Join(dir, ".jp")); err == nil && info.IsDir() {
			return dir, true
		}
		// A link that leads nowhere counts: that its target is missing must be said.
		if info, err := os.Lstat(filepath.Join(dir, convtoolsFile)); err == nil && !info.IsDir() {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// Paths returns the paths of everything that decides what [Load] reads for a
// directory, whether or not it exists.
func Paths(dir string, getenv func(string) string) []string {
	var paths []string
	if path, _, ok := trust.UserFile(getenv); ok {
		paths = append(paths, path)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return paths
	}
	root, found := FindRoot(dir)
	for {
		paths = append(paths, filepath.Join(dir, ".jp"), filepath.Join(dir, convtoolsFile))
		parent := filepath.Dir(dir)
		if dir == root || dir == parent {
			break
		}
		dir = parent
	}
	if found {
		paths = append(paths, filepath.Join(root, filepath.FromSlash(jpConfigFile)), filepath.Join(root, filepath.FromSlash(jpTopicsFile)))
	}
	return paths
}
