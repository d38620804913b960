package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// maxFile is the largest configuration file that is touched, in bytes. Claude
// Code keeps much more than settings in its own, but not this much.
const maxFile = 16 << 20

// backupSuffix names the copy of a file that is kept beside it.
const backupSuffix = ".convtools-backup"

// snapshot is a file as it was read.
type snapshot struct {
	path   string
	target string // path with links followed
	exists bool
	data   []byte
	mode   fs.FileMode
}

// readFile reads a configuration file. One that is not there is no error.
func readFile(path string) (snapshot, error) {
	s := snapshot{path: path, target: path}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("looking at a configuration file: %w", err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if s.target, err = filepath.EvalSymlinks(path); err != nil {
			return s, fmt.Errorf("%s is a link that leads nowhere: %w; remove it, or make the file it leads to", path, err)
		}
		if info, err = os.Stat(s.target); err != nil {
			return s, fmt.Errorf("looking at a configuration file: %w", err)
		}
	}
	if !info.Mode().IsRegular() {
		return s, fmt.Errorf("%s is not a regular file", s.target)
	}
	f, err := os.Open(s.target)
	if err != nil {
		return s, fmt.Errorf("reading a configuration file: %w", err)
	}
	defer f.Close()
	if s.data, err = io.ReadAll(io.LimitReader(f, maxFile+1)); err != nil {
		return s, fmt.Errorf("reading %s: %w", path, err)
	}
	if len(s.data) > maxFile {
		return s, fmt.Errorf("%s is larger than %d MiB, which no configuration is: it was left alone", path, maxFile>>20)
	}
	s.exists, s.mode = true, info.Mode().Perm()
	return s, nil
}

// readBackup reads what was kept of a file; one that cannot be read was not kept.
func readBackup(path string) snapshot {
	s, err := readFile(path)
	if err != nil {
		return snapshot{}
	}
	return s
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// change plans to give the file new contents, or to remove it for nil.
func (s snapshot) change(after []byte) FileChange {
	f := FileChange{Path: s.path, Target: s.target, After: after, before: s, backup: s.target + backupSuffix}
	if s.exists {
		f.Before = append([]byte{}, s.data...)
	}
	return f
}

// Diff returns the change as a unified diff, with the line ends of Unix.
func (c *Change) Diff() string {
	var b strings.Builder
	for _, f := range c.Files {
		before := f.Path
		if f.Target != f.Path {
			before += " (a link to " + f.Target + ")"
		}
		after := before
		if f.Before == nil {
			before = os.DevNull
		}
		if f.After == nil {
			after = os.DevNull
		}
		text := string(diff.Diff(before, unixLines(f.Before), after, unixLines(f.After)))
		if _, hunks, ok := strings.Cut(text, "\n"); ok { // without the line "diff a b"
			b.WriteString(hunks)
		}
	}
	return b.String()
}

func unixLines(data []byte) []byte {
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
}

// Apply makes the change. Each file is replaced as a whole, or not at all; one
// that has changed since the plan was made is an error, and so are those behind
// it left as they are.
func (c *Change) Apply() error {
	for i := range c.Files {
		if err := c.Files[i].apply(); err != nil {
			return fmt.Errorf("changing %s: %w", c.Files[i].Path, err)
		}
	}
	return nil
}

// Backup returns where the file's former contents are kept once the change is
// applied, or "".
func (f *FileChange) Backup() string {
	if f.saveBackup {
		return f.backup
	}
	return ""
}

func (f *FileChange) apply() error {
	now, err := readFile(f.Path)
	if err != nil {
		return err
	}
	if now.exists != f.before.exists || now.target != f.before.target || !bytes.Equal(now.data, f.before.data) {
		return errors.New("something else has written it in the meantime; nothing was changed, try again")
	}
	mode := fs.FileMode(0o644)
	if now.exists {
		mode = now.mode
		if err := writable(f.Target, mode); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(f.Target), 0o755); err != nil {
		return err
	}
	if f.saveBackup {
		if err := replace(f.backup, f.Before, mode, f.Target); err != nil {
			return fmt.Errorf("keeping what is there: %w", err)
		}
	}
	if f.After == nil {
		err = os.Remove(f.Target)
	} else {
		err = replace(f.Target, f.After, mode, f.Target)
	}
	if err != nil {
		return err
	}
	if f.dropBackup {
		_ = os.Remove(f.backup) // it only says what the file says now
	}
	for _, dir := range f.emptyDirs {
		if os.Remove(dir) != nil {
			break // it holds something else
		}
	}
	return nil
}

// writable says why a file must not be written. Renaming another over it would
// work without permission to write it.
func writable(path string, mode fs.FileMode) error {
	if mode&0o222 == 0 {
		return errors.New("the file is read-only; make it writable first")
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("the file cannot be written: %w", err)
	}
	return f.Close()
}

// replace writes a file whole or not at all. It gets the owner of the file like,
// where that is there.
func replace(path string, data []byte, mode fs.FileMode, like string) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".convtools-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // gone already where the rename worked
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(mode), keepOwner(temp, like), temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
