package config

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// OutsideError is the error for a path of a project that leads out of it, to a directory that the user does not trust.
// It does not say where: models read it.
type OutsideError struct {
	Path     string // relative to the project, with slashes
	UserFile string // the name of the user's configuration file; empty if there is no place for one
}

func (e *OutsideError) Error() string {
	return strings.TrimSuffix(e.Path+" is a link out of the project; "+e.Hint(), "; ")
}

// Hint names the setting that allows the path. It is empty if there is no user's file.
func (e *OutsideError) Hint() string {
	if e.UserFile == "" {
		return ""
	}
	return "to allow it, add the directory that it leads to to directories in [trust] of " + e.UserFile
}

// OpenDir opens a directory of a project. path is relative to root, with slashes. OpenDir follows links to directories
// in root and in the directories that the user trusts; a link that is replaced meanwhile leads to no others. It reads
// the user's configuration, which getenv finds, only for a path that leads out of the project. The error is then an
// [*OutsideError] if the path is not allowed.
func OpenDir(root, path string, getenv func(string) string) (*os.Root, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	target, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return nil, err
	}
	if below, ok := isIn(real, target); ok {
		return openIn(real, below)
	}
	user := readUser(getenv)
	if dir, below, ok := user.trusted(target); ok {
		return openIn(dir, below)
	}
	return nil, &OutsideError{Path: path, UserFile: user.UserFile}
}

// trusted returns the directory that the user trusts and that has target in it, and the path of target relative to it. It
// reports whether there is one. The target has no links.
func (c *Config) trusted(target string) (dir, below string, ok bool) {
	for _, dir := range c.Trust.Directories {
		if dir, err := filepath.EvalSymlinks(dir); err == nil {
			if below, ok := isIn(dir, target); ok {
				return dir, below, true
			}
		}
	}
	return "", "", false
}

// isIn returns the path of target relative to dir, and reports whether target is dir or in it. Both have no links.
func isIn(dir, target string) (below string, ok bool) {
	below, err := filepath.Rel(dir, target)
	return below, err == nil && filepath.IsLocal(below)
}

// openIn opens a directory in another one. A part of the path that has become a link since is followed inside dir only.
func openIn(dir, path string) (*os.Root, error) {
	around, err := safefile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer around.Close()
	return safefile.OpenDirIn(around, path)
}
