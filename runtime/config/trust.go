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
	target, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return nil, err
	}
	dir, below, ok := enclosing([]string{root}, target)
	if !ok {
		user := readUser(getenv)
		if dir, below, ok = enclosing(user.Trust.Directories, target); !ok {
			return nil, &OutsideError{Path: path, UserFile: user.UserFile}
		}
	}
	parent, err := safefile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return safefile.OpenDirIn(parent, below) // what has become a link meanwhile is followed only inside dir
}

// enclosing returns the first of some directories that is target or has target in it, without links in its path, and
// the path of target relative to that directory. ok is false if there is none. The path target has no links.
func enclosing(dirs []string, target string) (dir, below string, ok bool) {
	for _, dir := range dirs {
		if dir, err := filepath.EvalSymlinks(dir); err == nil {
			if below, err := filepath.Rel(dir, target); err == nil && filepath.IsLocal(below) {
				return dir, below, true
			}
		}
	}
	return "", "", false
}
