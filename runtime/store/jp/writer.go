package jp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

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
	disk disk
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
	wr := &Writer{w: w, now: o.Now, wait: o.Wait, disk: osDisk{}}
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

// ConversationError is the error for a conversation that is there, but not in a
// state that can be changed.
type ConversationError struct {
	ID  transcript.ID
	Err error
}

func (e *ConversationError) Error() string { return fmt.Sprintf("%s: %v", e.ID, e.Err) }

// Unwrap returns the cause.
func (e *ConversationError) Unwrap() error { return e.Err }

// writing is a change under way: the stores, and the locks of the conversations.
type writing struct {
	*session
	wr      *Writer
	locks   *locks
	release []func()
	all     []found // the directories of all conversations, once the locks are taken
}

// begin opens the stores and takes the locks of conversations, all or none.
func (wr *Writer) begin(ctx context.Context, ids ...transcript.ID) (_ *writing, err error) {
	s, problems, err := wr.w.Open(ctx)
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
	if c.locks, err = wr.w.openLocks(wr.now); err != nil {
		return nil, err
	}
	// In one order, so that two who want the same locks do not wait for each other.
	ids = slices.Clone(ids)
	slices.SortFunc(ids, transcript.ID.Compare)
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
	c.all, err = c.allDirs(ctx)
	return c, err
}

// lock takes a lock that is held to the end.
func (c *writing) lock(ctx context.Context, name string, wait time.Duration) error {
	release, err := c.locks.acquire(ctx, name, wait)
	if err == nil {
		c.release = append(c.release, release)
	}
	return err
}

func (c *writing) end() {
	for _, release := range c.release {
		release()
	}
	if c.locks != nil {
		c.locks.close()
	}
	c.Close()
}

// change has do change a conversation, live or archived, whose lock it takes, and of which do
// gets the directories.
func (wr *Writer) change(ctx context.Context, id transcript.ID, do func(c *writing, copies []found) error) error {
	c, err := wr.begin(ctx, id)
	if err != nil {
		return err
	}
	defer c.end()
	copies := of(id, c.all)
	if len(copies) == 0 {
		return c.notFound(id)
	}
	for _, f := range copies { // what a process left that was killed while it had the lock
		for _, file := range files() {
			if err := c.removeAll(f.store, path.Join(f.dir, stagePrefix+file)); err != nil {
				return err
			}
		}
	}
	return do(c, copies)
}

// allDirs returns the directories of all conversations. One that cannot be listed is an error.
func (c *writing) allDirs(ctx context.Context) ([]found, error) {
	return c.dirsIn(ctx, partitions(everywhere)...)
}

func (c *writing) dirsIn(ctx context.Context, parents ...string) ([]found, error) {
	all, problems, err := c.readDirs(ctx, parents...)
	for _, p := range problems {
		if p.ID == "" && err == nil {
			err = &StoreError{Path: p.Path, Err: p.Err}
		}
	}
	return all, err
}

// place returns where a conversation is that has some directories, the live one where it is also
// archived.
func (c *writing) place(dirs []found) place {
	places, _ := c.pair(dirs)
	return places[0]
}

// stagePrefix begins the names of files and directories that are not finished. JP
// takes no notice of them; it removes those that end with ".tmp", also of others
// who are still writing them.
const stagePrefix = ".convtools-"

// failed is an error of changing a store.
func (c *writing) failed(i int, err error) error {
	return &StoreError{Path: c.paths[i], Err: reason(err)}
}

// replacement is a file that is to have other bytes.
type replacement struct {
	store     int
	dir, name string
	data      []byte
}

func (r *replacement) path() string { return path.Join(r.dir, r.name) }

func (r *replacement) staged() string { return path.Join(r.dir, stagePrefix+r.name) }

// replace gives files other bytes, one after the other, but those that have them. All are
// written before the first one is in its place, so that what goes wrong with that goes wrong
// before anything is changed.
func (c *writing) replace(list ...replacement) error {
	list = slices.DeleteFunc(list, func(r replacement) bool {
		old, err := c.read(r.store, r.path(), int64(len(r.data)))
		return err == nil && bytes.Equal(old, r.data)
	})
	unstage := func(list []replacement) { // what is left is removed by the next who has the lock
		for _, r := range list {
			_ = c.wr.disk.removeAll(c.roots[r.store], r.staged())
		}
	}
	for k, r := range list {
		if err := c.wr.disk.create(c.roots[r.store], r.staged(), r.data); err != nil {
			unstage(list[:k+1])
			return c.failed(r.store, err)
		}
	}
	for k, r := range list {
		if err := c.move(r.store, r.staged(), r.path()); err != nil {
			unstage(list[k:])
			return err
		}
	}
	return nil
}

// move renames a file or a directory inside a store.
func (c *writing) move(i int, from, to string) error {
	if err := c.wr.disk.rename(c.roots[i], from, to); err != nil {
		return c.failed(i, err)
	}
	return nil
}

func (c *writing) removeAll(i int, name string) error {
	if !c.exists(i, name) {
		return nil
	}
	if err := c.wr.disk.removeAll(c.roots[i], name); err != nil {
		return c.failed(i, err)
	}
	return nil
}

// moveInto moves a directory below another one, which is made, under its name where that is
// free, else under another one of the same conversation.
func (c *writing) moveInto(i int, from, parent, name string) error {
	if err := c.makeDirs(i, parent); err != nil {
		return err
	}
	to := path.Join(parent, name)
	digits, _, _ := strings.Cut(name, "-")
	for k := 2; c.exists(i, to); k++ {
		to = path.Join(parent, fmt.Sprintf("%s-%d", digits, k))
	}
	return c.move(i, from, to)
}

// makeDirs makes a directory and those above it in a store, where they are not
// there.
func (c *writing) makeDirs(i int, dir string) error {
	if dir == "." || c.exists(i, dir) {
		return nil
	}
	if err := c.makeDirs(i, path.Dir(dir)); err != nil {
		return err
	}
	if err := c.wr.disk.mkdir(c.roots[i], dir); err != nil {
		return c.failed(i, err)
	}
	return nil
}
