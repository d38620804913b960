package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// A project may be a clone of somebody else's repository, and version control carries
// links: a directory that a project names, or a link in it, must lead to a place inside
// of the project, or into a directory that the user trusts.

// OutsideError is the error for a path of a project that leads out of it, and to
// no directory that the user trusts.
type OutsideError struct {
	// Path is what was to be opened, relative to the project, with slashes.
	Path string
	// Target is the absolute path that it leads to.
	Target string
	// UserFile is what the user's configuration file is called in messages. It is
	// empty where the environment does not say where that file is.
	UserFile string
}

func (e *OutsideError) Error() string {
	text := fmt.Sprintf("%s leads out of the project, to %s", e.Path, e.Target)
	if hint := e.Hint(); hint != "" {
		text += "; " + hint
	}
	return text
}

// Hint names the setting that allows the path; empty where there is no file it
// could stand in.
func (e *OutsideError) Hint() string {
	if e.UserFile == "" {
		return ""
	}
	return "to allow it, add the directory that it leads to to directories in [trust] of " + e.UserFile
}

// OpenDir opens a directory of a project. path is relative to root, with slashes.
// Links are followed, to directories inside of root and of those that the user
// trusts. What is opened is inside of one of these even when a link changes
// meanwhile. The user's configuration, which getenv finds, is read only for a path
// that leads out of the project, and the error is an [*OutsideError] where it is not
// allowed to, also since [trust] is wrong.
func OpenDir(root, path string, getenv func(string) string) (*os.Root, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	target, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return nil, err
	}
	if opened, err := openBelow(real, target); !errors.Is(err, errNotBelow) {
		return opened, err
	}
	user := readUser(getenv)
	for _, dir := range user.Trusted {
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue // There is no such directory, and so nothing in it.
		}
		if opened, err := openBelow(dir, target); !errors.Is(err, errNotBelow) {
			return opened, err
		}
	}
	return nil, &OutsideError{Path: path, Target: target, UserFile: user.UserFile}
}

// errNotBelow reports that a path is not inside of a directory.
var errNotBelow = errors.New("not in this directory")

// openBelow opens a directory that is dir or inside of it. Both are paths without
// links; should a part of target have become one, it is followed inside dir only.
func openBelow(dir, target string) (*os.Root, error) {
	path, err := filepath.Rel(dir, target)
	if err != nil || !filepath.IsLocal(path) {
		return nil, errNotBelow
	}
	around, err := safefile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer around.Close()
	return safefile.OpenDirIn(around, path)
}

// trusts reports whether a directory is one that the user trusts, or below one.
func (c *Config) trusts(root string) bool {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return false
	}
	for _, dir := range c.Trusted {
		if dir, err := filepath.EvalSymlinks(dir); err == nil {
			if below, err := filepath.Rel(dir, real); err == nil && filepath.IsLocal(below) {
				return true
			}
		}
	}
	return false
}
