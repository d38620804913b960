package jp

import (
	"context"
	"crypto/sha256"
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
	c, err := wr.begin(ctx, id)
	if err != nil {
		return false, false, err
	}
	defer c.end()
	p, err := c.find(ctx, id)
	if err != nil {
		return false, false, err
	}
	was = p.dirs[projectStore] == ""
	is = decide(was)
	switch {
	case was == is:
		return was, is, nil
	case is:
		return was, is, c.makeLocal(ctx, p)
	}
	return was, is, c.duplicate(ctx, p, projectStore)
}

// duplicate makes a copy of a conversation in a store that has none.
func (c *writing) duplicate(ctx context.Context, p place, to int) error {
	metadata, _, err := c.metadata(&p)
	if err != nil {
		return err
	}
	from, names, err := c.stream(ctx, &p)
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
	files := []newFile{fileOf(metadataFile, metadata)}
	for _, name := range names {
		files = append(files, c.copyOf(from, p.dirs[from], name))
	}
	parent := "."
	if p.archived {
		parent = archiveDir
	}
	return c.newDirectory(to, p.number, parent, path.Base(p.dirs[from]), files)
}

// NoUserStoreError is the error for what needs the user's store of a workspace
// that has none: JP makes it when it is run there.
type NoUserStoreError struct{ Root string }

func (e *NoUserStoreError) Error() string { return "there is no user store for " + e.Root }

// makeLocal removes the copy of a conversation in the project, once that in the
// user's store has all of it.
func (c *writing) makeLocal(ctx context.Context, p place) error {
	if p.dirs[userStore] == "" {
		if err := c.duplicate(ctx, p, userStore); err != nil {
			return err
		}
	}
	all, err := c.copies(ctx, p.number)
	if err != nil {
		return err
	}
	p = c.place(slices.DeleteFunc(slices.Clone(all), func(f found) bool { return f.archived != p.archived }))
	if err := c.bringUpToDate(ctx, p); err != nil {
		return err
	}
	if err := c.keepOthers(p); err != nil {
		return err
	}
	at := c.wr.now().UTC().Format(trashLayout)
	for _, f := range all {
		if f.store == projectStore && f.dir != p.dirs[projectStore] { // another one of its id, which is not looked into
			if _, err := c.trash(f, at); err != nil {
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
func (c *writing) bringUpToDate(ctx context.Context, p place) error {
	metadata, _, err := c.metadata(&p)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(c.metadataOf(p, metadata), func(r *replacement) bool { return r.store != userStore })
	from, names, err := c.stream(ctx, &p)
	if err != nil {
		return err
	}
	if from == userStore {
		names = nil
	}
	slices.Reverse(names) // the events first: with them the copy is the newer one
	for _, name := range names {
		list = append(list, &replacement{store: userStore, dir: p.dirs[userStore], name: name, replacedBy: c.copyOf(from, p.dirs[from], name).write})
	}
	if err := c.stage(list); err != nil {
		return err
	}
	return c.commit(list)
}

// keepOthers copies what people put beside the files of a conversation in the
// project. What it has to leave behind is an error.
func (c *writing) keepOthers(p place) error {
	from, to := p.dirs[projectStore], p.dirs[userStore]
	entries, err := c.w.readDir(c.roots[projectStore], c.dirs[projectStore], from)
	if err != nil {
		return c.failed(projectStore, err)
	}
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case slices.Contains([]string{metadataFile, eventsFile, baseConfigFile}, name), strings.HasPrefix(name, stagePrefix), strings.HasSuffix(name, ".tmp"):
			continue
		case !entry.Type().IsRegular():
			return &ConversationError{p.number.id(), fmt.Errorf("%s in %s is no file, and would be lost", text.Quote(name), c.path(projectStore, from))}
		case c.exists(userStore, path.Join(to, name)):
			if c.sameFile(path.Join(from, name), path.Join(to, name)) {
				continue
			}
			return &ConversationError{p.number.id(), fmt.Errorf("%s is in both stores; remove the one in %s", text.Quote(name), c.path(projectStore, from))}
		}
		list := []*replacement{{store: userStore, dir: to, name: name, replacedBy: c.copyOf(projectStore, from, name).write}}
		if err := c.stage(list); err != nil {
			return err
		}
		if err := c.commit(list); err != nil {
			return err
		}
	}
	return nil
}

// sameFile reports whether a file of the project holds the same as one of the
// user's store.
func (c *writing) sameFile(project, user string) bool {
	a, err := c.sum(projectStore, project)
	b, otherErr := c.sum(userStore, user)
	return err == nil && otherErr == nil && a == b
}

// sum returns a checksum of a file.
func (c *writing) sum(i int, name string) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	if err := c.copyOf(i, path.Dir(name), path.Base(name)).write(h); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
