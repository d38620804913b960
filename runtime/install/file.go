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
	info   fs.FileInfo
	mode   fs.FileMode
	names  uint64 // how many names the file has, if that is known
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
	s.exists, s.info, s.mode, s.names = true, info, info.Mode().Perm(), hardLinks(info)
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
