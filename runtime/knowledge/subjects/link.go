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

// follow returns the paths that a link leads to, one after the other where links
// lead to links, and last that of a file. Where the link is not followed it
// returns why. All paths are relative to the topic's directory, and no component
// of the directories in them is a link.
func follow(root *os.Root, path string) (targets []string, refused string) {
	info, err := root.Stat(path)
	if err != nil {
		return nil, cannotFollow(root, path, err)
	}
	switch {
	case info.IsDir():
		return nil, "is a link to a directory, and those are not followed"
	case !info.Mode().IsRegular():
		return nil, "is a link to " + strings.TrimPrefix(notAFile(info.Mode()), "it is ")
	}
	// What a link leads to is subject to the same rules as what is found on the way.
	var at []string
	rest := strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if len(at) == 0 {
				return nil, cannotFollow(root, path, errEscapes)
			}
			at = at[:len(at)-1]
			continue
		}
		if strings.EqualFold(name, ".git") {
			return nil, "is a link into .git, which is passed over"
		}
		at = append(at, name)
		here := strings.Join(at, "/")
		if len(rest) == 0 && here != path {
			targets = append(targets, here)
		}
		info, err := root.Lstat(here)
		if err != nil {
			return nil, cannotFollow(root, path, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		target, err := root.Readlink(here)
		if err == nil && absolute(target) {
			err = errEscapes
		}
		if links++; err == nil && links > maxLinks {
			err = errTooManyLinks
		}
		if err != nil {
			return nil, cannotFollow(root, path, err)
		}
		at = at[:len(at)-1]
		rest = slices.Concat(strings.Split(filepath.ToSlash(target), "/"), rest)
	}
	if len(at) > maxDepth {
		return nil, "is a link to a file that is left out for being too deep"
	}
	return targets, ""
}

var (
	errEscapes      = errors.New("path escapes from parent")
	errTooManyLinks = errors.New("too many links")
)

func absolute(target string) bool { return filepath.IsAbs(target) || strings.HasPrefix(target, "/") }

// cannotFollow says why a link cannot be followed.
func cannotFollow(root *os.Root, path string, err error) string {
	target, linkErr := root.Readlink(path)
	switch {
	case linkErr == nil && absolute(target):
		return "is a link with an absolute target; only relative links to files in the topic's directory are followed"
	case errors.Is(err, fs.ErrNotExist):
		return "is a link to nothing"
	default:
		return "is a link that cannot be followed in the topic's directory: " + cause(err)
	}
}
