package config

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// OutsideError is the error for a path in a project that leads out of the project, to a directory that the user does
// not trust. It does not name that directory: models read the error.
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
// in root and in the directories that the user trusts, and to no others, even if a link is replaced meanwhile. It reads
// the user's configuration, which getenv finds, only for a path that leads out of the project. If the user does not
// trust the directory that such a path leads to, the error is an [*OutsideError].
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

// trusted returns the directory that the user trusts and that has target in it, and the path of target relative to that
// directory. ok is false if there is none. The path target has no links.
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

// isIn reports whether target is dir or in dir, and returns target relative to dir. Both paths have no links.
func isIn(dir, target string) (below string, ok bool) {
	below, err := filepath.Rel(dir, target)
	return below, err == nil && filepath.IsLocal(below)
}

// openIn opens the directory at path in dir. If a part of path has become a link since path was found, openIn follows
// that link only inside dir.
func openIn(dir, path string) (*os.Root, error) {
	parent, err := safefile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return safefile.OpenDirIn(parent, path)
}
