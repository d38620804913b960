package subjects

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is how many links may have to be followed to get to a file. An
// [os.Root] follows fewer, and Linux no more.
const maxLinks = 40

var (
	errGit          = errors.New("is a link into .git, which is passed over")
	errTooManyLinks = errors.New("too many links")
)

// follow returns the paths that a link leads to, one after the other where links
// lead to links, and last that of a file. Where the link is not followed it
// returns why. All paths are relative to the topic's directory, and no component
// of the directories in them is a link.
func follow(root *os.Root, path string) (targets []string, refused string) {
	info, err := root.Stat(path)
	if err == nil {
		switch {
		case info.IsDir():
			return nil, "is a link to a directory, and those are not followed"
		case !info.Mode().IsRegular():
			return nil, "is a link to " + strings.TrimPrefix(notAFile(info.Mode()), "it is ")
		}
		targets, err = steps(root, path)
	}
	target, linkErr := root.Readlink(path)
	switch {
	case err == nil && strings.Count(targets[len(targets)-1], "/") >= maxDepth:
		return nil, "is a link to a file that is left out for being too deep"
	case err == nil:
		return targets, ""
	case errors.Is(err, errGit):
		return nil, err.Error()
	case linkErr == nil && (filepath.IsAbs(target) || strings.HasPrefix(target, "/")):
		return nil, "is a link with an absolute target; only relative links to files in the topic's directory are followed"
	case errors.Is(err, fs.ErrNotExist):
		return nil, "is a link to nothing"
	}
	return nil, "is a link that cannot be followed in the topic's directory: " + cause(err)
}

// steps returns where a link in the root leads, which the root was asked about: a link
// that has changed since leads to another place inside. What is found on the way
// is subject to the same rules as what is found in a scan.
func steps(root *os.Root, path string) (targets []string, err error) {
	var at []string
	links := 0
	for rest := strings.Split(path, "/"); len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch {
		case name == "" || name == ".":
			continue
		case name == "..":
			at = at[:max(len(at)-1, 0)]
			continue
		case strings.EqualFold(name, ".git"):
			return nil, errGit
		}
		at = append(at, name)
		here := strings.Join(at, "/")
		if len(rest) == 0 && here != path {
			targets = append(targets, here)
		}
		info, err := root.Lstat(here)
		if err != nil {
			return nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if links++; links > maxLinks {
			return nil, errTooManyLinks
		}
		target, err := root.Readlink(here)
		if err != nil {
			return nil, err
		}
		at = at[:len(at)-1]
		rest = slices.Concat(strings.Split(filepath.ToSlash(target), "/"), rest)
	}
	if targets == nil {
		return nil, fs.ErrNotExist // The link was replaced by a file in the meantime.
	}
	return targets, nil
}
