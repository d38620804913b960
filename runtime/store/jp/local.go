package jp

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/transcript"
)

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
		switch is = decide(was); {
		case was == is:
			return nil
		case is:
			return c.makeLocal(p, copies)
		}
		return c.duplicate(p, projectStore)
	})
	return was, is, err
}

// duplicate makes a copy of a conversation in a store that has none.
func (c *writing) duplicate(p place, to int) error {
	files, from, err := c.files(p)
	if err != nil {
		return err
	}
	there, err := c.openStore(to)
	if err == nil && !there {
		err = &NoUserStoreError{Root: c.w.root}
	}
	if err != nil {
		return err
	}
	return c.newDirectory(to, partition(p.archived), path.Base(p.dirs[from]), files)
}

// files returns the files of a conversation, from the copies that count, and the store that the events are from.
func (c *writing) files(p place) ([]newFile, int, error) {
	metadata, _, err := c.metadata(&p)
	if err != nil {
		return nil, 0, err
	}
	s, err := c.stream(p)
	return append(s.files(), newFile{metadataFile, metadata}), s.store, err
}

// NoUserStoreError is the error for what needs the user's store of a workspace
// that has none: JP makes it when it is run there.
type NoUserStoreError struct{ Root string }

func (e *NoUserStoreError) Error() string { return "there is no user store for " + e.Root }

// makeLocal removes the copy of a conversation in the project, once that in the
// user's store has all of it.
func (c *writing) makeLocal(p place, copies []found) error {
	if err := c.onlyOurFiles(p, copies); err != nil {
		return err
	}
	if p.dirs[userStore] == "" {
		if err := c.duplicate(p, userStore); err != nil {
			return err
		}
	} else {
		files, _, err := c.files(p)
		if err != nil {
			return err
		}
		var list []replacement
		for _, f := range files {
			list = append(list, replacement{userStore, p.dirs[userStore], f.name, f.data})
		}
		if err := c.replace(list...); err != nil {
			return err
		}
	}
	return c.discard(found{p.number, p.archived, projectStore, p.dirs[projectStore]})
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
		if !slices.Contains([]string{metadataFile, eventsFile, baseConfigFile}, name) && !strings.HasSuffix(name, ".tmp") {
			return &ConversationError{p.number.id(), fmt.Errorf("%s in %s would be lost; move it away first", text.Quote(name), c.path(projectStore, dir))}
		}
	}
	return nil
}
