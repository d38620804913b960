package jp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
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
		p := c.place(copies)
		was = p.dirs[projectStore] == ""
		is = decide(was)
		switch {
		case was == is:
			return nil
		case is:
			return c.makeLocal(ctx, p)
		}
		return c.duplicate(p, projectStore)
	})
	return was, is, err
}

// duplicate makes a copy of a conversation in a store that has none.
func (c *writing) duplicate(p place, to int) error {
	metadata, _, err := c.metadata(&p)
	if err != nil {
		return err
	}
	s, err := c.stream(p)
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
	return c.newDirectory(to, p.number, partition(p.archived), path.Base(p.dirs[s.store]), append(s.files(), newFile{metadataFile, metadata}))
}

// NoUserStoreError is the error for what needs the user's store of a workspace
// that has none: JP makes it when it is run there.
type NoUserStoreError struct{ Root string }

func (e *NoUserStoreError) Error() string { return "there is no user store for " + e.Root }

// makeLocal removes the copy of a conversation in the project, once that in the
// user's store has all of it.
func (c *writing) makeLocal(ctx context.Context, p place) error {
	if p.dirs[userStore] == "" {
		if err := c.duplicate(p, userStore); err != nil {
			return err
		}
	}
	all, err := c.copies(ctx, p.number)
	if err != nil {
		return err
	}
	p = c.place(slices.DeleteFunc(slices.Clone(all), func(f found) bool { return f.archived != p.archived }))
	if err := c.bringUpToDate(p); err != nil {
		return err
	}
	if err := c.keepOthers(p); err != nil {
		return err
	}
	for _, f := range all {
		if f.store == projectStore && f.dir != p.dirs[projectStore] { // another one of its id, which is not looked into
			if _, err := c.trash(f, c.wr.now().UTC()); err != nil {
				return err
			}
		}
	}
	if err := c.settle(); err != nil {
		return err
	}
	return c.discard(projectStore, p.number, p.dirs[projectStore])
}

// bringUpToDate gives the user's copy what is newer in the project's.
func (c *writing) bringUpToDate(p place) error {
	metadata, _, err := c.metadata(&p)
	if err != nil {
		return err
	}
	s, err := c.stream(p)
	if err != nil {
		return err
	}
	dir := p.dirs[userStore]
	list := []replacement{{userStore, dir, metadataFile, metadata}}
	for _, f := range slices.Backward(s.files()) { // the events first: with them the copy is the newer one
		list = append(list, replacement{userStore, dir, f.name, f.data})
	}
	return c.replace(list...)
}

// keepOthers copies what people put beside the files of a conversation in the
// project. What it has to leave behind is an error.
func (c *writing) keepOthers(p place) error {
	from, to := p.dirs[projectStore], p.dirs[userStore]
	entries, err := c.w.readDir(c.roots[projectStore], from)
	if err != nil {
		return c.failed(projectStore, err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if slices.Contains([]string{metadataFile, eventsFile, baseConfigFile}, name) || strings.HasPrefix(name, stagePrefix) || strings.HasSuffix(name, ".tmp") {
			continue
		}
		if !entry.Type().IsRegular() {
			return &ConversationError{p.number.id(), fmt.Errorf("%s in %s is no file, and would be lost", text.Quote(name), c.path(projectStore, from))}
		}
		data, err := c.read(projectStore, path.Join(from, name), c.w.maxEvents)
		if err != nil {
			return c.failed(projectStore, err)
		}
		if there, err := c.read(userStore, path.Join(to, name), c.w.maxEvents); !errors.Is(err, fs.ErrNotExist) && (err != nil || !bytes.Equal(there, data)) {
			return &ConversationError{p.number.id(), fmt.Errorf("%s is in both stores; remove the one in %s", text.Quote(name), c.path(projectStore, from))}
		}
		if err := c.replace(replacement{userStore, to, name, data}); err != nil {
			return err
		}
	}
	return nil
}
