package jp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/trust"
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
	opened, problems, err := wr.w.Open(ctx)
	if err != nil {
		return nil, err
	}
	c := &writing{session: opened.(*session), wr: wr}
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
		release, err := c.locks.acquire(ctx, lockName(n), wr.wait)
		var busy *LockedError
		if errors.As(err, &busy) {
			busy.ID = id
		}
		if err != nil {
			return nil, err
		}
		c.release = append(c.release, release)
	}
	return c, nil
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

// held returns the directories of a conversation whose lock is held, without what
// a process left in them that was killed while it had the lock.
func (c *writing) held(ctx context.Context, n number) ([]found, error) {
	all, err := c.copies(ctx, n)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		if err := c.clean(f.store, f.dir); err != nil {
			return nil, err
		}
	}
	staged := stageDir(n)
	for i, root := range c.roots {
		if root != nil && c.exists(i, staged) {
			if err := c.wr.disk.removeAll(root, staged); err != nil {
				return nil, c.failed(i, err)
			}
		}
	}
	return all, nil
}

// find returns where a conversation is whose lock is held, the live one where it
// is also archived.
func (c *writing) find(ctx context.Context, id transcript.ID) (place, error) {
	n, _ := numberOf(id)
	all, err := c.held(ctx, n)
	if err != nil {
		return place{}, err
	}
	return c.place(all), nil
}

// stagePrefix begins the names of files and directories that are not finished. JP
// takes no notice of them; it removes those that end with ".tmp", also of others
// who are still writing them.
const stagePrefix = ".convtools-"

// stageDir is the name of the directory of a conversation in the making, or in
// the going. Only who has its lock touches it.
func stageDir(n number) string { return stagePrefix + strconv.FormatInt(int64(n), 10) }

// clean removes unfinished files from the directory of a conversation.
func (c *writing) clean(i int, dir string) error {
	entries, err := safefile.ReadDirIn(c.roots[i], dir)
	if err != nil {
		return c.failed(i, err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), stagePrefix) {
			if err := c.wr.disk.remove(c.roots[i], path.Join(dir, entry.Name())); err != nil {
				return c.failed(i, err)
			}
		}
	}
	return nil
}

// failed is an error of changing a store.
func (c *writing) failed(i int, err error) error {
	return &StoreError{Path: c.paths[i], Err: reason(err)}
}

// replacement is a file that is to be replaced. Until commit it is beside the one
// it replaces.
type replacement struct {
	store      int
	dir, name  string
	staged     string
	unchanged  bool
	replacedBy func(io.Writer) error
}

// replaceWith is a replacement by bytes.
func replaceWith(i int, dir, name string, data []byte) *replacement {
	return &replacement{store: i, dir: dir, name: name, replacedBy: fileOf(name, data).write}
}

// sameBytes reports whether a file holds just these bytes.
func (c *writing) sameBytes(i int, name string, data []byte) bool {
	old, err := readSmallFile(c.roots[i], c.dirs[i], name, int64(len(data)))
	return err == nil && bytes.Equal(old, data)
}

// stage writes the files of replacements, so that what goes wrong with that goes
// wrong before anything is changed.
func (c *writing) stage(list []*replacement) error {
	for _, r := range list {
		if r.unchanged {
			continue
		}
		staged := path.Join(r.dir, stagePrefix+r.name)
		if err := c.wr.disk.create(c.roots[r.store], staged, r.replacedBy); err != nil {
			_ = c.wr.disk.remove(c.roots[r.store], staged) // what is left of it is removed by the next who has the lock
			c.unstage(list)
			return c.failed(r.store, err)
		}
		r.staged = staged
	}
	return nil
}

func (c *writing) unstage(list []*replacement) {
	for _, r := range list {
		if r.staged != "" {
			_ = c.wr.disk.remove(c.roots[r.store], r.staged) // as above
		}
	}
}

// commit puts staged files in their place. [writing.settle] makes that last.
func (c *writing) commit(list []*replacement) error {
	for i, r := range list {
		if r.unchanged {
			continue
		}
		if err := c.wr.disk.rename(c.roots[r.store], r.staged, path.Join(r.dir, r.name)); err != nil {
			c.unstage(list[i:])
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
	c.gained = append(c.gained, dirOf{i, path.Dir(to)})
	c.lost = append(c.lost, dirOf{i, path.Dir(from)})
	return nil
}

// makeDirs makes a directory and those above it in a store, where they are not
// there. [writing.settle] makes that last.
func (c *writing) makeDirs(i int, dir string) error {
	if dir == "." {
		return nil
	}
	if err := c.makeDirs(i, path.Dir(dir)); err != nil {
		return err
	}
	if _, err := c.roots[i].Lstat(dir); err == nil {
		return nil
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
	slices.SortStableFunc(c.gained, func(a, b dirOf) int { return cmp.Compare(depth(b.dir), depth(a.dir)) })
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

// depth is how many directories a path leads through.
func depth(dir string) int {
	if dir == "." {
		return 0
	}
	return 1 + strings.Count(dir, "/")
}

// freeName returns a name for a directory that is not taken, and still that of the
// same conversation.
func (c *writing) freeName(i int, parent, name string) string {
	if !c.exists(i, path.Join(parent, name)) {
		return name
	}
	digits, _, _ := strings.Cut(name, "-")
	for k := 2; ; k++ {
		if name := fmt.Sprintf("%s-%d", digits, k); !c.exists(i, path.Join(parent, name)) {
			return name
		}
	}
}

// openStore opens a store that has no directory of conversations yet, and makes
// that. It reports false where there is no such store at all.
func (c *writing) openStore(i int) (bool, error) {
	if c.roots[i] != nil {
		return true, nil
	}
	open := func() (*os.Root, error) { return trust.OpenDir(c.w.root, storageDir, c.w.getenv) }
	if i == userStore {
		if c.w.user == "" {
			return false, nil
		}
		open = func() (*os.Root, error) { return safefile.OpenDir(c.w.user) }
	}
	parent, err := open()
	if err != nil {
		return false, c.failed(i, err)
	}
	defer parent.Close()
	if err := c.wr.disk.mkdir(parent, conversationsDir); err != nil {
		return false, c.failed(i, err)
	}
	if c.roots[i], err = safefile.OpenDirIn(parent, conversationsDir); err != nil {
		return false, c.failed(i, err)
	}
	return true, nil
}

// newDirectory makes the directory of a conversation in a store, complete or not
// at all: JP throws away one that lacks a file.
func (c *writing) newDirectory(i int, n number, parent, name string, files []newFile) (err error) {
	staged := stageDir(n)
	defer func() {
		if err != nil {
			_ = c.wr.disk.removeAll(c.roots[i], staged) // as in stage
		}
	}()
	if err := c.makeDirs(i, parent); err != nil {
		return err
	}
	if err := c.wr.disk.mkdir(c.roots[i], staged); err != nil {
		return c.failed(i, err)
	}
	for _, f := range files {
		if err := c.wr.disk.create(c.roots[i], path.Join(staged, f.name), f.write); err != nil {
			return c.failed(i, err)
		}
	}
	if err := c.wr.disk.syncDir(c.roots[i], staged); err != nil {
		return c.failed(i, err)
	}
	if err := c.move(i, staged, path.Join(parent, c.freeName(i, parent, name))); err != nil {
		return err
	}
	return c.settle()
}

// discard removes the directory of a conversation, which nobody sees in part.
func (c *writing) discard(i int, n number, dir string) error {
	gone := stageDir(n)
	if err := c.move(i, dir, gone); err != nil {
		return err
	}
	if err := c.settle(); err != nil {
		return err
	}
	if err := c.wr.disk.removeAll(c.roots[i], gone); err != nil {
		return c.failed(i, err)
	}
	return nil
}

// newFile is a file of a directory in the making.
type newFile struct {
	name  string
	write func(io.Writer) error
}

// copyOf is a file as it is in a store.
func (c *writing) copyOf(i int, dir, name string) newFile {
	return newFile{name, func(w io.Writer) error {
		f, err := openRegular(c.roots[i], c.dirs[i], path.Join(dir, name))
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, io.NewSectionReader(f, 0, f.size))
		return err
	}}
}

func fileOf(name string, data []byte) newFile {
	return newFile{name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}}
}

// stream returns the directory whose events count, and which of the files of a
// stream it has. Events that are damaged are an error: JP would throw away what
// has them.
func (c *writing) stream(ctx context.Context, p *place) (i int, files []string, err error) {
	for _, i := range c.byAge(p, eventsFile, baseConfigFile) {
		if _, statErr := c.roots[i].Lstat(path.Join(p.dirs[i], eventsFile)); statErr != nil {
			err = cmp.Or(err, statErr)
			continue
		}
		files = []string{eventsFile}
		if _, err := c.roots[i].Lstat(path.Join(p.dirs[i], baseConfigFile)); err == nil {
			files = []string{baseConfigFile, eventsFile}
		}
		return i, files, c.checkEvents(ctx, p)
	}
	return 0, nil, &ConversationError{p.number.id(), fmt.Errorf("it has no events: %w", reason(err))}
}

// checkEvents reads events to the end.
func (c *writing) checkEvents(ctx context.Context, p *place) error {
	r := record{s: c.session, place: *p}
	e, err := r.Events(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	for e.Next(ctx) {
	}
	var damage *store.DamageError
	switch err := e.Err(); {
	case errors.As(err, &damage):
		return &ConversationError{p.number.id(), fmt.Errorf("%s is damaged: %w", eventsFile, err)}
	case err != nil:
		return err
	}
	if err := e.Totals().Uncounted; err != nil {
		return &ConversationError{p.number.id(), fmt.Errorf("%s cannot be used by JP: %w", eventsFile, err)}
	}
	return nil
}
