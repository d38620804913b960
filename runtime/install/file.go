package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// maxFile is the size in bytes of the largest configuration file that is read: Claude Code's has much more than settings.
const maxFile = 16 << 20

// accessError returns the error for a file that this program may not read or write. action is what failed with err.
func accessError(action string, err error) error {
	e := &ManualError{Err: fmt.Errorf("%s: %w", action, err), Fix: "move away what stands in its way"}
	if errors.Is(err, fs.ErrPermission) {
		e.Fix = "give yourself access to the file and the folders around it"
	}
	return e
}

// snapshot is a file as it was when it was read.
type snapshot struct {
	path   string
	target string // path, or the target of a link there
	exists bool
	data   []byte
	mode   fs.FileMode
}

// readFile reads a configuration file. A missing file is no error. The error is a *ManualError without a path; with an
// error the snapshot has only path and target.
func readFile(path string) (snapshot, error) {
	s := snapshot{path: path, target: path}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if s.target, err = filepath.EvalSymlinks(path); err != nil {
			return s, &ManualError{Err: fmt.Errorf("%s is a link that leads nowhere: %w", path, err), Fix: "remove the link, or make what it leads to"}
		}
	}
	f, info, err := safefile.Open(s.target)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if errors.Is(err, safefile.ErrNotRegular) {
		return s, &ManualError{Err: safefile.ErrNotRegular, Fix: "move away what is there"}
	}
	if err != nil {
		return s, accessError("opening it", err)
	}
	defer f.Close()
	s.data, err = safefile.ReadAll(f, maxFile)
	if _, isTooLarge := errors.AsType[*safefile.TooLargeError](err); isTooLarge {
		return s, &ManualError{Err: fmt.Errorf("it is larger than %d MiB", maxFile>>20), Fix: "make it smaller", byHand: true}
	}
	if err != nil {
		return s, accessError("reading it", err)
	}
	s.exists, s.mode = true, info.Mode().Perm()
	return s, nil
}

// orNone returns the new contents for the file s.path. It returns nil, so that the file is removed, if the document is
// blank or {} and s.path is a regular file. Otherwise it returns the document: a link at s.path is never removed.
func (s snapshot) orNone(document []byte) []byte {
	dense := strings.Join(strings.Fields(string(document)), "")
	if info, err := os.Lstat(s.path); err == nil && info.Mode().IsRegular() && (dense == "" || dense == "{}") {
		return nil
	}
	return document
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// writable returns an error, a *ManualError, if the file exists and belongs to another user or cannot be written. Such
// a file must not be replaced by a new file, even if the system allows that.
func (s snapshot) writable() error {
	if !s.exists {
		return nil
	}
	if safefile.OfAnother(s.target) { // a new file would be this user's
		return &ManualError{Err: errors.New("the file belongs to another user"), Fix: "run this as that user", byHand: true}
	}
	if s.mode&0o222 == 0 {
		return &ManualError{Err: errors.New("the file is read-only"), Fix: "make it writable", byHand: true}
	}
	f, _, err := safefile.OpenFile(s.target, os.O_WRONLY, 0)
	if err != nil {
		return accessError("the file cannot be written", err)
	}
	return f.Close()
}
