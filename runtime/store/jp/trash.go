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
	for _, last := range slices.Backward(all) { // all is in the order of removals
		if seen[last.number] {
			continue
		}
		seen[last.number] = true
		removal := path.Dir(last.dir) // a directory in the trash; each removal has its own
		isEarlier := func(p place) bool { return path.Dir(p.dir) != removal }
		copies := slices.DeleteFunc(placesOf(last.number.id(), all), isEarlier)
		at, _ := removedAt(last.dir) // without an error: s.trash leaves out directories with other names
		list = append(list, Removed{s.readConversation(ctx, copies).Conversation, at})
	}
	return list, err
}

// Remove moves a conversation, live or archived, to the trash: the newest copy last, so that a crash leaves that copy.
func (wr *Writer) Remove(ctx context.Context, id transcript.ID) error {
	return wr.change(ctx, id, func(tx *transaction, _ []place) error {
		removal := path.Join(trashDir, wr.now().UTC().Format(trashLayout))
		for _, p := range slices.Backward(tx.newestFirst(tx.all, files()...)) { // the oldest first
			tx.moveInto(p.store, p.dir, path.Join(removal, path.Dir(p.dir)), path.Base(p.dir))
		}
		return nil
	})
}

// Delete removes a conversation for good, also from the trash: the newest copy last, so that a crash leaves that copy.
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
		for _, p := range slices.Backward(tx.newestFirst(all, files()...)) { // the oldest first
			tx.discard(p)
		}
		return nil
	})
}

// removeEmptyTrash removes the directories in the trash that contained p.dir, if they are empty now. It does nothing if
// p.dir was not in the trash.
func (tx *transaction) removeEmptyTrash(p place) {
	for dir := path.Dir(p.dir); strings.HasPrefix(dir, trashDir+"/"); dir = path.Dir(dir) {
		if tx.stores[p.store].root.Remove(dir) != nil { // it is not empty
			return
		}
	}
}

// Restore moves the removed copies of a conversation back from the trash, live or archived as they were. It leaves out a
// store that has a conversation with the id already. The error is [ErrExists] if it moves nothing for this reason.
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
		err = about(id, ErrExists)                   // unless a copy is moved below
		for _, p := range slices.Backward(removed) { // the last removal from each store comes first
			if slices.ContainsFunc(existing, func(other place) bool { return other.store == p.store }) {
				continue
			}
			tx.moveInto(p.store, p.dir, parentOf(p.archived), path.Base(p.dir))
			tx.removeEmptyTrash(p)
			existing, err = append(existing, p), nil
		}
		return err
	})
}
