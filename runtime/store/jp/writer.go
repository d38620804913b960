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
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// Writer changes the conversations of a workspace beside other processes that do,
// JP among them. Each method takes the locks that JP takes, looks for the
// conversation only then, and replaces files as a whole: whoever reads meanwhile,
// or after the process was killed anywhere, finds each conversation as it was or
// as it is to be.
//
// What is changed is changed in every store that has the conversation. A Writer is
// safe for concurrent use.
type Writer struct {
	w    *Workspace
	now  func() time.Time
	wait time.Duration

	stage func(root *os.Root, name string, data []byte, mode fs.FileMode) (temp string, err error)
	// before, when not nil, runs before each step that changes a store, and ends it with an error.
	before func(root *os.Root, step, name string) error
}

// WriterOptions are how a [Writer] works.
type WriterOptions struct {
	Now func() time.Time // the clock; nil means time.Now
	// Wait is how long a lock is waited for that another process has; 0 stands for
	// not at all.
	Wait time.Duration
}

// Writer returns what changes the conversations of the workspace.
func (w *Workspace) Writer(o WriterOptions) *Writer {
	wr := &Writer{w: w, now: o.Now, wait: o.Wait, stage: safefile.Stage}
	if wr.now == nil {
		wr.now = time.Now
	}
	return wr
}

// StoreError is the error where a store cannot be changed, though it is there. In
// no store anything was changed then, or in all that were named before it.
type StoreError struct {
	Path string // of the store
	Err  error
}

func (e *StoreError) Error() string { return fmt.Sprintf("%s cannot be changed: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// The reasons for which a conversation cannot be what it is to be.
var (
	ErrExists      = errors.New("there is a conversation with this id") // in the place of one in the trash
	ErrNoUserStore = errors.New("the user has no store of this workspace: JP makes it when it is run there")
)

// about is the error for a conversation that is there, but not in a state that can be changed.
func about(id transcript.ID, err error) error { return fmt.Errorf("%s: %w", id, err) }

// writing is a change under way: the stores, and the locks of the conversations.
type writing struct {
	*session
	wr      *Writer
	release []func()
	all     []place // of all conversations, once the locks are taken
}

// begin opens the stores and takes the locks of conversations, all or none.
func (wr *Writer) begin(ctx context.Context, ids ...transcript.ID) (_ *writing, err error) {
	s, problems, err := wr.w.open()
	if err != nil {
		return nil, err
	}
	c := &writing{session: s, wr: wr}
	defer func() {
		if err != nil {
			c.end()
		}
	}()
	if len(problems) > 0 {
		return nil, &StoreError{Path: problems[0].Path, Err: problems[0].Err}
	}
	// In one order, so that two who want the same locks do not wait for each other.
	ids = slices.SortedFunc(slices.Values(ids), transcript.ID.Compare)
	for _, id := range slices.Compact(ids) {
		n, ok := numberOf(id)
		if !ok {
			return nil, s.notFound(id)
		}
		err := c.lock(ctx, lockName(n), wr.wait)
		var busy *LockedError
		if errors.As(err, &busy) {
			busy.ID = id
		}
		if err != nil {
			return nil, err
		}
	}
	c.all, err = c.placesIn(ctx, partitions(everywhere)...)
	return c, err
}

// lock takes a lock that is held to the end.
func (c *writing) lock(ctx context.Context, name string, wait time.Duration) error {
	release, err := c.wr.lock(ctx, name, wait)
	if err == nil {
		c.release = append(c.release, release)
	}
	return err
}

func (c *writing) end() {
	for _, release := range c.release {
		release()
	}
	c.Close()
}

// placesIn is readDirs where a directory that cannot be listed is an error.
func (s *session) placesIn(ctx context.Context, parents ...string) ([]place, error) {
	all, problems, err := s.readDirs(ctx, parents...)
	for _, p := range problems {
		if p.ID == "" && err == nil {
			err = &StoreError{Path: p.Path, Err: p.Err}
		}
	}
	return all, err
}

// change has do change a conversation, live or archived, whose lock it takes. Where it is both, in
// two stores, do gets the live copies; all of its places are those of c.all.
func (wr *Writer) change(ctx context.Context, id transcript.ID, do func(c *writing, copies []place) error) error {
	c, err := wr.begin(ctx, id)
	if err != nil {
		return err
	}
	defer c.end()
	c.all = of(id, c.all)
	if len(c.all) == 0 {
		return c.notFound(id)
	}
	for _, p := range c.all {
		if err := c.sweep(p.store, p.dir); err != nil {
			return err
		}
	}
	groups, _ := c.group(c.all)
	return do(c, groups[0])
}

const (
	newDirMode  = 0o755
	newFileMode = 0o644
)

// do takes a step that changes a store.
func (c *writing) do(i int, step, name string, do func(*os.Root) error) error {
	root := c.stores[i].root
	if root == nil {
		return c.failed(i, fs.ErrNotExist)
	}
	var err error
	if c.wr.before != nil {
		err = c.wr.before(root, step, name)
	}
	if err == nil {
		err = do(root)
	}
	return c.failed(i, err)
}

// failed returns the error of changing a store, if there is one.
func (c *writing) failed(i int, err error) error {
	if err == nil {
		return nil
	}
	return &StoreError{Path: c.stores[i].path, Err: reason(err)}
}

// file is a file that is to have other bytes.
type file struct {
	place
	name string
	data []byte
}

func (f *file) path() string { return path.Join(f.dir, f.name) }

// write gives files other bytes, one after the other, but those that have them. All are
// written before the first one is in its place, so that what goes wrong with that goes wrong
// before anything is changed.
func (c *writing) write(files ...file) (err error) {
	files = slices.DeleteFunc(files, func(f file) bool {
		old, err := c.read(f.store, f.path(), int64(len(f.data)))
		return err == nil && bytes.Equal(old, f.data)
	})
	staged := make([]string, len(files))
	defer func() {
		for k, temp := range staged { // what is left is removed by the next who has the lock
			if err != nil && temp != "" {
				_ = c.removeAll(files[k].store, temp)
			}
		}
	}()
	for k, f := range files {
		err := c.do(f.store, "stage", f.path(), func(root *os.Root) (err error) {
			staged[k], err = c.wr.stage(root, f.path(), f.data, newFileMode)
			return err
		})
		if err != nil {
			return err
		}
	}
	for k, f := range files {
		if err := c.move(f.store, staged[k], f.path()); err != nil {
			return err
		}
		staged[k] = ""
	}
	return nil
}

// move renames a file or a directory in a store. A file takes the place of another one.
func (c *writing) move(i int, from, to string) error {
	return c.do(i, "move", from, func(root *os.Root) error { return root.Rename(from, to) })
}

func (c *writing) removeAll(i int, name string) error {
	if !c.exists(i, name) {
		return nil
	}
	return c.do(i, "remove", name, func(root *os.Root) error { return root.RemoveAll(name) })
}

// sweep removes from a directory what a process left that was killed while it had the lock. JP
// takes no notice of such names.
func (c *writing) sweep(i int, dir string) error {
	entries, err := c.readDir(i, dir)
	if err != nil {
		return c.failed(i, err)
	}
	for _, entry := range entries {
		if safefile.Temporary(entry.Name()) {
			err = cmp.Or(err, c.removeAll(i, path.Join(dir, entry.Name())))
		}
	}
	return err
}

// moveInto moves a directory below another one, which is made, under its name where that is
// free, else under another one of the same conversation.
func (c *writing) moveInto(i int, from, parent, name string) error {
	if err := c.makeDirs(i, parent); err != nil {
		return err
	}
	to := path.Join(parent, name)
	id, _, _ := strings.Cut(name, "-")
	for k := 2; c.exists(i, to); k++ {
		to = path.Join(parent, fmt.Sprintf("%s-%d", id, k))
	}
	return c.move(i, from, to)
}

// makeDirs makes a directory and those above it in a store, where they are not
// there.
func (c *writing) makeDirs(i int, dir string) error {
	if c.exists(i, dir) {
		return nil
	}
	return c.do(i, "make", dir, func(root *os.Root) error { return root.MkdirAll(dir, newDirMode) })
}
