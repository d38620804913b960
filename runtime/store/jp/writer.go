package jp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// Writer changes the conversations of a workspace, also while other processes change them, such as JP. Each method takes
// the locks that JP takes, then looks for the conversation, and replaces files as a whole. A reader, also after the process
// was killed, finds each conversation as it was before the change or as it is after it.
//
// A change is made in every store that has the conversation. A Writer is safe for concurrent use.
type Writer struct {
	w    *Workspace
	now  func() time.Time
	wait time.Duration

	stage func(root *os.Root, name string, data []byte, mode fs.FileMode) (temp string, err error)
	// before, if not nil, runs before each step that changes a store. Its error ends the step.
	before func(root *os.Root, step, name string) error
}

// WriterOptions are the options of a [Writer].
type WriterOptions struct {
	Now  func() time.Time // the clock; nil means time.Now
	Wait time.Duration    // how long to wait for a lock that another process holds
}

// Writer returns a writer for the workspace.
func (w *Workspace) Writer(o WriterOptions) *Writer {
	wr := &Writer{w: w, now: o.Now, wait: o.Wait, stage: safefile.Stage}
	if wr.now == nil {
		wr.now = time.Now
	}
	return wr
}

// cannotChange returns the error for a store at a path that exists and cannot be changed because of err. Either nothing was
// changed, or only stores that come before this one.
func cannotChange(path string, err error) error {
	return fmt.Errorf("%s cannot be changed: %w", path, err)
}

// ErrExists is the error for a conversation that is restored from the trash, if there is one with its id.
var ErrExists = errors.New("there is a conversation with this id")

// about returns the error for a conversation that cannot be changed as it is.
func about(id transcript.ID, err error) error { return fmt.Errorf("%s: %w", id, err) }

// transaction is a change in progress: the opened stores and the locks.
type transaction struct {
	*session
	wr      *Writer
	release []func()
	all     []place // of all conversations, listed with the locks taken
	err     error   // the first error of a step; the steps after it do nothing
}

// transact opens the stores, takes the lock of a conversation, lists the places of all conversations, and calls do. If
// the id is empty, it takes no lock. The error is the first of these, or else tx.err: the first of changing files.
func (wr *Writer) transact(ctx context.Context, id transcript.ID, do func(*transaction) error) error {
	s, problems, err := wr.w.open()
	if err != nil {
		return err
	}
	tx := &transaction{session: s, wr: wr}
	defer tx.releaseAll()
	if len(problems) > 0 {
		return cannotChange(problems[0].Path, problems[0].Err)
	}
	if n, ok := numberOf(id); ok {
		err = tx.lock(ctx, lockName(n), wr.wait)
	} else if id != "" {
		err = s.notFound(id)
	}
	if locked, ok := errors.AsType[*LockedError](err); ok {
		locked.ID = id
	}
	if err == nil {
		tx.all, err = s.placesIn(ctx, liveDir, archiveDir)
	}
	if err == nil {
		err = do(tx)
	}
	return cmp.Or(err, tx.err)
}

// releaseAll releases the locks and closes the stores.
func (tx *transaction) releaseAll() {
	for _, release := range tx.release {
		release()
	}
	tx.Close()
}

// placesIn returns places as [session.readDirs] does, and an error if a directory exists and cannot be listed.
func (s *session) placesIn(ctx context.Context, parents ...string) ([]place, error) {
	all, problems, err := s.readDirs(ctx, parents...)
	for _, p := range problems {
		if p.ID == "" && err == nil { // p is about a directory; a problem of a link has an id
			err = cannotChange(p.Path, p.Err)
		}
	}
	return all, err
}

// change locks a conversation, removes what a process that was killed left in its directories, and calls do with its copies:
// the live ones, or else the archived ones. tx.all has the places of both.
func (wr *Writer) change(ctx context.Context, id transcript.ID, do func(tx *transaction, copies []place) error) error {
	return wr.transact(ctx, id, func(tx *transaction) error {
		tx.all = placesOf(id, tx.all)
		if len(tx.all) == 0 {
			return tx.notFound(id)
		}
		for _, p := range tx.all {
			tx.sweep(p.store, p.dir)
		}
		if tx.err != nil {
			return tx.err
		}
		groups, _ := tx.group(tx.all)
		return do(tx, groups[0])
	})
}

const (
	newDirMode  = 0o755
	newFileMode = 0o644
)

// runStep calls do for a step that changes a store, unless a step before it has failed. It sets tx.err to the error.
func (tx *transaction) runStep(i int, step, name string, do func(*os.Root) error) {
	if tx.err != nil {
		return
	}
	root := tx.stores[i].root
	var err error
	switch {
	case root == nil:
		err = fs.ErrNotExist
	case tx.wr.before != nil:
		err = tx.wr.before(root, step, name)
	}
	if err == nil {
		err = do(root)
	}
	tx.err = tx.failed(i, err)
}

// failed returns the error of changing a store; nil if err is nil.
func (tx *transaction) failed(i int, err error) error {
	if err == nil {
		return nil
	}
	return cannotChange(tx.stores[i].path, history.Reason(err))
}

// file is the new content of a file of a conversation.
type file struct {
	name string
	data []byte
}

// write replaces files in each of the places, one after the other. It skips files that have the content already. It first
// writes all of them to temporary files, so that a full disk changes nothing. The error of a step is kept in tx.err.
func (tx *transaction) write(places []place, files ...file) {
	type staged struct {
		store      int
		temp, name string
	}
	var stagedFiles []staged
	for _, p := range places {
		for _, f := range files {
			s := staged{store: p.store, name: path.Join(p.dir, f.name)}
			if old, err := tx.read(p.store, s.name, int64(len(f.data))); err == nil && bytes.Equal(old, f.data) {
				continue
			}
			tx.runStep(p.store, "stage", s.name, func(root *os.Root) (err error) {
				s.temp, err = tx.wr.stage(root, s.name, f.data, newFileMode)
				return err
			})
			stagedFiles = append(stagedFiles, s)
		}
	}
	for _, s := range stagedFiles {
		tx.move(s.store, s.temp, s.name)   // does nothing if an earlier step has failed
		if tx.err != nil && s.temp != "" { // the temporary file exists, and was not moved
			tx.cleanUp(s.store, s.temp)
		}
	}
}

// move renames a file or a directory in a store. A file replaces another one.
func (tx *transaction) move(i int, from, to string) {
	tx.runStep(i, "move", from, func(root *os.Root) error { return root.Rename(from, to) })
}

func (tx *transaction) removeAll(i int, name string) {
	if tx.exists(i, name) {
		tx.runStep(i, "remove", name, func(root *os.Root) error { return root.RemoveAll(name) })
	}
}

// cleanUp removes a temporary file or directory after a step has failed. If this fails too, the next change removes it.
func (tx *transaction) cleanUp(i int, name string) {
	err := tx.err
	tx.err = nil
	tx.removeAll(i, name)
	tx.err = err
}

// sweep removes temporary files from a directory: those of a process that was killed while it held the lock. JP ignores
// their names.
func (tx *transaction) sweep(i int, dir string) {
	entries, err := tx.readDir(i, dir)
	tx.err = cmp.Or(tx.err, tx.failed(i, err))
	for _, entry := range entries {
		if safefile.Temporary(entry.Name()) {
			tx.removeAll(i, path.Join(dir, entry.Name()))
		}
	}
}

// moveInto moves a directory to parent/name in the store with the index i, and makes the parent if it is missing. A name
// begins with the id of a conversation. If the name is taken, moveInto uses another one with the same id.
func (tx *transaction) moveInto(i int, from, parent, name string) {
	tx.makeDirs(i, parent)
	to := path.Join(parent, name)
	id, _, _ := strings.Cut(name, "-")
	for k := 2; tx.exists(i, to); k++ {
		to = path.Join(parent, fmt.Sprintf("%s-%d", id, k))
	}
	tx.move(i, from, to)
}

// makeDirs makes a directory and its parents.
func (tx *transaction) makeDirs(i int, dir string) {
	if !tx.exists(i, dir) {
		tx.runStep(i, "make", dir, func(root *os.Root) error { return root.MkdirAll(dir, newDirMode) })
	}
}
