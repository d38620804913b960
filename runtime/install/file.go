package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// maxFile is the largest configuration file that is touched, in bytes. Claude
// Code keeps much more than settings in its own, but not this much.
const maxFile = 16 << 20

// An obstacle is why a file cannot be taken as it is, and what to do about it.
type obstacle struct {
	err error
	fix string
	// byHand marks a file that a person could still write into.
	byHand bool
}

func (o *obstacle) Error() string { return o.err.Error() }
func (o *obstacle) Unwrap() error { return o.err }

// unreachable is an obstacle that the system reports.
func unreachable(what string, err error) error {
	o := &obstacle{err: fmt.Errorf("%s: %w", what, err), fix: "move away what stands in its way"}
	if errors.Is(err, fs.ErrPermission) {
		o.fix = "give yourself access to the file and the folders around it"
	}
	return o
}

// snapshot is a file as it was read.
type snapshot struct {
	path   string
	target string // path with links followed, also those to directories
	exists bool
	data   []byte
	mode   fs.FileMode
	names  uint64 // how many names the file has, where that is known
}

// readFile reads a configuration file. One that is not there is no error.
func readFile(path string) (snapshot, error) {
	s := snapshot{path: path, target: path}
	target, err := resolve(path)
	if err != nil {
		return s, err
	}
	s.target = target
	f, info, err := safefile.Open(target)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if errors.Is(err, safefile.ErrNotRegular) {
		return s, &obstacle{err: safefile.ErrNotRegular, fix: "move away what is there"}
	}
	if err != nil {
		return s, unreachable("opening it", err)
	}
	defer f.Close()
	s.data, err = safefile.ReadAll(f, maxFile)
	var large *safefile.TooLargeError
	if errors.As(err, &large) {
		return s, &obstacle{err: fmt.Errorf("it is larger than %d MiB", maxFile>>20), fix: "make it smaller", byHand: true}
	}
	if err != nil {
		return s, unreachable("reading it", err)
	}
	s.exists, s.mode, s.names = true, info.Mode().Perm(), hardLinks(info)
	return s, nil
}

// resolve follows the links on the way to a file, which need not be there.
func resolve(path string) (string, error) {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		target, err := filepath.EvalSymlinks(at)
		info, statErr := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) && statErr == nil { // somebody may just have made it
			target, err = filepath.EvalSymlinks(at)
		}
		switch {
		case err == nil:
			return filepath.Join(target, rest), nil
		case statErr == nil && info.Mode()&fs.ModeSymlink != 0:
			return "", &obstacle{err: fmt.Errorf("%s is a link that leads nowhere: %w", at, err), fix: "remove the link, or make what it leads to"}
		case statErr == nil, !errors.Is(statErr, fs.ErrNotExist), filepath.Dir(at) == at:
			return "", unreachable("looking at it", err)
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// writable returns why a file that is there must not be written. Renaming another
// over it would work without permission to write it.
func (s snapshot) writable() error {
	if !s.exists {
		return nil
	}
	if s.mode&0o222 == 0 {
		return &obstacle{err: errors.New("the file is read-only"), fix: "make it writable", byHand: true}
	}
	f, _, err := safefile.OpenFile(s.target, os.O_WRONLY, 0)
	if err != nil {
		return unreachable("the file cannot be written", err)
	}
	return f.Close()
}

// makeDirs makes a directory and those around it, and returns the ones that were
// not there, the innermost first.
func makeDirs(dir string, mode fs.FileMode) (made []string, err error) {
	var missing []string
	for at := dir; !exists(at); at = filepath.Dir(at) {
		missing = append(missing, at)
		if filepath.Dir(at) == at { // a drive that is not there
			break
		}
	}
	for i := len(missing) - 1; i >= 0; i-- {
		err := os.Mkdir(missing[i], mode)
		switch {
		case err == nil:
			made = append([]string{missing[i]}, made...)
		case !errors.Is(err, fs.ErrExist): // else somebody else was faster
			removeDirs(made)
			return nil, err
		}
	}
	return made, nil
}

// removeDirs removes directories in which nothing is left, and returns the
// others. What has become a link or a file since is none of them.
func removeDirs(dirs []string) (left []string) {
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			continue
		}
		if os.Remove(dir) != nil {
			left = append(left, dir)
		}
	}
	return left
}
