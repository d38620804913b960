package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// Change is what has to be done to configuration files. One without files is
// no change: everything is as it should be, or Notes has why it is not.
type Change struct {
	Host  string
	Scope Scope
	Files []FileChange
	// Path is the configuration file, or the folder, that was looked at.
	Path string
	// Notes is what is not changed although it could be expected, and what the
	// change does not restore, a sentence each.
	Notes []string
	// Advice is what is left for the user to do, a sentence each.
	Advice []string

	records records
}

// FileChange is a change to one file.
type FileChange struct {
	Path   string // as the host knows it
	Target string // Path with links followed: the file that is written
	Before []byte // nil when there is no file
	// After is nil when the file is to be removed, or is gone already and so is
	// to be what was kept for undoing.
	After []byte

	before snapshot
	// old is the record as it is, and record as it is to be; nil for none.
	old, record *record
	// backup is where Before is kept; empty when it need not be.
	backup string
	// obsolete is a copy of what the file is then, or empty.
	obsolete string
}

// change plans to give a file new contents, or to remove it for nil.
func (c *Change) change(s snapshot, after []byte, old, next *record) *FileChange {
	f := FileChange{Path: s.path, Target: s.target, After: after, before: s, old: old, record: next}
	if s.exists {
		f.Before = slices.Clip(append([]byte{}, s.data...))
	}
	if s.names > 1 && after != nil {
		c.note("%s has %d names (hard links). It becomes a file of its own; what the other names lead to stays as it is.", s.path, s.names)
	}
	c.Files = append(c.Files, f)
	return &c.Files[len(c.Files)-1]
}

// write plans to give a file new contents, and to keep what it takes to undo that:
// see [record.next]. command is what an entry starts.
func (c *Change) write(s snapshot, after []byte, old *record, ours bool, command []string) {
	next, keep := old.next(s, after, ours)
	next.Command = command
	if f := c.change(s, after, old, next); keep {
		c.keep(f)
	}
}

func (c *Change) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// keep has a copy of what the file was kept.
func (c *Change) keep(f *FileChange) {
	f.backup = c.records.copyPath(f.Target, digest(f.Before))
}

// Backup returns where the file's former contents are kept once the change is
// applied, or "".
func (f *FileChange) Backup() string { return f.backup }

// errMeanwhile is the error for a file that is not what the plan was made for.
var errMeanwhile = errors.New("something else has written it in the meantime; nothing was changed, try again")

// Apply makes the change. Each file is replaced as a whole, or not at all; one
// that has changed since the plan was made, to anything but what it is to be, is
// an error, and so are those behind it left as they are. It first cleans up behind runs that were killed, also for
// a change without files, and adds a sentence to Advice where something of theirs
// is worth keeping.
func (c *Change) Apply(ctx context.Context) error {
	if len(c.Files) == 0 && !exists(c.records.dir) {
		return nil
	}
	made, unlock, err := c.records.lock(ctx)
	switch {
	case err != nil && len(c.Files) == 0:
		return nil
	case err != nil:
		return c.unkept("a record", err)
	}
	dirs := made // that may be empty now
	defer func() {
		c.records.inherit(removeDirs(innermostFirst(dirs)))
		unlock()
	}()
	c.Advice = append(c.Advice, c.records.cleanUp(c.targets())...)
	for i := range c.Files {
		f := &c.Files[i]
		if err := c.apply(f, made); err != nil {
			return fmt.Errorf("changing %s: %w", f.Path, err)
		}
		if f.record != nil {
			made = nil // one record of them is enough
		}
		if f.old != nil && f.record == nil {
			dirs = append(dirs, f.old.Dirs...)
		}
	}
	return nil
}

// targets returns the files that the change is about, with links followed, also
// one that needs no change.
func (c *Change) targets() []string {
	var targets []string
	for i := range c.Files {
		targets = append(targets, c.Files[i].Target)
	}
	if target, err := resolve(c.Path); err == nil {
		targets = append(targets, target)
	}
	return targets
}

// unkept returns why what it takes to undo a change could not be kept.
func (c *Change) unkept(what string, err error) error {
	return fmt.Errorf("keeping %s, in %s, which has to be a folder you can write: %w", what, c.records.dir, err)
}

// done reports whether another run has made the same change: the file and what is
// known about it, old, are what they are to be.
func (f *FileChange) done(now snapshot, old *record) bool {
	if now.target != f.Target || now.exists != (f.After != nil) || !bytes.Equal(now.data, f.After) {
		return false
	}
	if old == nil || f.record == nil {
		return old == f.record
	}
	made, want := *old, *f.record
	made.Dirs, want.Dirs = nil, nil // the other run may have made some
	return reflect.DeepEqual(made, want)
}

// apply makes the change to one file. What is needed to undo it is written
// before it, and taken back if it fails. made are the directories that were made
// for what is kept.
func (c *Change) apply(f *FileChange, made []string) (err error) {
	now, err := readFile(f.Path)
	if err != nil {
		return err
	}
	old, _ := c.records.load(f.Target) // one that is damaged was none for the plan too
	if now.exists != f.before.exists || now.target != f.before.target || !bytes.Equal(now.data, f.before.data) || !reflect.DeepEqual(old, f.old) {
		if f.done(now, old) {
			return nil
		}
		return errMeanwhile
	}
	if err := now.writable(); err != nil {
		return err
	}
	var undo []func()
	defer func() {
		if err != nil {
			for _, step := range slices.Backward(undo) {
				step()
			}
		}
	}()
	if f.After != nil {
		dirs, err := makeDirs(filepath.Dir(f.Target), 0o755)
		undo = append(undo, func() { removeDirs(dirs) })
		made = slices.Concat(made, dirs)
		if err != nil {
			return err
		}
	}
	if f.backup != "" {
		known := exists(f.backup) // with the same bytes, unless it was damaged
		if err := safefile.Write(f.backup, f.Before, 0o600); err != nil {
			return c.unkept("a copy of what is there", err)
		}
		if !known {
			undo = append(undo, func() { _ = os.Remove(f.backup) })
		}
	}
	if f.record != nil {
		f.record.Dirs = innermostFirst(append(f.record.Dirs, made...))
		if err := c.records.save(f.record); err != nil {
			return c.unkept("a record", err)
		}
		undo = append(undo, func() {
			if f.old == nil || c.records.save(f.old) != nil {
				_ = os.Remove(c.records.path(f.Target))
			}
		})
	}
	switch {
	case f.After == nil && !now.exists: // only what was kept about it goes
	case f.After == nil:
		err = c.records.remove(f.Target, f.Before)
	default:
		mode := fs.FileMode(0o644)
		if now.exists {
			mode = now.mode
		} else if c.Scope == User {
			mode = 0o600 // hosts keep tokens in the same file
		}
		err = c.records.replace(f.Target, f.Before, f.After, mode)
	}
	if err != nil {
		return err
	}
	// The file is what it should be. A record that stays behind does not match it.
	if f.record == nil {
		_ = os.Remove(c.records.path(f.Target))
	}
	if f.obsolete != "" {
		_ = os.Remove(f.obsolete)
	}
	return nil
}
