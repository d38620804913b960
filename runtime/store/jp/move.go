package jp

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store/internal/history"
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
	err = wr.change(ctx, id, func(c *writing, copies []found) error {
		moving := slices.DeleteFunc(copies, func(f found) bool { return f.archived == archived })
		c.newestLast(moving)
		if !archived {
			slices.Reverse(moving) // what is live counts: the first one to be it
		} else if len(moving) > 0 {
			if err := c.stampArchived(c.place(moving), wr.now()); err != nil {
				return err
			}
		}
		for _, f := range moving {
			if err := c.moveInto(f.store, f.dir, partition(archived), path.Base(f.dir)); err != nil {
				return err
			}
			moved = true
		}
		if archived {
			return nil
		}
		all, err := c.allDirs(ctx)
		if err != nil {
			return err
		}
		return c.stampArchived(c.place(of(id, all)), time.Time{})
	})
	return moved && err == nil, err
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
		return cmp.Or(history.CompareBool(b.archived, a.archived), c.newest(a.store, a.dir, files()).Compare(c.newest(b.store, b.dir, files())))
	})
}

// NoUserStoreError is the error for what needs the user's store of a workspace
// that has none: JP makes it when it is run there.
type NoUserStoreError struct{ Root string }

func (e *NoUserStoreError) Error() string { return "there is no user store for " + e.Root }

// SetLocal keeps a conversation in the user's own store alone, or in the project too, as
// decide wants, which is given how it is now. It returns whether it was and is in the
// user's store alone. Its files are in both stores for a moment, and never in none.
func (wr *Writer) SetLocal(ctx context.Context, id transcript.ID, decide func(local bool) bool) (was, is bool, err error) {
	err = wr.change(ctx, id, func(c *writing, copies []found) error {
		if err := c.lockStage(ctx); err != nil {
			return err
		}
		p := c.place(copies)
		was = p.dirs[projectStore] == ""
		if is = decide(was); was == is {
			return nil
		}
		metadata, _, err := c.metadata(&p)
		if err != nil {
			return err
		}
		s, err := c.stream(p)
		if err != nil {
			return err
		}
		all := append(s.files(), newFile{metadataFile, metadata})
		if !is {
			return c.duplicate(p, s.store, projectStore, all)
		}
		if err := c.onlyOurFiles(p, copies); err != nil {
			return err
		}
		if p.dirs[userStore] == "" {
			err = c.duplicate(p, s.store, userStore, all)
		} else {
			err = c.replace(copyOf(userStore, p.dirs[userStore], all)...)
		}
		if err != nil {
			return err
		}
		return c.discard(found{p.number, p.archived, projectStore, p.dirs[projectStore]})
	})
	return was, is, err
}

// copyOf are the replacements that give the copy in a directory some files.
func copyOf(i int, dir string, files []newFile) (list []replacement) {
	for _, f := range files {
		list = append(list, replacement{i, dir, f.name, f.data})
	}
	return list
}

// duplicate makes a copy of a conversation in a store that has none.
func (c *writing) duplicate(p place, from, to int, files []newFile) error {
	there, err := c.openStore(to)
	if err == nil && !there {
		err = &NoUserStoreError{Root: c.w.root}
	}
	if err != nil {
		return err
	}
	return c.newDirectory(to, partition(p.archived), path.Base(p.dirs[from]), files)
}

// onlyOurFiles reports an error where something would be lost with the directory of a conversation in the project, or
// another directory there would be it then.
func (c *writing) onlyOurFiles(p place, copies []found) error {
	dir := p.dirs[projectStore]
	for _, f := range copies {
		if f.store == projectStore && f.dir != dir {
			return &ConversationError{p.number.id(), fmt.Errorf("it is also in %s; remove one of the two", c.path(projectStore, f.dir))}
		}
	}
	entries, err := c.w.readDir(c.roots[projectStore], dir)
	if err != nil {
		return c.failed(projectStore, err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if !slices.Contains(files(), name) && !strings.HasSuffix(name, ".tmp") {
			return &ConversationError{p.number.id(), fmt.Errorf("%s in %s would be lost; move it away first", text.Quote(name), c.path(projectStore, dir))}
		}
	}
	return nil
}
