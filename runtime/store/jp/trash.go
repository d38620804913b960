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

// trashDir is the directory that JP moves conversations to if it cannot load them. [Writer.Remove] moves conversations to a
// directory in it that is named after the time and laid out as the directory of conversations:
//
//	conversations/.trash/20260301T120000.000Z/17800836875-some-title/
//	conversations/.trash/20260301T120000.000Z/.archive/17600000000-other/
const (
	trashDir    = ".trash"
	trashLayout = "20060102T150405.000Z"
)

// removedAt returns the time at which a directory in the trash was removed.
func removedAt(dir string) (time.Time, error) {
	removal, _, _ := strings.Cut(strings.TrimPrefix(dir, trashDir+"/"), "/")
	return time.Parse(trashLayout, removal)
}

// trash returns the places of removed conversations, in the order of their removals.
func (s *session) trash(ctx context.Context) ([]place, error) {
	var parents []string
	for i := range s.stores {
		removals, err := s.readDir(i, trashDir)
		if err != nil {
			return nil, cannotChange(s.stores[i].path, err)
		}
		for _, removal := range removals {
			dir := path.Join(trashDir, removal.Name())
			if _, err := removedAt(dir); err == nil && !slices.Contains(parents, dir) { // JP's removals have other names
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

// Trash returns the conversations in the trash, the last removed first. A conversation that was removed more than once is
// listed with its last removal.
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
		isOther := func(p place) bool { return path.Dir(p.dir) != path.Dir(last.dir) } // it is of another removal
		copies := slices.DeleteFunc(placesOf(last.number.id(), all), isOther)
		at, _ := removedAt(last.dir) // trash has parsed it
		list = append(list, Removed{s.readConversation(ctx, copies).Conversation, at})
	}
	return list, err
}

// Remove moves a conversation, live or archived, to the trash.
func (wr *Writer) Remove(ctx context.Context, id transcript.ID) error {
	return wr.change(ctx, id, func(tx *transaction, _ []place) error {
		removal := path.Join(trashDir, wr.now().UTC().Format(trashLayout))
		for _, p := range slices.Backward(tx.newestFirst(tx.all, files()...)) { // after a crash the newest copy, which counts, is left
			tx.moveInto(p.store, p.dir, path.Join(removal, path.Dir(p.dir)), path.Base(p.dir))
		}
		return nil
	})
}

// Delete removes a conversation for good, also from the trash.
func (wr *Writer) Delete(ctx context.Context, id transcript.ID) error {
	return wr.transact(ctx, id, func(tx *transaction) error {
		trash, err := tx.trash(ctx)
		if err = cmp.Or(err, tx.lockStage(ctx)); err != nil {
			return err
		}
		all := append(placesOf(id, tx.all), placesOf(id, trash)...)
		if len(all) == 0 {
			return tx.notFound(id)
		}
		for _, p := range slices.Backward(tx.newestFirst(all, files()...)) { // after a crash the newest copy, which counts, is left
			tx.discard(p)
		}
		return nil
	})
}

// removeEmptyRemoval removes the directory in the trash that had a place, and the directory above it in the trash, if they
// are empty. For a place outside of the trash it does nothing.
func (tx *transaction) removeEmptyRemoval(p place) {
	for dir := path.Dir(p.dir); strings.HasPrefix(dir, trashDir+"/"); dir = path.Dir(dir) {
		if tx.stores[p.store].root.Remove(dir) != nil {
			return
		}
	}
}

// Restore moves a conversation back from the trash, live or archived as it was, in each store that has none with its id. The
// error is [ErrExists] if all stores have one.
func (wr *Writer) Restore(ctx context.Context, id transcript.ID) error {
	return wr.transact(ctx, id, func(tx *transaction) error {
		all, err := tx.trash(ctx)
		if err != nil {
			return err
		}
		removed, existing := placesOf(id, all), placesOf(id, tx.all)
		if len(removed) == 0 {
			return tx.notFound(id)
		}
		err = about(id, ErrExists)                   // unless it is moved into a store below
		for _, p := range slices.Backward(removed) { // the last removal from each store comes first
			if slices.ContainsFunc(existing, func(other place) bool { return other.store == p.store }) {
				continue
			}
			tx.moveInto(p.store, p.dir, parentOf(p.archived), path.Base(p.dir))
			tx.removeEmptyRemoval(p)
			existing, err = append(existing, p), nil
		}
		return err
	})
}
