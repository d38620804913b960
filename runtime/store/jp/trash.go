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

// trash returns the places of what was removed, in the order of the removals; of one removal
// the archived ones first.
func (s *session) trash(ctx context.Context) ([]place, error) {
	var parents []string
	for i := range s.stores {
		removals, err := s.readDir(i, trashDir)
		if err != nil {
			return nil, &StoreError{Path: s.stores[i].path, Err: err}
		}
		for _, removal := range removals {
			dir := path.Join(trashDir, removal.Name())
			if _, err := removedAt(dir); err == nil && !slices.Contains(parents, dir) { // others are JP's
				parents = append(parents, dir, path.Join(dir, archiveDir))
			}
		}
	}
	all, err := s.placesIn(ctx, parents...)
	slices.SortStableFunc(all, func(a, b place) int { return strings.Compare(a.dir, b.dir) })
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
func (w *Workspace) Trash(ctx context.Context) (list []Removed, err error) {
	s, _, err := w.open()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	all, err := s.trash(ctx)
	seen := map[number]bool{}
	for _, last := range slices.Backward(all) {
		if seen[last.number] {
			continue
		}
		seen[last.number] = true
		var copies []place
		for _, p := range all {
			if p.number == last.number && path.Dir(p.dir) == path.Dir(last.dir) {
				copies = append(copies, p)
			}
		}
		at, _ := removedAt(last.dir) // which trash has looked at
		list = append(list, Removed{s.look(ctx, copies).Conversation, at})
	}
	return list, err
}

// Remove moves conversations, live or archived, to the trash, which [Writer.Restore]
// gets them back from. Where one of them is not there, or is locked, none is
// removed.
func (wr *Writer) Remove(ctx context.Context, ids ...transcript.ID) error {
	return wr.remove(ctx, ids, false)
}

// Delete removes conversations for good, those in the trash too.
func (wr *Writer) Delete(ctx context.Context, ids ...transcript.ID) error {
	return wr.remove(ctx, ids, true)
}

func (wr *Writer) remove(ctx context.Context, ids []transcript.ID, forGood bool) error {
	c, err := wr.begin(ctx, ids...)
	if err != nil {
		return err
	}
	defer c.end()
	all := c.all
	if forGood {
		trash, err := c.trash(ctx)
		if err = cmp.Or(err, c.lockStage(ctx)); err != nil {
			return err
		}
		all = append(all, trash...)
	}
	var missing []transcript.ID
	var taken []place
	for _, id := range ids {
		places := of(id, all)
		if len(places) == 0 {
			missing = append(missing, id)
		}
		// Where it ends in between, the newest of the copies counts: one may have a change that the
		// others do not have.
		places = c.newestFirst(places, files()...)
		slices.Reverse(places)
		taken = append(taken, places...)
	}
	if len(missing) > 0 {
		return c.notFound(missing...)
	}
	removal := path.Join(trashDir, wr.now().UTC().Format(trashLayout))
	for _, p := range taken {
		if forGood {
			err = c.discard(p)
		} else {
			err = c.moveInto(p.store, p.dir, path.Join(removal, path.Dir(p.dir)), path.Base(p.dir))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tidy removes the directories of a removal that are empty.
func (c *writing) tidy(p place) {
	for dir := path.Dir(p.dir); strings.HasPrefix(dir, trashDir+"/"); dir = path.Dir(dir) {
		if c.stores[p.store].root.Remove(dir) != nil {
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
	all, err := c.trash(ctx)
	if err != nil {
		return err
	}
	removed, there := of(id, all), of(id, c.all)
	if len(removed) == 0 {
		return c.notFound(id)
	}
	restored := false
	for _, p := range slices.Backward(removed) { // of each store what was removed last
		if slices.ContainsFunc(there, func(other place) bool { return other.store == p.store }) {
			continue
		}
		if err := c.moveInto(p.store, p.dir, partition(p.archived), path.Base(p.dir)); err != nil {
			return err
		}
		c.tidy(p)
		there, restored = append(there, p), true
	}
	if !restored {
		return about(id, ErrExists)
	}
	return nil
}
