package jp

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/transcript"
)

// SetArchived moves a conversation to the archive or back, in each store that has a copy, and reports whether it moved
// anything. Only the directory of a conversation decides whether it is archived, not the metadata.
func (wr *Writer) SetArchived(ctx context.Context, id transcript.ID, archived bool) (moved bool, err error) {
	err = wr.change(ctx, id, func(tx *transaction, copies []place) error {
		moving := slices.DeleteFunc(slices.Clone(tx.all), func(p place) bool { return p.archived == archived })
		if len(moving) == 0 {
			return nil
		}
		// While only one copy is live, that copy counts, and should be the newest: it becomes live first, or archived last.
		moving = tx.newestFirst(moving, files()...)
		var archivedAt time.Time // zero removes the key
		if archived {
			archivedAt = wr.now()
			slices.Reverse(moving)
		}
		_, err := tx.edit(copies, func(m metadata, _ transcript.Conversation) error {
			m.setTime("archived_at", archivedAt)
			return nil
		})
		if err != nil {
			return err
		}
		for _, p := range moving {
			tx.moveInto(p.store, p.dir, parentOf(archived), path.Base(p.dir))
		}
		moved = tx.err == nil
		return nil
	})
	return moved, err
}

// SetLocal moves a conversation from the project to the user's store if local is true, and otherwise copies it from the
// user's store to the project. It reports whether there was anything to do. For a moment both stores have the files.
func (wr *Writer) SetLocal(ctx context.Context, id transcript.ID, local bool) (changed bool, err error) {
	wr.w.makeStores()
	err = wr.change(ctx, id, func(tx *transaction, copies []place) error {
		if err := tx.lockStage(ctx); err != nil {
			return err
		}
		isLocal := copies[0].store == userStore // if there were a copy in the project, it would be first
		if local == isLocal {
			return nil
		}
		changed = true
		s, err := tx.stream(copies)
		if err != nil {
			return err
		}
		e, err := tx.edited(copies, func(metadata, transcript.Conversation) error { return nil }) // e.data is the unchanged metadata
		if err != nil {
			return err
		}
		all, name := append(s.files(), file{MetadataFile, e.data}), path.Base(s.from.dir)
		if local {
			return tx.makeLocal(copies, name, all)
		}
		tx.newDirectory(projectStore, parentOf(copies[0].archived), name, all)
		return nil
	})
	return changed, err
}

// makeLocal moves a conversation from the project to the user's store: it writes all files to the user's copy or, if
// there is no copy, to a new directory with the name, and then removes the directory in the project.
func (tx *transaction) makeLocal(copies []place, name string, all []file) error {
	shared, users := copies[0], copies[1:] // the copy in the project is first
	if tx.w.user == "" {
		return errors.New("the user has no store of this workspace: JP makes it when it is run there")
	}
	if err := tx.onlyOurFiles(shared); err != nil {
		return err
	}
	if len(users) > 0 {
		tx.write(users, all...)
	} else {
		tx.newDirectory(userStore, parentOf(shared.archived), name, all)
	}
	tx.discard(shared)
	return nil
}

// onlyOurFiles returns an error if the directory of a conversation in the project has other files, which would be lost with
// it, or if another directory of the project has the same id.
func (tx *transaction) onlyOurFiles(p place) error {
	for _, other := range tx.all { // the directories with the id, in both stores
		if other.store == p.store && other.dir != p.dir {
			return about(p.number.id(), fmt.Errorf("it is also in %s; remove one of the two", tx.path(p.store, other.dir)))
		}
	}
	entries, err := tx.readDir(p.store, p.dir)
	if err != nil {
		return tx.failed(p.store, err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if !slices.Contains(files(), name) && !strings.HasSuffix(name, ".tmp") {
			return about(p.number.id(), fmt.Errorf("%s in %s would be lost; move it away first", text.Quote(name), tx.path(p.store, p.dir)))
		}
	}
	return nil
}
