package kbconfig

import (
	"path/filepath"

	"github.com/convtools/convtools/runtime/base/workspace"
	"github.com/convtools/convtools/runtime/trust"
)

// The files that are read, in this order after the user's. What stands in a later
// one is merged into what stands in those before it.
const (
	jpConfigFile  = ".jp/config.toml" // JP's own: only its key kb is looked at
	jpTopicsFile  = ".jp/kb.toml"
	convtoolsFile = workspace.ConfigFile
)

// Paths returns the paths of everything that decides what [Load] reads for a
// directory, whether or not it exists.
func Paths(dir string, getenv func(string) string) []string {
	var paths []string
	if path, _, ok := trust.UserFile(getenv); ok {
		paths = append(paths, path)
	}
	root, found := workspace.Find(dir)
	for dir := range workspace.Upwards(dir) {
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
