package jp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

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
	Turns       Cut
}

// Fork makes a live conversation of what was said in another one, and returns its
// id. It has the title, the labels and the pin of its source, which becomes its
// parent, was activated when it was made, does not expire, and is in the stores
// that the source is in; one that is only in the project is made for the user's
// store too. The source is not
// locked: its events are replaced as a whole by whoever adds to them. It waits until a
// number is free that JP does not take, up to a tenth of a second.
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
	source := c.place(all)
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
	files, closeFiles, err := c.openStream(ctx, source, o.Turns)
	if err != nil {
		return "", err
	}
	defer closeFiles()
	files = append(files, fileOf(metadataFile, metadata))
	fork, err := c.newNumber(ctx)
	if err != nil {
		return "", err
	}
	stores := []int{userStore}
	if source.dirs[projectStore] != "" {
		stores = append(stores, projectStore)
	}
	if err := c.newConversation(fork, stores, dirName(fork, after.Title), files); err != nil {
		return "", err
	}
	return fork.id(), nil
}

// newConversation makes the directory of a conversation in those of some stores that are there, or in none.
func (c *writing) newConversation(n number, stores []int, name string, files []newFile) (err error) {
	var made []int
	defer func() {
		if err != nil {
			for _, i := range made {
				_ = c.discard(i, n, name) // what is left is a conversation in one store
			}
		}
	}()
	for _, i := range stores {
		if there, err := c.openStore(i); err != nil {
			return err
		} else if !there {
			continue
		}
		if err := c.newDirectory(i, n, ".", name, files); err != nil {
			return err
		}
		made = append(made, i)
	}
	return nil
}

// openStream opens the files of a stream, so that what is copied of it is one
// version, and cuts it. Where the directory is renamed meanwhile it is looked for
// again.
func (c *writing) openStream(ctx context.Context, p place, cut Cut) (files []newFile, closeFiles func(), err error) {
	for round := 0; ; round++ {
		files, closeFiles, err := c.tryOpenStream(ctx, p, cut)
		if !errors.Is(err, fs.ErrNotExist) || round == maxRelists {
			return files, closeFiles, err
		}
		all, err := c.copies(ctx, p.number)
		if err != nil {
			return nil, nil, err
		}
		p = c.place(all)
	}
}

func (c *writing) tryOpenStream(ctx context.Context, p place, cut Cut) ([]newFile, func(), error) {
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
		if name == eventsFile && !cut.all() {
			if err := c.cutStream(ctx, p, files, f, cut); err != nil {
				closeAll()
				return nil, nil, err
			}
		}
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
	object.setTime("last_activated_at", c.wr.now())
	if o.ResetLabels {
		object.set("labels", nil)
	}
	labels := map[string]*string{LabelSession: nil}
	maps.Copy(labels, o.Labels)
	return c.changed(object.bytes(), source, Change{Title: o.Title, Hidden: &o.Hidden, Parent: &source.ID, Labels: labels})
}

// newNumber returns the number of a new conversation, and takes its lock and the one under which numbers are chosen: the last
// tenth of a second that JP does not take any more and that has none in any store, archive or trash. JP takes no such lock,
// and so the lock of the conversation itself decides between it and this process.
func (c *writing) newNumber(ctx context.Context) (number, error) {
	n := numberAt(c.wr.now()) - 1
	if err := c.past(ctx, n); err != nil {
		return 0, err
	}
	if err := c.lockNew(ctx); err != nil {
		return 0, err
	}
	if err := c.sweep(); err != nil {
		return 0, err
	}
	return c.freeNumber(ctx, n)
}

// past waits until JP cannot take a number any more. JP takes that of the moment, whether a conversation has it or not, and
// locks it only then; the next tenth of a second is left to it for that.
func (c *writing) past(ctx context.Context, n number) error {
	now := c.wr.now()
	wait := time.UnixMilli(int64(n+2) * 100).Sub(now)
	if wait > maxNewWait {
		return &AheadError{At: n.created(), Now: now}
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(wait):
		return nil
	}
}

// AheadError is the error for a new conversation that would be ahead of the clock. JP would replace it.
type AheadError struct{ At, Now time.Time }

func (e *AheadError) Error() string {
	return fmt.Sprintf("the conversation begins at %s, and the clock says %s: JP would replace it when its time comes; set the clock, or wait",
		e.At.UTC().Format(time.RFC3339), e.Now.UTC().Format(time.RFC3339))
}

// lockNew takes the lock under which numbers are chosen.
func (c *writing) lockNew(ctx context.Context) error {
	release, err := c.locks.acquire(ctx, newLock, max(c.wr.wait, maxNewWait))
	if err != nil {
		return err
	}
	c.release = append(c.release, release)
	return nil
}

// freeNumber returns the last number up to one that no conversation has, and takes its lock.
func (c *writing) freeNumber(ctx context.Context, n number) (number, error) {
	removed, err := c.readTrash()
	if err != nil {
		return 0, err
	}
	for ; ; n-- {
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
		all, err := c.allDirs(ctx)
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

// everywhere is live and archived conversations.
const everywhere = store.Live | store.Archived

// maxNewWait is how long the choice of a number is waited for, and a number that is ahead of the clock: it takes others as
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
