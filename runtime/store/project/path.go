package project

import (
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// upwards returns a directory and those above it.
func upwards(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for yield(dir) && filepath.Dir(dir) != dir {
			dir = filepath.Dir(dir)
		}
	}
}

func absolute(base, name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(base, name)
}

// resolve returns the absolute path of a directory, without links in the part that exists.
func resolve(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return filepath.Clean(dir)
	}
	const maxLinks = 32 // the most links without a target that are followed
	links := 0
	d, rest := abs, "" // the path is d and then rest; nothing exists at rest
	for {
		if real, err := filepath.EvalSymlinks(d); err == nil {
			return filepath.Join(real, rest)
		}
		if target, err := os.Readlink(d); err == nil && links < maxLinks { // d is a link without a target
			links++
			d = absolute(filepath.Dir(d), target)
			continue
		}
		parent := filepath.Dir(d)
		if parent == d {
			return abs
		}
		d, rest = parent, filepath.Join(filepath.Base(d), rest)
	}
}

// below reports whether a path is a directory or below it.
func below(dir, path string) bool {
	if len(path) < len(dir) || !same(path[:len(dir)], dir) {
		return false
	}
	return len(path) == len(dir) || os.IsPathSeparator(path[len(dir)]) || os.IsPathSeparator(dir[len(dir)-1])
}

// same reports whether paths are equal in the usual file system of the system.
func same(a, b string) bool { return fold(a) == fold(b) }

// fold returns a path, or a pattern, in lower case where case has no meaning.
func fold(path string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(path)
	}
	return path
}
