package install

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// Change is a planned change to configuration files. Without files nothing changes: the files are as they should be,
// or Notes has the reason.
type Change struct {
	Host  string
	Scope Scope
	Files []FileChange
	// Path is the configuration file or the folder that was read.
	Path string
	// Notes are sentences about things that stay although a user could expect a change.
	Notes []string
	// Advice are sentences about the steps that are left for the user.
	Advice []string

	backups string   // the folder for copies of files
	stay    []string // folders that stay when they are empty, with the folders around them
}

// FileChange is a change to one file.
type FileChange struct {
	Path   string // as the host knows it
	Target string // the file that is written: Path, or the target of a link there
	Before []byte // nil if there is no file
	After  []byte // nil to remove the file

	backup string // the path of the copy of Before; empty for none
	entry  string // shown by a diff in place of a file with long lines; empty for the file's lines
}

// Backup returns the path of the copy that is made before the change; empty for none.
func (f *FileChange) Backup() string { return f.backup }

// errMeanwhile is the error for a file that has changed since the plan was made.
var errMeanwhile = errors.New("something else has written it in the meantime; nothing was changed, try again")

// add plans other contents for a file; nil removes it.
func (c *Change) add(s snapshot, after []byte, entry string) {
	f := FileChange{Path: s.path, Target: s.target, Before: s.data, After: after, entry: entry}
	if s.exists && after != nil { // a removed file has only entries of this program
		f.backup = backupPath(c.backups, s)
	}
	c.Files = append(c.Files, f)
}

func (c *Change) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// backupDir returns the folder for copies of files, in the user's own state. Copies beside the files would end up in
// version control.
func backupDir(o Options) (string, error) {
	dir, err := expand("{state}/"+o.Name+"/install", o)
	if err != nil {
		return "", fmt.Errorf("finding the folder for a copy of the file: %w", err)
	}
	return dir, nil
}

// backupPath returns the path of the copy of a file. It depends on the file's path and contents, so that no copy is
// written over another.
func backupPath(dir string, s snapshot) string {
	sum := sha256.Sum256(append([]byte(s.target+"\x00"), s.data...))
	return filepath.Join(dir, strings.TrimLeft(filepath.Base(s.target), ".")+"-"+hex.EncodeToString(sum[:8])+".before")
}

// Apply makes the change. It replaces each file as a whole. A file that has changed since the plan was made is an
// error, and the files after it stay as they are.
func (c *Change) Apply(ctx context.Context) error {
	for i := range c.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.apply(&c.Files[i]); err != nil {
			return fmt.Errorf("changing %s: %w", c.Files[i].Path, err)
		}
	}
	return nil
}

func (c *Change) apply(f *FileChange) error {
	now, err := readFile(f.Path)
	if err != nil {
		return err
	}
	if now.target == f.Target && now.exists == (f.After != nil) && bytes.Equal(now.data, f.After) {
		return nil // another run has made the change
	}
	if !f.isBefore(now) {
		return errMeanwhile
	}
	if err := now.writable(); err != nil {
		return err
	}
	if f.backup != "" {
		err := os.MkdirAll(c.backups, 0o700)
		if err == nil {
			err = safefile.Write(f.backup, f.Before, 0o600)
		}
		if err != nil {
			return fmt.Errorf("keeping a copy of the file in %s, which has to be a folder you can write: %w", c.backups, err)
		}
	}
	if f.After == nil {
		err := os.Remove(f.Target)
		for dir := filepath.Dir(f.Target); err == nil && c.mayGo(dir) && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
		}
		return err
	}
	mode := fs.FileMode(0o644)
	if now.exists {
		mode = now.mode
	} else if c.Scope == User {
		mode = 0o600 // hosts keep tokens in the same file
	}
	return f.replace(mode)
}

// mayGo reports whether a folder may be removed when it is empty: it is no link, and below a folder that stays.
func (c *Change) mayGo(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && !slices.Contains(c.stay, dir) && slices.ContainsFunc(c.stay, func(stay string) bool {
		rel, err := filepath.Rel(stay, dir)
		return err == nil && filepath.IsLocal(rel)
	})
}

// isBefore reports whether a file has not changed since the plan was made.
func (f *FileChange) isBefore(now snapshot) bool {
	return now.target == f.Target && now.exists == (f.Before != nil) && bytes.Equal(now.data, f.Before)
}

// replace writes a new file beside the old one, and renames it if the old one has not changed since the plan was
// made.
func (f *FileChange) replace(mode fs.FileMode) error {
	dir, base := filepath.Split(f.Target)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := safefile.OpenDir(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	temp, err := safefile.Stage(root, base, f.After, 0o600)
	if err != nil {
		return fmt.Errorf("making a file in this folder, which has to be writable: %w", err)
	}
	if err = root.Chmod(temp, mode); err == nil {
		var now snapshot
		if now, err = readFile(f.Path); err == nil && !f.isBefore(now) {
			err = errMeanwhile
		}
	}
	if err == nil {
		err = root.Rename(temp, base)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return safefile.SyncDir(root)
}
