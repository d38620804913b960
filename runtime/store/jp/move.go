package jp

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/transcript"
)

// Archive moves a live conversation to the archive. It reports false where it was
// there already.
func (wr *Writer) Archive(ctx context.Context, id transcript.ID) (moved bool, err error) {
	return wr.setArchived(ctx, id, true)
}

// Unarchive moves an archived conversation back. It reports false where it was
// live already.
func (wr *Writer) Unarchive(ctx context.Context, id transcript.ID) (moved bool, err error) {
	return wr.setArchived(ctx, id, false)
}

// setArchived moves what is not where it is to be. Where it ends in between, the directory that
// the conversation is in decides whether it is archived.
func (wr *Writer) setArchived(ctx context.Context, id transcript.ID, archived bool) (moved bool, err error) {
	err = wr.change(ctx, id, func(c *writing, copies []place) error {
		moving := slices.DeleteFunc(slices.Clone(c.all), func(p place) bool { return p.archived == archived })
		if len(moving) == 0 {
			return nil
		}
		ordered := c.newestFirst(moving, files()...) // what is live counts: the newest is to be it
		var at time.Time
		if archived {
			at = wr.now()
			slices.Reverse(ordered)
		}
		_, err := c.edit(copies, func(m metadata, _ transcript.Conversation) error {
			m.setTime("archived_at", at)
			return nil
		})
		for _, p := range ordered {
			if err == nil {
				err = c.moveInto(p.store, p.dir, partition(archived), path.Base(p.dir))
			}
		}
		moved = err == nil
		return err
	})
	return moved, err
}

// SetLocal keeps a conversation in the user's own store alone, or in the project too, and
// reports whether it was otherwise. Its files are in both stores for a moment, and never in none.
func (wr *Writer) SetLocal(ctx context.Context, id transcript.ID, local bool) (changed bool, err error) {
	wr.w.makeStores()
	err = wr.change(ctx, id, func(c *writing, copies []place) error {
		if err := c.lockStage(ctx); err != nil {
			return err
		}
		first, last := copies[0], copies[len(copies)-1]
		if changed = local != (first.store == userStore); !changed {
			return nil
		}
		all, from, err := c.files(copies)
		switch {
		case err != nil:
			return err
		case !local:
			return c.newDirectory(projectStore, partition(first.archived), path.Base(from.dir), all)
		case c.w.user == "":
			return ErrNoUserStore
		}
		if err := c.onlyOurFiles(first); err != nil {
			return err
		}
		if last.store == userStore {
			err = c.write(in(last, all)...)
		} else {
			err = c.newDirectory(userStore, partition(first.archived), path.Base(from.dir), all)
		}
		if err != nil {
			return err
		}
		return c.discard(first)
	})
	return changed, err
}

// files returns the files of a conversation that count, and where its stream is from.
func (c *writing) files(copies []place) ([]file, place, error) {
	e, err := c.edited(copies, func(metadata, transcript.Conversation) error { return nil })
	if err != nil {
		return nil, place{}, err
	}
	s, err := c.stream(copies)
	return append(s.files(), file{name: MetadataFile, data: e.data}), s.from, err
}

// onlyOurFiles reports an error where something would be lost with the directory of a conversation in the project, or
// another directory there would be it then.
func (c *writing) onlyOurFiles(p place) error {
	for _, other := range c.all {
		if other.store == p.store && other.dir != p.dir {
			return about(p.number.id(), fmt.Errorf("it is also in %s; remove one of the two", c.path(p.store, other.dir)))
		}
	}
	entries, err := c.readDir(p.store, p.dir)
	if err != nil {
		return c.failed(p.store, err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if !slices.Contains(files(), name) && !strings.HasSuffix(name, ".tmp") {
			return about(p.number.id(), fmt.Errorf("%s in %s would be lost; move it away first", text.Quote(name), c.path(p.store, p.dir)))
		}
	}
	return nil
}
