package jp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// ForkOptions are how a fork differs from the conversation it is made of.
type ForkOptions struct {
	Title  *string // nil keeps the title
	Hidden bool    // a fork is not hidden because its source is
	Labels map[string]*string
	// ResetLabels leaves the labels of the source away.
	ResetLabels bool
}

// Fork makes a live conversation of all that was said in another one, and returns
// its id. It has the title, the labels and the pin of its source, which becomes
// its parent, does not expire, and is in the stores that the source is in; one
// that is only in the project is made for the user's store too. The source is not
// locked: its events are replaced as a whole by whoever adds to them.
func (wr *Writer) Fork(ctx context.Context, id transcript.ID, o ForkOptions) (_ transcript.ID, err error) {
	c, err := wr.begin(ctx)
	if err != nil {
		return "", err
	}
	defer c.end()
	n, ok := numberOf(id)
	if !ok {
		return "", &store.NotFoundError{IDs: []transcript.ID{id}, Place: wr.w.root}
	}
	all, err := c.copies(ctx, n)
	if err != nil {
		return "", err
	}
	places, _ := c.pair(all)
	source := places[0]
	metadata, before, err := c.metadata(&source)
	if err != nil {
		return "", err
	}
	if metadata, err = c.forked(metadata, before, o); err != nil {
		return "", err
	}
	after, err := c.parsed(&place{number: n}, metadata)
	if err != nil {
		return "", err
	}
	files, closeFiles, err := c.openStream(ctx, source)
	if err != nil {
		return "", err
	}
	defer closeFiles()
	files = append(files, fileOf(metadataFile, metadata))
	fork, err := c.newNumber(ctx)
	if err != nil {
		return "", err
	}
	var made []int
	defer func() {
		if err != nil { // in all stores, or in none
			for _, i := range made {
				_ = c.discard(i, fork, dirName(fork, after.Title)) // what is left is a fork in one store
			}
		}
	}()
	for _, i := range []int{userStore, projectStore} {
		if i == projectStore && source.dirs[projectStore] == "" {
			continue
		}
		if there, err := c.openStore(i); err != nil {
			return "", err
		} else if !there {
			continue
		}
		if err := c.newDirectory(i, fork, ".", dirName(fork, after.Title), files); err != nil {
			return "", err
		}
		made = append(made, i)
	}
	return fork.id(), nil
}

// openStream opens the files of a stream, so that what is copied of it is one
// version. Where the directory is renamed meanwhile it is looked for again.
func (c *writing) openStream(ctx context.Context, p place) (files []newFile, closeFiles func(), err error) {
	for round := 0; ; round++ {
		files, closeFiles, err := c.tryOpenStream(ctx, p)
		if !errors.Is(err, fs.ErrNotExist) || round == maxRelists {
			return files, closeFiles, err
		}
		all, err := c.copies(ctx, p.number)
		if err != nil {
			return nil, nil, err
		}
		places, _ := c.pair(all)
		p = places[0]
	}
}

func (c *writing) tryOpenStream(ctx context.Context, p place) ([]newFile, func(), error) {
	from, names, err := c.stream(ctx, &p)
	if err != nil {
		return nil, nil, err
	}
	var files []newFile
	var opened []*file
	closeAll := func() {
		for _, f := range opened {
			f.Close()
		}
	}
	for _, name := range names {
		f, err := openRegular(c.roots[from], c.dirs[from], path.Join(p.dirs[from], name))
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		opened = append(opened, f)
		files = append(files, newFile{name, func(w io.Writer) error {
			_, err := io.Copy(w, io.NewSectionReader(f, 0, f.size))
			return err
		}})
	}
	return files, closeAll, nil
}

// forked returns the metadata of a fork.
func (c *writing) forked(data []byte, source transcript.Conversation, o ForkOptions) ([]byte, error) {
	object, err := parseObject(data, 0)
	if err != nil {
		return nil, &ConversationError{source.ID, fmt.Errorf("%s: %w", metadataFile, err)}
	}
	object.set("archived_at", nil)
	object.set("expires_at", nil)
	if o.ResetLabels {
		object.set("labels", nil)
	}
	return c.changed(object.bytes(), source, Change{Title: o.Title, Hidden: &o.Hidden, Parent: &source.ID, Labels: o.Labels})
}

// newNumber returns the number of a new conversation, and takes its lock and the
// one under which numbers are chosen: the next tenth of a second that has none in
// any store, archive or trash. JP takes no such lock, and so the lock of the
// conversation itself decides between it and this process.
func (c *writing) newNumber(ctx context.Context) (number, error) {
	release, err := c.locks.acquire(ctx, newLock, max(c.wr.wait, maxNewWait))
	if err != nil {
		return 0, err
	}
	c.release = append(c.release, release)
	if err := c.sweep(); err != nil {
		return 0, err
	}
	removed, err := c.readTrash()
	if err != nil {
		return 0, err
	}
	for n := number(c.wr.now().UnixMilli() / 100); ; n++ {
		if slices.ContainsFunc(removed, of(n)) {
			continue
		}
		release, busy, err := c.locks.try(lockName(n))
		if err != nil {
			return 0, err
		}
		if busy != nil {
			continue
		}
		all, problems, err := c.readDirs(ctx, store.Live|store.Archived)
		for _, p := range problems {
			if p.ID == "" {
				err = &StoreError{Path: p.Path, Err: p.Err}
			}
		}
		if err != nil {
			release()
			return 0, err
		}
		if !slices.ContainsFunc(all, func(f found) bool { return f.number == n }) {
			c.release = append(c.release, release)
			return n, nil
		}
		release()
	}
}

// maxNewWait is how long the choice of a number is waited for: it takes others as
// long as it takes to copy a conversation.
const maxNewWait = 5 * time.Second

// sweep removes what processes left that were killed while they made a directory.
func (c *writing) sweep() error {
	for i, root := range c.roots {
		if root == nil {
			continue
		}
		entries, err := c.w.readDir(root, c.dirs[i], ".")
		if err != nil {
			return c.failed(i, err)
		}
		for _, entry := range entries {
			digits, ok := strings.CutPrefix(entry.Name(), stagePrefix)
			n, err := strconv.ParseInt(digits, 10, 64)
			if !ok || err != nil {
				continue
			}
			release, _, err := c.locks.try(lockName(number(n)))
			if err != nil {
				return err
			}
			if release == nil {
				continue // somebody is at it
			}
			err = c.wr.disk.removeAll(root, entry.Name())
			release()
			if err != nil {
				return c.failed(i, err)
			}
		}
	}
	return nil
}

// SetLocal says whether a conversation is only in the user's own store, or in the
// project too, as decide says for how it is at the moment. It returns whether it
// is, and was. Its files are in both stores for a moment, and never in none.
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
	return was, is, c.project(ctx, p)
}

// project makes a copy of a conversation in the project.
func (c *writing) project(ctx context.Context, p place) error {
	return c.duplicate(ctx, p, projectStore)
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
	places, _ := c.pair(slices.DeleteFunc(slices.Clone(all), func(f found) bool { return f.archived != p.archived }))
	p = places[0]
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
	return c.discard(projectStore, p.number, p.dirs[projectStore])
}

// bringUpToDate gives the user's copy what is newer in the project's.
func (c *writing) bringUpToDate(ctx context.Context, p place) error {
	metadata, _, err := c.metadata(&p)
	if err != nil {
		return err
	}
	if err := c.writeMetadata(p, metadata); err != nil {
		return err
	}
	from, names, err := c.stream(ctx, &p)
	if err != nil || from == userStore {
		return err
	}
	var list []*replacement
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
	names := [numStores]string{projectStore: project, userStore: user}
	var readers [numStores]*bufio.Reader
	var sizes [numStores]int64
	for i, name := range names {
		f, err := openRegular(c.roots[i], c.dirs[i], name)
		if err != nil {
			return false
		}
		defer f.Close()
		readers[i], sizes[i] = bufio.NewReader(io.NewSectionReader(f, 0, f.size)), f.size
	}
	if sizes[projectStore] != sizes[userStore] {
		return false
	}
	for {
		a, errA := readers[projectStore].ReadByte()
		b, errB := readers[userStore].ReadByte()
		if errA != nil || errB != nil {
			return errA == io.EOF && errB == io.EOF
		}
		if a != b {
			return false
		}
	}
}
