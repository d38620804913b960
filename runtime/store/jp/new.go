package jp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/transcript"
)

// New is a conversation that is to be made.
type New struct {
	// Begun is when it began. Its id is of that time, or of one shortly before.
	Begun  time.Time
	Title  string
	Hidden bool
	Parent transcript.ID // empty for none
	// Label and Value are a label that no other conversation of the workspace has with this value.
	Label, Value string
	Events       []NewEvent
	Model        Model // that was asked
}

// Create makes a live conversation, in the project and in the user's store where that is there, and returns its id. Where
// one with the label is there already, live or archived, it makes none and returns the id of that, and false.
func (wr *Writer) Create(ctx context.Context, n New) (id transcript.ID, made bool, err error) {
	events, err := layEvents(n.Events)
	if err != nil {
		return "", false, err
	}
	metadata, err := n.metadata()
	if err != nil {
		return "", false, err
	}
	c, err := wr.begin(ctx)
	if err != nil {
		return "", false, err
	}
	defer c.end()
	last := numberAt(n.Begun)
	if err := c.lockNew(ctx, last); err != nil {
		return "", false, err
	}
	if id, err := c.labelled(ctx, last, n.Label, n.Value); err != nil || id != "" {
		return id, false, err
	}
	free, err := c.freeNumber(ctx, last)
	if err != nil {
		return "", false, err
	}
	files := []newFile{{baseConfigFile, wr.w.baseConfig(n.Model)}, {eventsFile, slices.Concat([]byte("["), events, []byte("\n]\n"))}, {metadataFile, metadata}}
	if err := c.newConversation(free, []int{userStore, projectStore}, n.Title, files); err != nil {
		return "", false, err
	}
	return free.id(), true, nil
}

func (n *New) metadata() ([]byte, error) {
	m := metadata{}
	m.setTime("last_activated_at", n.Begun)
	change := Change{Parent: &n.Parent, Labels: map[string]*string{n.Label: &n.Value}, Hidden: &n.Hidden, Title: &n.Title}
	if err := change.apply(m, transcript.Conversation{}, n.Begun); err != nil {
		return nil, err
	}
	return m.bytes(), nil
}

// maxBegun is how many numbers before that of the time at which a conversation began it may have: so many begin at one time.
// One that a former version made may have one after it.
const maxBegun = 1 << 10

// labelled returns the conversation with a label among those which began at about a time, or "".
func (c *writing) labelled(ctx context.Context, at number, label, value string) (transcript.ID, error) {
	all, _, err := c.readDirs(ctx, partitions(everywhere)...)
	if err != nil {
		return "", err
	}
	near := slices.DeleteFunc(all, func(f found) bool { return f.number < at-maxBegun || f.number > at+maxBegun })
	places, _ := c.pair(near)
	for _, p := range places {
		_, loaded, err := c.metadata(&p)
		if err == nil && loaded.Labels[label] == value { // what is damaged was not made here
			return loaded.ID, nil
		}
	}
	return "", nil
}

// Labelled returns the conversation that [Writer.Create] takes for the one with a label that began at a time, or "" where it
// would make one.
func (w *Workspace) Labelled(ctx context.Context, begun time.Time, label, value string) (transcript.ID, error) {
	s, _, err := w.Open(ctx)
	if err != nil {
		return "", err
	}
	defer s.Close()
	c := writing{session: s}
	return c.labelled(ctx, numberAt(begun), label, value)
}

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
func (wr *Writer) Fork(ctx context.Context, id transcript.ID, o ForkOptions) (transcript.ID, error) {
	c, err := wr.begin(ctx)
	if err != nil {
		return "", err
	}
	defer c.end()
	n, ok := numberOf(id)
	if !ok {
		return "", c.notFound(id)
	}
	source, s, err := c.source(ctx, id)
	if err != nil {
		return "", err
	}
	was, before, err := c.metadata(&source)
	if err != nil {
		return "", err
	}
	metadata, after, err := edited(&place{number: n}, was, func(m metadata) error { return o.apply(m, before, wr.now()) })
	if err != nil {
		return "", err
	}
	s.events = o.Turns.of(s.events)
	last := numberAt(wr.now()) - 1
	if err := c.lockNew(ctx, last); err != nil {
		return "", err
	}
	fork, err := c.freeNumber(ctx, last)
	if err != nil {
		return "", err
	}
	stores := []int{userStore}
	if source.dirs[projectStore] != "" {
		stores = append(stores, projectStore)
	}
	if err := c.newConversation(fork, stores, after.Title, append(s.files(), newFile{metadataFile, metadata})); err != nil {
		return "", err
	}
	return fork.id(), nil
}

// source reads the stream of a conversation that is not locked. Where its directory is
// renamed meanwhile it is looked for again.
func (c *writing) source(ctx context.Context, id transcript.ID) (p place, s stream, err error) {
	for range maxRelists {
		copies, err := c.copies(ctx, id)
		if err != nil {
			return p, s, err
		}
		p = c.place(copies)
		if s, err = c.stream(p); !errors.Is(err, errVanished) {
			return p, s, err
		}
	}
	return p, s, err
}

func (o *ForkOptions) apply(m metadata, source transcript.Conversation, now time.Time) error {
	delete(m, "archived_at")
	delete(m, "expires_at")
	m.setTime("last_activated_at", now)
	if o.ResetLabels {
		delete(m, "labels")
	}
	labels := map[string]*string{LabelSession: nil}
	maps.Copy(labels, o.Labels)
	return Change{Title: o.Title, Hidden: &o.Hidden, Parent: &source.ID, Labels: labels}.apply(m, source, now)
}

// AheadError is the error for a new conversation that would be ahead of the clock. JP would replace it.
type AheadError struct{ At, Now time.Time }

func (e *AheadError) Error() string {
	return fmt.Sprintf("the conversation begins at %s, and the clock says %s: JP would replace it when its time comes; set the clock, or wait",
		e.At.UTC().Format(time.RFC3339), e.Now.UTC().Format(time.RFC3339))
}

// maxNewWait is how long the choice of a number is waited for, and a number that is ahead of the clock: it takes others as
// long as it takes to copy a conversation.
const maxNewWait = 5 * time.Second

// lockNew waits until JP cannot take a number any more, and takes the lock under which numbers are chosen. JP takes the
// number of the moment, whether a conversation has it or not, and locks it only then; the next tenth of a second is left to
// it for that. JP takes no lock under which it chooses, and so the lock of the conversation itself decides between it and
// this process.
func (c *writing) lockNew(ctx context.Context, n number) error {
	now := c.wr.now()
	wait := time.UnixMilli(int64(n+2) * 100).Sub(now)
	if wait > maxNewWait {
		return &AheadError{At: n.created(), Now: now}
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(wait):
	}
	return c.lockStage(ctx)
}

// stageDir is the name of the directory of a conversation in the making, or in
// the going.
const stageDir = stagePrefix + "new"

// lockStage takes the lock of who makes or removes a directory, and removes what a process left that was killed while it
// had that.
func (c *writing) lockStage(ctx context.Context) error {
	if err := c.lock(ctx, newLock, max(c.wr.wait, maxNewWait)); err != nil {
		return err
	}
	for i, root := range c.roots {
		if root == nil {
			continue
		}
		if err := c.removeAll(i, stageDir); err != nil {
			return err
		}
	}
	return nil
}

// freeNumber returns the last number up to one that no conversation has in any store, archive or trash, and takes its lock.
func (c *writing) freeNumber(ctx context.Context, n number) (number, error) {
	removed, err := c.readTrash(ctx)
	if err != nil {
		return 0, err
	}
	for ; ; n-- {
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
		if len(of(n.id(), all)) == 0 && len(of(n.id(), removed)) == 0 {
			c.release = append(c.release, release)
			return n, nil
		}
		release()
	}
}

// newFile is a file of a directory in the making.
type newFile struct {
	name string
	data []byte
}

// newConversation makes the directory of a conversation in those of some stores that are there, or in none.
func (c *writing) newConversation(n number, stores []int, title string, files []newFile) (err error) {
	name := dirName(n, title)
	var made []int
	defer func() {
		if err != nil {
			for _, i := range made {
				_ = c.discard(found{n, false, i, name}) // what is left is a conversation in one store
			}
		}
	}()
	for _, i := range stores {
		there, err := c.openStore(i)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		if err := c.newDirectory(i, ".", name, files); err != nil {
			return err
		}
		made = append(made, i)
	}
	return nil
}

// openStore opens a store that has no directory of conversations yet, and makes
// that. It reports false where there is no such store at all.
func (c *writing) openStore(i int) (bool, error) {
	if c.roots[i] != nil {
		return true, nil
	}
	if i == userStore && c.w.user == "" {
		return false, nil
	}
	var parent *os.Root
	var err error
	if i == userStore {
		parent, err = safefile.OpenDir(c.w.user)
	} else {
		parent, err = config.OpenDir(c.w.root, storageDir, c.w.getenv)
	}
	if err != nil {
		return false, c.failed(i, err)
	}
	defer parent.Close()
	if err := c.wr.disk.mkdir(parent, conversationsDir); err != nil {
		return false, c.failed(i, err)
	}
	if c.roots[i], err = safefile.OpenDirIn(parent, conversationsDir); err != nil {
		return false, c.failed(i, err)
	}
	return true, nil
}

// newDirectory makes the directory of a conversation in a store, complete or not
// at all: JP throws away one that lacks a file.
func (c *writing) newDirectory(i int, parent, name string, files []newFile) (err error) {
	defer func() {
		if err != nil {
			_ = c.removeAll(i, stageDir) // what is left is removed by the next who has the lock
		}
	}()
	if err := c.makeDirs(i, stageDir); err != nil {
		return err
	}
	for _, f := range files {
		if err := c.wr.disk.create(c.roots[i], path.Join(stageDir, f.name), f.data); err != nil {
			return c.failed(i, err)
		}
	}
	return c.moveInto(i, stageDir, parent, name)
}

// discard removes the directory of a conversation, which nobody sees in part.
func (c *writing) discard(f found) error {
	if err := c.move(f.store, f.dir, stageDir); err != nil {
		return err
	}
	c.tidy(f)
	return c.removeAll(f.store, stageDir)
}
