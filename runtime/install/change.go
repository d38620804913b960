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

// Change is the change to make to configuration files. One without files is no
// change: everything is as it should be, or Notes has why it is not.
type Change struct {
	Host  string
	Scope Scope
	Files []FileChange
	// Path is the configuration file, or the folder, that was looked at.
	Path string
	// Notes is what is not changed although it could be expected, a sentence each.
	Notes []string
	// Advice is what is left for the user to do, a sentence each.
	Advice []string

	backups string   // the folder for copies of files
	stay    []string // folders that stay when they are empty, and those around them
}

// FileChange is a change to one file.
type FileChange struct {
	Path   string // as the host knows it
	Target string // the file that is written: Path, or what a link there leads to
	Before []byte // nil if there is no file
	After  []byte // nil if the file is to be removed

	backup string // the path of the copy of Before; empty for none
	entry  string // what a diff shows in place of a file with long lines; empty for the file's lines
}

// Backup returns the path of the copy of the file as it was, which is made before the
// change; empty for none.
func (f *FileChange) Backup() string { return f.backup }

// errMeanwhile is the error for a file that has changed since the plan was made.
var errMeanwhile = errors.New("something else has written it in the meantime; nothing was changed, try again")

// add plans to give a file other contents, or to remove it for nil.
func (c *Change) add(s snapshot, after []byte, entry string) {
	f := FileChange{Path: s.path, Target: s.target, Before: s.data, After: after, entry: entry}
	if s.exists && after != nil { // a file that is removed has nothing of its user's in it
		f.backup = backupPath(c.backups, s)
	}
	c.Files = append(c.Files, f)
}

func (c *Change) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// backupDir returns the folder, in the user's own state, for copies of files. Beside
// the files they would end up in version control.
func backupDir(o Options) (string, error) {
	dir, err := expand("{state}/"+o.Name+"/install", o)
	if err != nil {
		return "", fmt.Errorf("finding the folder for a copy of the file: %w", err)
	}
	return dir, nil
}

// backupPath returns where the copy of a file is. Its name depends on the file's path
// and contents, so that no copy is written over another.
func backupPath(dir string, s snapshot) string {
	sum := sha256.Sum256(append([]byte(s.target+"\x00"), s.data...))
	return filepath.Join(dir, strings.TrimLeft(filepath.Base(s.target), ".")+"-"+hex.EncodeToString(sum[:8])+".before")
}

// Apply makes the change. Each file is replaced as a whole, or not at all. A file that
// has changed since the plan was made is an error, and the files after it are left as
// they are.
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
		return nil // another run has made the same change
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

// mayGo reports whether a folder, and no link, is removed when it is empty: it is below one
// that stays.
func (c *Change) mayGo(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && !slices.Contains(c.stay, dir) && slices.ContainsFunc(c.stay, func(stay string) bool {
		rel, err := filepath.Rel(stay, dir)
		return err == nil && filepath.IsLocal(rel)
	})
}

// isBefore reports whether a file is as it was when the plan was made.
func (f *FileChange) isBefore(now snapshot) bool {
	return now.target == f.Target && now.exists == (f.Before != nil) && bytes.Equal(now.data, f.Before)
}

// replace writes the file beside its place, and renames it if its place still has what
// the plan was made for.
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
