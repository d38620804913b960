package jp

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// trashDir is where JP puts what it cannot load. What is removed here is put
// below it, in a directory for the moment of the removal that is laid out as the
// directory of conversations itself:
//
//	conversations/.trash/20260301T120000.000Z/17800836875-some-title/
//	conversations/.trash/20260301T120000.000Z/.archive/17600000000-other/
const (
	trashDir    = ".trash"
	trashLayout = "20060102T150405.000Z"
	trashStep   = time.Millisecond // of the layout
)

// Archive moves a live conversation to the archive. It reports false where it was
// there already.
func (wr *Writer) Archive(ctx context.Context, id transcript.ID) (moved bool, err error) {
	err = wr.change(ctx, id, func(c *writing, copies []found) error {
		moving := slices.DeleteFunc(slices.Clone(copies), func(f found) bool { return f.archived })
		if len(moving) == 0 {
			return nil
		}
		if err := c.stampArchived(c.place(moving), wr.now()); err != nil {
			return err
		}
		if err := c.settle(); err != nil {
			return err
		}
		moved = true
		c.newestLast(moving)
		return c.moveAll(moving, archiveDir)
	})
	return moved && err == nil, err
}

// Unarchive moves an archived conversation back. It reports false where it was
// live already.
func (wr *Writer) Unarchive(ctx context.Context, id transcript.ID) (moved bool, err error) {
	err = wr.change(ctx, id, func(c *writing, copies []found) error {
		moving := slices.DeleteFunc(slices.Clone(copies), func(f found) bool { return !f.archived })
		moved = len(moving) > 0
		c.newestLast(moving)
		slices.Reverse(moving) // what is live counts: the first one to be it
		if err := c.moveAll(moving, "."); err != nil {
			return err
		}
		if err := c.settle(); err != nil {
			return err
		}
		n, _ := numberOf(id)
		copies, err := c.copies(ctx, n)
		if err != nil {
			return err
		}
		return c.stampArchived(c.place(copies), time.Time{})
	})
	return moved && err == nil, err
}

// moveAll moves directories of a conversation. Where it ends in between, the directory that
// the conversation is in decides whether it is archived.
func (c *writing) moveAll(dirs []found, to string) error {
	for _, f := range dirs {
		if _, err := c.moveInto(f.store, f.dir, to, path.Base(f.dir)); err != nil {
			return err
		}
	}
	return nil
}

// stampArchived writes when a conversation was archived; the zero time for never.
func (c *writing) stampArchived(p place, at time.Time) error {
	data, _, err := c.metadata(&p)
	if err != nil {
		return err
	}
	data, err = editMetadata(p.number.id(), data, func(o *object) error {
		o.setTime("archived_at", at)
		return nil
	})
	if err != nil {
		return err
	}
	return c.replace(metadataOf(p, data)...)
}

// newestLast orders the directories of one conversation in which they can be taken
// away one after the other: copies may differ where a change was ended between
// them, and the one that has it is the newest, which has to count to the end.
func (c *writing) newestLast(dirs []found) {
	slices.SortStableFunc(dirs, func(a, b found) int {
		files := []string{metadataFile, eventsFile, baseConfigFile}
		return cmp.Or(history.CompareBool(b.archived, a.archived), c.newest(a.store, a.dir, files).Compare(c.newest(b.store, b.dir, files)))
	})
}

// Remove moves conversations, live or archived, to the trash, which [Writer.Restore]
// gets them back from. Where one of them is not there, or is locked, none is
// removed.
func (wr *Writer) Remove(ctx context.Context, ids ...transcript.ID) error {
	return wr.removeAll(ctx, ids, false)
}

// Delete removes conversations for good, those in the trash too.
func (wr *Writer) Delete(ctx context.Context, ids ...transcript.ID) error {
	return wr.removeAll(ctx, ids, true)
}

func (wr *Writer) removeAll(ctx context.Context, ids []transcript.ID, forGood bool) error {
	c, err := wr.begin(ctx, ids...)
	if err != nil {
		return err
	}
	defer c.end()
	all, err := c.allDirs(ctx)
	if err != nil {
		return err
	}
	trash, err := c.readTrash()
	if err != nil {
		return err
	}
	copies := map[number][]found{}
	for _, f := range all {
		copies[f.number] = append(copies[f.number], f)
	}
	at := wr.now().UTC()
	var missing []transcript.ID
	for _, id := range ids {
		n, _ := numberOf(id)
		if len(copies[n]) == 0 && !(forGood && slices.ContainsFunc(trash, of(n))) {
			missing = append(missing, id)
		}
		for _, t := range trash { // as when the clock was set back: the last removal is what counts
			if t.number == n && !t.at.Before(at) {
				at = t.at.Add(trashStep)
			}
		}
	}
	if len(missing) > 0 {
		places, _ := c.pair(all)
		n, _ := numberOf(missing[0])
		return &store.NotFoundError{IDs: missing, Nearest: nearest(n, places), Place: c.w.root}
	}
	for _, id := range ids {
		n, _ := numberOf(id)
		c.newestLast(copies[n])
		for _, f := range copies[n] {
			if f.dir, err = c.trash(f, at); err != nil {
				return err
			}
			trash = append(trash, trashed{f, at})
		}
	}
	if err := c.settle(); err != nil || !forGood {
		return err
	}
	for _, t := range trash {
		if !slices.Contains(ids, t.number.id()) {
			continue
		}
		if err := c.wr.disk.removeAll(c.roots[t.store], t.dir); err != nil {
			return c.failed(t.store, err)
		}
		c.tidy(t)
	}
	return nil
}

// trashed is a directory of a conversation in the trash.
type trashed struct {
	found
	at time.Time
}

func of(n number) func(trashed) bool { return func(t trashed) bool { return t.number == n } }

// trash moves a directory to the trash, and returns where it is. Who restores what was removed
// at the same moment removes the directory of the removal once that is empty, so that it may
// have to be made again.
func (c *writing) trash(f found, at time.Time) (to string, err error) {
	for range maxRelists {
		to, err = c.moveInto(f.store, f.dir, path.Join(trashDir, at.Format(trashLayout), path.Dir(f.dir)), path.Base(f.dir))
		if !errors.Is(err, fs.ErrNotExist) || !c.exists(f.store, f.dir) {
			break
		}
	}
	return to, err
}

// tidy removes the directories of a removal that are empty.
func (c *writing) tidy(t trashed) {
	for dir := path.Dir(t.dir); dir != trashDir; dir = path.Dir(dir) {
		if c.wr.disk.remove(c.roots[t.store], dir) != nil {
			return // it is not empty
		}
	}
}

// readTrash returns what was removed, in the order of its removal.
func (c *writing) readTrash() ([]trashed, error) {
	var all []trashed
	for i, root := range c.roots {
		if root == nil {
			continue
		}
		removals, err := c.w.readDir(root, trashDir)
		if err != nil {
			return nil, c.failed(i, err)
		}
		for _, removal := range removals {
			at, err := time.Parse(trashLayout, removal.Name())
			if err != nil || !removal.IsDir() {
				continue // JP's
			}
			for _, set := range partitions(store.Live | store.Archived) {
				parent := path.Join(trashDir, removal.Name(), set)
				entries, err := c.w.readDir(root, parent)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return nil, c.failed(i, err)
				}
				for _, entry := range entries {
					if n, ok := parseDirName(entry.Name()); ok && entry.IsDir() {
						all = append(all, trashed{found{n, set == archiveDir, i, path.Join(parent, entry.Name())}, at})
					}
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b trashed) int {
		return cmp.Or(a.at.Compare(b.at), history.CompareBool(b.archived, a.archived)) // a live copy counts more
	})
	return all, nil
}

// Removed is a conversation in the trash.
type Removed struct {
	transcript.Conversation
	At time.Time // when it was removed
}

// Trash returns the conversations that were removed and can be restored, those
// that were removed last first. Of one that was removed more than once it is the
// last time.
func (w *Workspace) Trash(ctx context.Context) ([]Removed, error) {
	s, _, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	c := &writing{session: s}
	defer c.end()
	all, err := c.readTrash()
	if err != nil {
		return nil, err
	}
	var list []Removed
	seen := map[number]bool{}
	for i := len(all) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t := all[i]
		if seen[t.number] {
			continue
		}
		seen[t.number] = true
		p := place{number: t.number, archived: t.archived}
		for _, other := range all {
			if other.number == t.number && other.archived == t.archived && other.at.Equal(t.at) {
				p.dirs[other.store] = other.dir
			}
		}
		list = append(list, Removed{c.load(&p).Conversation, t.at})
	}
	return list, nil
}

// Restore brings a conversation back from the trash, in each store that has none
// of that id: live or archived, as it was. A [*store.NotFoundError] has the ids in
// the trash that are spelled most alike.
func (wr *Writer) Restore(ctx context.Context, id transcript.ID) error {
	c, err := wr.begin(ctx, id)
	if err != nil {
		return err
	}
	defer c.end()
	n, _ := numberOf(id)
	all, err := c.readTrash()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, of(n)) {
		var places []place
		for _, t := range all {
			places = append(places, place{number: t.number})
		}
		return &store.NotFoundError{IDs: []transcript.ID{id}, Nearest: nearest(n, places), Place: c.w.root}
	}
	there, err := c.copies(ctx, n)
	var none *store.NotFoundError
	if err != nil && !errors.As(err, &none) {
		return err
	}
	var emptied []trashed
	for i := range c.roots {
		if slices.ContainsFunc(there, func(f found) bool { return f.store == i }) {
			continue
		}
		mine := slices.DeleteFunc(slices.Clone(all), func(t trashed) bool { return t.number != n || t.store != i })
		if len(mine) == 0 {
			continue
		}
		t := mine[len(mine)-1] // the one that was removed last
		if _, err := c.moveInto(i, t.dir, partition(t.archived), path.Base(t.dir)); err != nil {
			return err
		}
		emptied = append(emptied, t)
	}
	if len(emptied) == 0 {
		return &ExistsError{id}
	}
	if err := c.settle(); err != nil {
		return err
	}
	for _, t := range emptied {
		c.tidy(t)
	}
	return nil
}

// ExistsError is the error for a conversation in the trash that cannot be
// restored because there is one with its id.
type ExistsError struct{ ID transcript.ID }

func (e *ExistsError) Error() string { return "conversation " + string(e.ID) + " exists" }
