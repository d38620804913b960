package kbconfig

import (
	"iter"
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
	for dir := range upwards(dir) {
		if info, err := os.Stat(filepath.Join(dir, ".jp")); err == nil && info.IsDir() {
			return dir, true
		}
		// A link that leads nowhere counts: that its target is missing must be said.
		if info, err := os.Lstat(filepath.Join(dir, convtoolsFile)); err == nil && !info.IsDir() {
			return dir, true
		}
	}
	return "", false
}

// upwards yields the absolute path of a directory, and then of those around it.
func upwards(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		dir, err := filepath.Abs(dir)
		for err == nil && yield(dir) && filepath.Dir(dir) != dir {
			dir = filepath.Dir(dir)
		}
	}
}

// Paths returns the paths of everything that decides what [Load] reads for a
// directory, whether or not it exists.
func Paths(dir string, getenv func(string) string) []string {
	var paths []string
	if path, _, ok := trust.UserFile(getenv); ok {
		paths = append(paths, path)
	}
	root, found := FindRoot(dir)
	for dir := range upwards(dir) {
		paths = append(paths, filepath.Join(dir, ".jp"), filepath.Join(dir, convtoolsFile))
		if dir == root {
			break
		}
	}
	if found {
		paths = append(paths, filepath.Join(root, filepath.FromSlash(jpConfigFile)), filepath.Join(root, filepath.FromSlash(jpTopicsFile)))
	}
	return paths
}
