package jp

import (
	"context"
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
	if err := c.lockStage(ctx); err != nil {
		return "", false, err
	}
	if id, err := c.labelled(ctx, numberAt(n.Begun), n.Label, n.Value); err != nil || id != "" {
		return id, false, err
	}
	files := []newFile{{baseConfigFile, wr.w.baseConfig(n.Model)}, {eventsFile, slices.Concat([]byte("["), events, []byte("\n]\n"))}, {metadataFile, metadata}}
	id, err = c.newConversation(ctx, n.Begun, []int{userStore, projectStore}, n.Title, files)
	return id, err == nil, err
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
// locked: its events are replaced as a whole by whoever adds to them.
func (wr *Writer) Fork(ctx context.Context, id transcript.ID, o ForkOptions) (transcript.ID, error) {
	c, err := wr.begin(ctx)
	if err != nil {
		return "", err
	}
	defer c.end()
	copies := of(id, c.all)
	if len(copies) == 0 {
		return "", c.notFound(id)
	}
	var source place
	var s stream
	err = c.follow(ctx, c.place(copies), func(p place) error {
		source = p
		s, err = c.stream(p)
		return err
	})
	if err != nil {
		return "", err
	}
	was, before, err := c.metadata(&source)
	if err != nil {
		return "", err
	}
	metadata, after, err := edited(&place{number: source.number}, was, func(m metadata) error { return o.apply(m, before, wr.now()) })
	if err != nil {
		return "", err
	}
	s.events = o.Turns.of(s.events)
	if err := c.lockStage(ctx); err != nil {
		return "", err
	}
	stores := []int{userStore}
	if source.dirs[projectStore] != "" {
		stores = append(stores, projectStore)
	}
	return c.newConversation(ctx, wr.now(), stores, after.Title, append(s.files(), newFile{metadataFile, metadata}))
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

// maxNewWait is how long the choice of a number is waited for: it takes others as long as it takes to copy a conversation.
const maxNewWait = 5 * time.Second

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

// aheadOfJP is how many numbers before that of the moment JP does not take any more. It takes the number of the moment,
// whether a conversation has it or not, and locks it only then.
const aheadOfJP = 2

// freeNumber returns the last number up to that of a time that no conversation has in any store, archive or trash, and
// that JP cannot take, and takes its lock.
func (c *writing) freeNumber(ctx context.Context, at time.Time) (number, error) {
	removed, err := c.readTrash(ctx)
	if err != nil {
		return 0, err
	}
	for n := min(numberAt(at), numberAt(c.wr.now())-aheadOfJP); ; n-- {
		release, busy, err := c.locks.try(lockName(n))
		if err != nil {
			return 0, err
		}
		if busy != nil {
			continue
		}
		c.release = append(c.release, release)
		all, err := c.allDirs(ctx)
		if err != nil || len(of(n.id(), append(all, removed...))) == 0 {
			return n, err
		}
	}
}

// newFile is a file of a directory in the making.
type newFile struct {
	name string
	data []byte
}

// newConversation makes a conversation that began at a time, in those of some stores that are there, or in none.
func (c *writing) newConversation(ctx context.Context, begun time.Time, stores []int, title string, files []newFile) (_ transcript.ID, err error) {
	n, err := c.freeNumber(ctx, begun)
	if err != nil {
		return "", err
	}
	name := dirName(n, title)
	var made []int
	for _, i := range stores {
		there, err := c.openStore(i)
		if err == nil && there {
			made = append(made, i)
			err = c.newDirectory(i, ".", name, files)
		}
		if err != nil {
			for _, i := range made {
				_ = c.discard(found{n, false, i, name}) // what is left is a conversation in one store
			}
			return "", err
		}
	}
	return n.id(), nil
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
