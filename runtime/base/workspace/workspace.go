// Package workspace finds the root of the project that a directory is in. It looks at names only, and reads no file.
package workspace

import (
	"iter"
	"os"
	"path/filepath"
)

// ConfigFile is the name of a project's configuration file, in its root.
const ConfigFile = "convtools.toml"

// Find returns the nearest directory from dir upwards that has .jp or convtools.toml in it, as an absolute path.
func Find(dir string) (string, bool) {
	for candidate := range Upwards(dir) {
		if info, err := os.Stat(filepath.Join(candidate, ".jp")); err == nil && info.IsDir() {
			return candidate, true
		}
		// A link without a target counts: whoever reads the file reports that the target is missing.
		if info, err := os.Lstat(filepath.Join(candidate, ConfigFile)); err == nil && !info.IsDir() {
			return candidate, true
		}
	}
	return "", false
}

// Upwards yields the absolute path of a directory, then of its parent, and so on to the root. It yields nothing if the
// working directory of a relative path is not known.
func Upwards(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		dir, err := filepath.Abs(dir)
		for err == nil && yield(dir) && filepath.Dir(dir) != dir {
			dir = filepath.Dir(dir)
		}
	}
}
