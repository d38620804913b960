package config

import (
	"cmp"
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

// OpenDir opens the directory of a project at path, which is relative to root, with slashes. If links in path lead
// neither into root nor into a directory that the user trusts, the error is an [*OutsideError]. The user's
// configuration, which getenv finds, is read only if path leads out of root.
func OpenDir(root, path string, getenv func(string) string) (*os.Root, error) {
	target, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return nil, err
	}
	allowed, below, isInside := enclosing([]string{root}, target)
	if !isInside {
		user := readUser(getenv)
		if allowed, below, isInside = enclosing(user.Trust.Directories, target); !isInside {
			return nil, &OutsideError{Path: path, UserFile: user.UserFile}
		}
	}
	parent, err := safefile.OpenDir(allowed)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return safefile.OpenDirIn(parent, below) // a link that was made since EvalSymlinks can lead only into parent
}

// enclosing returns the first of some directories that is target or has target in it, as a path without links, and the
// path of target relative to that directory. ok is false if there is no such directory. The path target has no links.
func enclosing(dirs []string, target string) (dir, below string, ok bool) {
	for _, candidate := range dirs {
		dir, dirErr := filepath.EvalSymlinks(candidate)
		below, err := filepath.Rel(dir, target)
		if cmp.Or(dirErr, err) == nil && filepath.IsLocal(below) {
			return dir, below, true
		}
	}
	return "", "", false
}
