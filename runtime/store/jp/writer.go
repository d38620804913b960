package jp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
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
	// Directories that are to be synced, each once: those that got an entry, and those
	// that one was moved away from.
	gained, lost []dirOf
}

// dirOf is a directory in a store.
type dirOf struct {
	store int
	dir   string
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
			return nil, &store.NotFoundError{IDs: []transcript.ID{id}, Place: wr.w.root}
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
	return c, nil
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
	n, _ := numberOf(id)
	copies, err := c.copies(ctx, n)
	if err != nil {
		return err
	}
	if err := c.clean(n, copies); err != nil {
		return err
	}
	if err := do(c, copies); err != nil {
		return err
	}
	return c.settle()
}

// copies returns the directories that have the name of a conversation. Nobody
// renames them while its lock is held.
func (c *writing) copies(ctx context.Context, n number) ([]found, error) {
	all, err := c.allDirs(ctx)
	if err != nil {
		return nil, err
	}
	mine := slices.DeleteFunc(slices.Clone(all), func(f found) bool { return f.number != n })
	if len(mine) == 0 {
		places, _ := c.pair(all)
		return nil, c.notFound(n, places, nil)
	}
	return mine, nil
}

// allDirs returns the directories of all conversations. One that cannot be listed is an error.
func (c *writing) allDirs(ctx context.Context) ([]found, error) {
	all, problems, err := c.readDirs(ctx, everywhere)
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

// stageDir is the name of the directory of a conversation in the making, or in
// the going. Only who has its lock touches it.
func stageDir(n number) string { return stagePrefix + strconv.FormatInt(int64(n), 10) }

// clean removes what a process left of a conversation that was killed while it had the lock.
func (c *writing) clean(n number, copies []found) error {
	for _, f := range copies {
		entries, err := safefile.ReadDirIn(c.roots[f.store], f.dir)
		if err != nil {
			return c.failed(f.store, err)
		}
		for _, entry := range entries {
			if !strings.HasPrefix(entry.Name(), stagePrefix) {
				continue
			}
			if err := c.wr.disk.remove(c.roots[f.store], path.Join(f.dir, entry.Name())); err != nil {
				return c.failed(f.store, err)
			}
		}
	}
	for i, root := range c.roots {
		if root == nil || !c.exists(i, stageDir(n)) {
			continue
		}
		if err := c.wr.disk.removeAll(root, stageDir(n)); err != nil {
			return c.failed(i, err)
		}
	}
	return nil
}

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
// before anything is changed. [writing.settle] makes it last.
func (c *writing) replace(list ...replacement) error {
	list = slices.DeleteFunc(list, func(r replacement) bool {
		old, err := readFile(c.roots[r.store], r.path(), int64(len(r.data)))
		return err == nil && bytes.Equal(old, r.data)
	})
	unstage := func(list []replacement) { // what is left is removed by the next who has the lock
		for _, r := range list {
			_ = c.wr.disk.remove(c.roots[r.store], r.staged())
		}
	}
	for k, r := range list {
		if err := c.wr.disk.create(c.roots[r.store], r.staged(), r.data); err != nil {
			unstage(list[:k+1])
			return c.failed(r.store, err)
		}
	}
	for k, r := range list {
		if err := c.wr.disk.rename(c.roots[r.store], r.staged(), r.path()); err != nil {
			unstage(list[k:])
			return c.failed(r.store, err)
		}
		c.gained = append(c.gained, dirOf{r.store, r.dir})
	}
	return nil
}

// move renames a directory inside a store. [writing.settle] makes that last.
func (c *writing) move(i int, from, to string) error {
	if err := c.wr.disk.rename(c.roots[i], from, to); err != nil {
		return c.failed(i, err)
	}
	for k := range c.gained {
		if c.gained[k] == (dirOf{i, from}) {
			c.gained[k].dir = to
		}
	}
	c.gained = append(c.gained, dirOf{i, path.Dir(to)})
	c.lost = append(c.lost, dirOf{i, path.Dir(from)})
	return nil
}

// moveInto moves a directory below another one, which is made, under its name where that is
// free, else under another one of the same conversation.
func (c *writing) moveInto(i int, from, parent, name string) (to string, err error) {
	if err := c.makeDirs(i, parent); err != nil {
		return "", err
	}
	to = path.Join(parent, name)
	digits, _, _ := strings.Cut(name, "-")
	for k := 2; c.exists(i, to); k++ {
		to = path.Join(parent, fmt.Sprintf("%s-%d", digits, k))
	}
	return to, c.move(i, from, to)
}

// makeDirs makes a directory and those above it in a store, where they are not
// there. [writing.settle] makes that last.
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
	c.gained = append(c.gained, dirOf{i, path.Dir(dir)})
	return nil
}

// settle makes last what was moved and made: each directory is synced once, what
// leads to a new place before the old place, so that nothing is in neither after a
// power cut.
func (c *writing) settle() error {
	length := func(d dirOf) int { return len(path.Join("/", d.dir)) } // of what is below another one more
	slices.SortStableFunc(c.gained, func(a, b dirOf) int { return cmp.Compare(length(b), length(a)) })
	synced := map[dirOf]bool{}
	for _, d := range slices.Concat(c.gained, c.lost) {
		if synced[d] {
			continue
		}
		synced[d] = true
		if err := c.wr.disk.syncDir(c.roots[d.store], d.dir); err != nil {
			return c.failed(d.store, err)
		}
	}
	c.gained, c.lost = nil, nil
	return nil
}
