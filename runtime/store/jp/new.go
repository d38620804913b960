package jp

import (
	"context"
	"errors"
	"maps"
	"os"
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
	m := metadata{}
	m.setTime("last_activated_at", n.Begun)
	change := Change{Parent: &n.Parent, Labels: map[string]*string{n.Label: &n.Value}, Hidden: &n.Hidden, Title: &n.Title}
	if err := change.apply(m, transcript.Conversation{}, n.Begun); err != nil {
		return "", false, err
	}
	wr.w.makeStores()
	c, err := wr.begin(ctx)
	if err != nil {
		return "", false, err
	}
	defer c.end()
	if err := c.lockStage(ctx); err != nil {
		return "", false, err
	}
	if id := c.labelled(ctx, c.all, numberAt(n.Begun), n.Label, n.Value); id != "" {
		return id, false, nil
	}
	id, err = c.newConversation(ctx, n.Begun, []int{projectStore, userStore}, n.Title, []file{
		{name: BaseConfigFile, data: wr.w.baseConfig(n.Model)}, {name: EventsFile, data: appended([]byte("[]"), events)}, {name: MetadataFile, data: m.bytes()},
	})
	return id, err == nil, err
}

// Labelled returns the conversation that [Writer.Create] takes for the one with a label that began at a time, or "" where it
// would make one.
func (w *Workspace) Labelled(ctx context.Context, begun time.Time, label, value string) (transcript.ID, error) {
	s, _, err := w.open()
	if err != nil {
		return "", err
	}
	defer s.Close()
	all, _, err := s.readDirs(ctx, partitions(everywhere)...)
	return s.labelled(ctx, all, numberAt(begun), label, value), err
}

// labelled returns the conversation with a label among those which began at about a time, or "".
func (s *session) labelled(ctx context.Context, all []place, at number, label, value string) transcript.ID {
	// most is how many numbers before that of the time at which it began a conversation may have: so many begin at one
	// time. One that a former version made may have one after it.
	const most = 1 << 10
	near, _ := s.group(slices.DeleteFunc(slices.Clone(all), func(p place) bool { return p.number < at-most || p.number > at+most }))
	for _, copies := range near {
		c := s.look(ctx, copies)
		if unusable(c.Problems) == nil && c.Labels[label] == value { // what is damaged was not made here
			return c.ID
		}
	}
	return ""
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
func (wr *Writer) Fork(ctx context.Context, id transcript.ID, o ForkOptions) (made transcript.ID, err error) {
	wr.w.makeStores()
	c, err := wr.begin(ctx)
	if err != nil {
		return "", err
	}
	defer c.end()
	source, _ := c.group(of(id, c.all))
	if len(source) == 0 {
		return "", c.notFound(id)
	}
	err = c.follow(ctx, source[0], func(copies []place) error {
		s, err := c.stream(copies)
		if err != nil {
			return err
		}
		e, err := c.edited(copies, func(m metadata, was transcript.Conversation) error { return o.apply(m, was, wr.now()) })
		if err != nil {
			return err
		}
		s.events = o.Turns.of(s.events)
		if err := c.lockStage(ctx); err != nil {
			return err
		}
		stores := []int{projectStore, userStore}
		if copies[0].store == userStore {
			stores = stores[1:]
		}
		made, err = c.newConversation(ctx, wr.now(), stores, e.After.Title, append(s.files(), file{name: MetadataFile, data: e.data}))
		return err
	})
	return made, err
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

// makeStores makes the directories of conversations of the stores that have none. Where that
// fails, whoever writes there is told.
func (w *Workspace) makeStores() {
	make := func(root *os.Root, err error) {
		if err == nil {
			_ = root.Mkdir(conversationsDir, newDirMode)
			root.Close()
		}
	}
	make(config.OpenDir(w.root, storageDir, w.getenv))
	if w.user != "" {
		make(safefile.OpenDir(w.user))
	}
}

// stageDir is the name of the directory of a conversation in the making, or in
// the going.
const stageDir = ".convtools-new"

// lockStage takes the lock of who makes or removes a directory, and removes what a process left that was killed while it
// had that.
func (c *writing) lockStage(ctx context.Context) error {
	const patience = 5 * time.Second // others have it as long as it takes to copy a conversation
	err := c.lock(ctx, newLock, max(c.wr.wait, patience))
	for i := range c.stores {
		if err == nil {
			err = c.sweep(i, ".")
		}
	}
	return err
}

// freeNumber returns the last number up to that of a time that no conversation has in any store, archive or trash, and
// that JP cannot take, and takes its lock.
func (c *writing) freeNumber(ctx context.Context, at time.Time) (number, error) {
	removed, err := c.trash(ctx)
	if err != nil {
		return 0, err
	}
	for n := min(numberAt(at), numberAt(c.wr.now())-aheadOfJP); ; n-- {
		err := c.lock(ctx, lockName(n), 0)
		var busy *LockedError
		if errors.As(err, &busy) {
			continue
		}
		if err != nil {
			return 0, err
		}
		all, err := c.placesIn(ctx, partitions(everywhere)...)
		if err != nil || len(of(n.id(), append(all, removed...))) == 0 {
			return n, err
		}
	}
}

// aheadOfJP is how many numbers before that of the moment JP does not take any more. It takes the number of the moment,
// whether a conversation has it or not, and locks it only then.
const aheadOfJP = 2

// newConversation makes a conversation that began at a time, in some stores, as far as they are
// there. Where it ends in between, the conversation is in the first one alone.
func (c *writing) newConversation(ctx context.Context, begun time.Time, stores []int, title string, files []file) (transcript.ID, error) {
	n, err := c.freeNumber(ctx, begun)
	for _, i := range stores {
		if err == nil && (i == projectStore || c.w.user != "") {
			err = c.newDirectory(i, partition(false), dirName(n, title), files)
		}
	}
	if err != nil {
		return "", err
	}
	return n.id(), nil
}

// newDirectory makes the directory of a conversation in a store, complete or not
// at all: JP throws away one that lacks a file.
func (c *writing) newDirectory(i int, parent, name string, files []file) error {
	err := c.makeDirs(i, stageDir)
	if err == nil {
		err = c.write(in(place{store: i, dir: stageDir}, files)...)
	}
	if err == nil {
		err = c.moveInto(i, stageDir, parent, name)
	}
	if err != nil {
		_ = c.removeAll(i, stageDir) // what is left is removed by the next who has the lock
	}
	return err
}

// in returns files in a place.
func in(p place, files []file) []file {
	files = slices.Clone(files)
	for i := range files {
		files[i].place = p
	}
	return files
}

// discard removes the directory of a conversation, which nobody sees in part.
func (c *writing) discard(p place) error {
	if err := c.move(p.store, p.dir, stageDir); err != nil {
		return err
	}
	c.tidy(p)
	return c.removeAll(p.store, stageDir)
}
