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
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// New is a conversation to make.
type New struct {
	Begun  time.Time // its id is of this time or shortly before
	Change           // of empty metadata
	Events []NewEvent
	Model  Model // the model that was asked
}

// Create makes a live conversation, in the project and in the user's store if that exists, and returns its id.
func (wr *Writer) Create(ctx context.Context, n New) (made transcript.ID, err error) {
	events, err := layEvents(n.Events)
	if err != nil {
		return "", err
	}
	m := metadata{}
	m.setTime("last_activated_at", n.Begun)
	if err := n.apply(m, transcript.Conversation{}, n.Begun); err != nil {
		return "", err
	}
	wr.w.makeStores()
	err = wr.transact(ctx, "", func(tx *transaction) (err error) { // newConversation takes the lock of the new id
		made, err = tx.newConversation(ctx, n.Begun, true, jsontext.String(jsontext.Raw(m["title"])), []file{
			{BaseConfigFile, wr.w.baseConfig(n.Model)}, {EventsFile, appended([]byte("[]"), events)}, {MetadataFile, m.bytes()},
		})
		return err
	})
	return made, err
}

// Labelled returns the id of the conversation that [Writer.Create] made for the time begun, and that has the label with
// the value. The conversation can be live or archived. If there is none, the id is "".
func (w *Workspace) Labelled(ctx context.Context, begun time.Time, label, value string) (transcript.ID, error) {
	// Create takes the number of the time or, if that is taken, a lower number. Former versions took a higher one.
	const most = 1 << 10 // how far the number of the conversation can be from the number of the time
	s, _, err := w.open()
	if err != nil {
		return "", err
	}
	defer s.Close()
	all, _, err := s.readDirs(ctx, liveDir, archiveDir)
	first := numberAt(begun)
	near, _ := s.group(slices.DeleteFunc(all, func(p place) bool { return p.number < first-most || p.number > first+most }))
	for _, copies := range near {
		c := s.readConversation(ctx, copies)
		if unusable(c.Problems) == nil && c.Labels[label] == value {
			return c.ID, nil
		}
	}
	return "", err // of reading the directories
}

// ForkOptions are the differences of a fork to its source. A fork is hidden only if Hidden says so.
type ForkOptions struct {
	Change
	ResetLabels bool // do not copy the labels
	Turns       Cut
}

// Fork makes a live conversation with events of the conversation with an id, its parent, and returns the id of the fork. The
// fork has the title, the labels and the pin of the parent, unless o changes them, and does not expire. It is in the user's
// store, and also in the project if the parent is. The parent is not locked: its files are always replaced as a whole.
func (wr *Writer) Fork(ctx context.Context, id transcript.ID, o ForkOptions) (made transcript.ID, err error) {
	wr.w.makeStores()
	err = wr.transact(ctx, "", func(tx *transaction) error { // "" locks no conversation; newConversation locks the new id
		parents, _ := tx.group(placesOf(id, tx.all))
		if len(parents) == 0 {
			return tx.notFound(id)
		}
		return tx.follow(ctx, parents[0], func(copies []place) error {
			s, err := tx.stream(copies)
			if err != nil {
				return err
			}
			e, err := tx.edited(copies, func(m metadata, parent transcript.Conversation) error { return o.apply(m, parent, wr.now()) })
			if err != nil {
				return err
			}
			s.events = o.Turns.chosenEvents(s.events)
			inProject := copies[0].store == projectStore // a copy in the project is first
			made, err = tx.newConversation(ctx, wr.now(), inProject, e.Title, append(s.files(), file{MetadataFile, e.data}))
			return err
		})
	})
	return made, err
}

// apply changes the metadata of the source to that of its fork.
func (o *ForkOptions) apply(m metadata, source transcript.Conversation, now time.Time) error {
	delete(m, "archived_at")
	delete(m, "expires_at")
	m.setTime("last_activated_at", now)
	if o.ResetLabels {
		delete(m, "labels")
	}
	change := o.Change
	change.Parent, change.Labels = &source.ID, map[string]*string{LabelSession: nil}
	maps.Copy(change.Labels, o.Labels)
	if change.Hidden == nil {
		change.Hidden = new(bool) // false: the fork of a hidden conversation is not hidden
	}
	return change.apply(m, source, now)
}

// makeStores makes the directories of conversations. If one cannot be made, writing into it returns the error.
func (w *Workspace) makeStores() {
	makeIn := func(root *os.Root, err error) {
		if err == nil {
			_ = root.Mkdir(conversationsDir, newDirMode)
			root.Close()
		}
	}
	makeIn(config.OpenDir(w.root, storageDir, w.getenv))
	if w.user != "" {
		makeIn(safefile.OpenDir(w.user))
	}
}

const stageDir = ".convtools-new" // the directory of a conversation while it is made or deleted

// lockStage takes the lock for stageDir. It removes a stageDir that is left from a process that was killed with the lock.
func (tx *transaction) lockStage(ctx context.Context) error {
	const patience = 5 * time.Second // enough to copy a conversation
	if err := tx.lock(ctx, newLock, max(tx.wr.wait, patience)); err != nil {
		return err
	}
	for i := range tx.stores {
		tx.sweep(i, ".") // removes stageDir, if it exists, from ".", the directory of conversations
	}
	return tx.err
}

// freeNumber returns a number for a conversation begun at a time, and takes the lock of the number. It tries the number of
// the time and then lower ones, until a number is not locked, and no conversation has it, not even one in the trash.
func (tx *transaction) freeNumber(ctx context.Context, begun time.Time) (number, error) {
	removed, err := tx.trash(ctx)
	if err != nil {
		return 0, err
	}
	for n := min(numberAt(begun), numberAt(tx.wr.now())-aheadOfJP); ; n-- { // JP may take the numbers of the last moment
		err := tx.lock(ctx, lockName(n), 0) // without waiting
		if _, isLocked := errors.AsType[*LockedError](err); isLocked {
			continue // another process may be making a conversation with the number
		}
		if err != nil {
			return 0, err
		}
		existing, err := tx.placesIn(ctx, liveDir, archiveDir)
		if err != nil || len(placesOf(n.id(), append(existing, removed...))) == 0 {
			return n, err
		}
	}
}

// aheadOfJP is how many numbers before the present one are left to JP. JP takes the present number, even if it is taken,
// and locks it only then.
const aheadOfJP = 2

// newConversation makes a conversation, in the project if it is to be there, and in the user's store if that exists. After a
// crash it may be in the project alone.
func (tx *transaction) newConversation(ctx context.Context, begun time.Time, inProject bool, title string, files []file) (transcript.ID, error) {
	if err := tx.lockStage(ctx); err != nil {
		return "", err
	}
	n, err := tx.freeNumber(ctx, begun)
	if err != nil {
		return "", err
	}
	if inProject {
		tx.newDirectory(projectStore, liveDir, dirName(n, title), files)
	}
	if tx.w.user != "" {
		tx.newDirectory(userStore, liveDir, dirName(n, title), files)
	}
	if tx.err != nil {
		return "", tx.err
	}
	return n.id(), nil
}

// newDirectory makes the directory of a conversation with all files in it: JP moves one that lacks a file to the trash.
func (tx *transaction) newDirectory(i int, parent, name string, files []file) {
	tx.makeDirs(i, stageDir)
	tx.write([]place{{store: i, dir: stageDir}}, files...)
	tx.moveInto(i, stageDir, parent, name)
	if tx.err != nil {
		tx.cleanUp(i, stageDir)
	}
}

// discard removes the directory of a conversation: it is first renamed to stageDir, so that no reader finds a part of it.
func (tx *transaction) discard(p place) {
	tx.move(p.store, p.dir, stageDir)
	tx.removeEmptyTrash(p) // the rename may have left an empty directory in the trash
	tx.removeAll(p.store, stageDir)
}
