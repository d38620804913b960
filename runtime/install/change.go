package install

import (
	"bytes"
	"cmp"
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

// Change is a planned change to configuration files. If Files is empty nothing changes: the configuration is as it
// should be, or Notes has the reason.
type Change struct {
	Host  string
	Scope Scope
	Files []FileChange
	Path  string // the host's configuration file; for JP, the .jp directory
	// Notes are sentences that the user should read before the change, such as what stays. Advice are sentences about the
	// steps that are left for the user.
	Notes, Advice []string

	backups string   // the folder for copies of files
	stay    []string // these folders stay, and so do the folders around them; folders below may be removed
}

// FileChange is a change to one file.
type FileChange struct {
	Path   string // as the host knows it
	Target string // the file that is written: Path, or the target of a link there
	Before []byte // nil if there is no file
	After  []byte // nil to remove the file

	backup string // the path of the copy of Before; empty for none
	entry  string // what a diff of a file with long lines shows instead; empty to show the lines
}

// Backup returns the path of the copy that is made before the change; empty for none.
func (f *FileChange) Backup() string { return f.backup }

// errMeanwhile is the error for a file that was changed since the plan was made.
var errMeanwhile = errors.New("something else has written it in the meantime; nothing was changed, try again")

// add adds a file to the change: the file gets the contents, or is removed if contents is nil. An existing file gets a
// backup, except a file to remove: it has only entries of this program. entry is the entry of [FileChange].
func (c *Change) add(s snapshot, contents []byte, entry string) {
	f := FileChange{Path: s.path, Target: s.target, Before: s.data, After: contents, entry: entry}
	if isKept := contents != nil; s.exists && isKept {
		f.backup = backupPath(c.backups, s)
	}
	c.Files = append(c.Files, f)
}

func (c *Change) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// backupPath returns the path of the copy of a file in the folder dir. The name of the copy depends on the path and the
// contents of the file, so that no copy replaces another.
func backupPath(dir string, s snapshot) string {
	sum := sha256.Sum256(append([]byte(s.target+"\x00"), s.data...))
	return filepath.Join(dir, strings.TrimLeft(filepath.Base(s.target), ".")+"-"+hex.EncodeToString(sum[:8])+".before")
}

// Apply makes the change, one file after the other. It replaces a file as a whole. It returns the first error, and the
// files after that stay as they are. A file that was changed since the plan was made is an error.
func (c *Change) Apply(ctx context.Context) error {
	for i := range c.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.applyFile(&c.Files[i]); err != nil {
			return fmt.Errorf("changing %s: %w", c.Files[i].Path, err)
		}
	}
	return nil
}

// applyFile writes the backup of a file and makes the change to the file. It does nothing if the file is already as
// planned, because another run has made the change.
func (c *Change) applyFile(f *FileChange) error {
	now, err := readFile(f.Path)
	if err != nil {
		return err
	}
	switch {
	case f.has(now, f.After):
		return nil
	case !f.has(now, f.Before):
		return errMeanwhile
	}
	if err := now.writable(); err != nil {
		return err
	}
	if err := c.writeBackup(f); err != nil {
		return fmt.Errorf("keeping a copy of the file in %s, which has to be a folder you can write: %w", c.backups, err)
	}
	if f.After == nil {
		return c.remove(f.Target)
	}
	mode := fs.FileMode(0o644)
	if now.exists {
		mode = now.mode
	} else if c.Scope == User {
		mode = 0o600 // hosts keep tokens in the same file
	}
	return f.replace(mode)
}

// writeBackup writes the copy of a file as it was, if the file gets one.
func (c *Change) writeBackup(f *FileChange) error {
	if f.backup == "" {
		return nil
	}
	if err := os.MkdirAll(c.backups, 0o700); err != nil {
		return err
	}
	return safefile.Write(f.backup, f.Before, 0o600)
}

// remove removes a file, and the folders around it that become empty, up to a folder that stays.
func (c *Change) remove(file string) error {
	if err := os.Remove(file); err != nil {
		return err
	}
	dir := filepath.Dir(file)
	for c.isRemovable(dir) && os.Remove(dir) == nil { // os.Remove fails if dir is not empty
		dir = filepath.Dir(dir)
	}
	return nil
}

// isRemovable reports whether a folder may be removed if it is empty: it is no link, and below a folder that stays.
func (c *Change) isRemovable(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && !slices.Contains(c.stay, dir) && slices.ContainsFunc(c.stay, func(stay string) bool {
		rel, err := filepath.Rel(stay, dir)
		return err == nil && filepath.IsLocal(rel)
	})
}

// has reports whether now, the file as it was just read, has the contents data or, if data is nil, does not exist. It is
// false if a link leads to another file than when the plan was made.
func (f *FileChange) has(now snapshot, data []byte) bool {
	return now.target == f.Target && now.exists == (data != nil) && bytes.Equal(now.data, data)
}

// replace writes After into a new file beside Target, and renames the new file to Target. If the file at Path was
// changed since the plan was made, it removes the new file and returns errMeanwhile.
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
	err = root.Chmod(temp, mode)
	now, readErr := readFile(f.Path)
	err = cmp.Or(err, readErr)
	if err == nil && !f.has(now, f.Before) {
		err = errMeanwhile
	}
	if err == nil {
		err = root.Rename(temp, base)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return safefile.SyncDir(root)
}
