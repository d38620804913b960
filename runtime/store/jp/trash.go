package jp

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

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
)

// removedAt returns when a directory in the trash was removed.
func removedAt(dir string) (time.Time, error) {
	removal, _, _ := strings.Cut(strings.TrimPrefix(dir, trashDir+"/"), "/")
	return time.Parse(trashLayout, removal)
}

// readTrash returns the directories of what was removed, in the order of the removals; of one removal
// the archived ones first.
func (c *writing) readTrash(ctx context.Context) ([]found, error) {
	var parents []string
	for i, root := range c.roots {
		if root == nil {
			continue
		}
		removals, err := c.w.readDir(root, trashDir)
		if err != nil {
			return nil, c.failed(i, err)
		}
		for _, removal := range removals {
			dir := path.Join(trashDir, removal.Name())
			if _, err := removedAt(dir); err == nil && !slices.Contains(parents, dir) { // others are JP's
				parents = append(parents, dir, path.Join(dir, archiveDir))
			}
		}
	}
	all, err := c.dirsIn(ctx, parents...)
	slices.SortStableFunc(all, func(a, b found) int { return strings.Compare(a.dir, b.dir) })
	return all, err
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
	all, err := c.readTrash(ctx)
	if err != nil {
		return nil, err
	}
	var list []Removed
	seen := map[number]bool{}
	for _, f := range slices.Backward(all) {
		if seen[f.number] {
			continue
		}
		seen[f.number] = true
		p := place{number: f.number, archived: f.archived}
		for _, other := range all {
			if other.number == f.number && path.Dir(other.dir) == path.Dir(f.dir) {
				p.dirs[other.store] = other.dir
			}
		}
		at, _ := removedAt(f.dir)
		list = append(list, Removed{s.look(ctx, p).Conversation, at})
	}
	return list, nil
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
	all := c.all
	if forGood {
		trash, err := c.readTrash(ctx)
		if err = cmp.Or(err, c.lockStage(ctx)); err != nil {
			return err
		}
		all = append(all, trash...)
	}
	var missing []transcript.ID
	var taken []found
	for _, id := range ids {
		copies := of(id, all)
		if len(copies) == 0 {
			missing = append(missing, id)
		}
		c.newestLast(copies)
		taken = append(taken, copies...)
	}
	if len(missing) > 0 {
		return c.notFound(missing...)
	}
	removal := path.Join(trashDir, wr.now().UTC().Format(trashLayout))
	for _, f := range taken {
		if forGood {
			err = c.discard(f)
		} else {
			err = c.moveInto(f.store, f.dir, path.Join(removal, path.Dir(f.dir)), path.Base(f.dir))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// of returns the directories of a conversation.
func of(id transcript.ID, dirs []found) []found {
	n, _ := numberOf(id)
	return slices.DeleteFunc(slices.Clone(dirs), func(f found) bool { return f.number != n })
}

// tidy removes the directories of a removal that are empty.
func (c *writing) tidy(f found) {
	for dir := path.Dir(f.dir); strings.HasPrefix(dir, trashDir+"/"); dir = path.Dir(dir) {
		if c.roots[f.store].Remove(dir) != nil {
			return // it is not empty
		}
	}
}

// Restore brings a conversation back from the trash, in each store that has none
// of that id: live or archived, as it was.
func (wr *Writer) Restore(ctx context.Context, id transcript.ID) error {
	c, err := wr.begin(ctx, id)
	if err != nil {
		return err
	}
	defer c.end()
	all, err := c.readTrash(ctx)
	if err != nil {
		return err
	}
	removed, there := of(id, all), of(id, c.all)
	if len(removed) == 0 {
		return c.notFound(id)
	}
	restored := false
	for _, f := range slices.Backward(removed) { // of each store what was removed last
		if slices.ContainsFunc(there, func(other found) bool { return other.store == f.store }) {
			continue
		}
		if err := c.moveInto(f.store, f.dir, partition(f.archived), path.Base(f.dir)); err != nil {
			return err
		}
		c.tidy(f)
		there, restored = append(there, f), true
	}
	if !restored {
		return &ExistsError{id}
	}
	return nil
}

// ExistsError is the error for a conversation in the trash that cannot be
// restored because there is one with its id.
type ExistsError struct{ ID transcript.ID }

func (e *ExistsError) Error() string { return "conversation " + string(e.ID) + " exists" }
