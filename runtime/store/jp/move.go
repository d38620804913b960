package jp

import (
	"cmp"
	"context"
	"path"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// Archive moves a live conversation to the archive. It reports false where it was
// there already.
func (wr *Writer) Archive(ctx context.Context, id transcript.ID) (moved bool, err error) {
	err = wr.change(ctx, id, func(c *writing, copies []found) error {
		moving := slices.DeleteFunc(copies, func(f found) bool { return f.archived })
		if len(moving) == 0 {
			return nil
		}
		if err := c.stampArchived(c.place(moving), wr.now()); err != nil {
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
		moving := slices.DeleteFunc(copies, func(f found) bool { return !f.archived })
		moved = len(moving) > 0
		c.newestLast(moving)
		slices.Reverse(moving) // what is live counts: the first one to be it
		if err := c.moveAll(moving, "."); err != nil {
			return err
		}
		copies, err := c.copies(ctx, id)
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
		if err := c.moveInto(f.store, f.dir, to, path.Base(f.dir)); err != nil {
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
	data, _, err = edited(&p, data, func(m metadata) error {
		m.setTime("archived_at", at)
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
