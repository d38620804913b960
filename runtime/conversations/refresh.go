package conversations

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// IndexReport says what became of the index of a store.
type IndexReport struct {
	Store, Place string
	Busy         bool // another process writes it
	Changed      int  // conversations that were read, as they had changed
	Removed      int
	Err          error // for which it could not be made, or cannot be used
	index.Info
}

// IndexReports returns what there is of indexes of the library's stores. Nothing is read but
// that.
func (l *Library) IndexReports() (reports []IndexReport) {
	for _, s := range l.stores {
		if l.indexes.dir == "" {
			break
		}
		r := l.refreshing(s)
		r.current("")
		reports = append(reports, r.IndexReport)
	}
	return reports
}

// commitEvery is how many bytes of text are read before they are made part of an index.
const commitEvery = 256 << 20

// RefreshIndexes brings the indexes of all stores up to date. A store of which another
// process writes the index is left out. Progress, if not nil, is called with how many
// conversations of a store were looked at, and how many there are; at the end, also at an error,
// these are equal.
func (l *Library) RefreshIndexes(ctx context.Context, progress func(s store.Store, done, all int)) (reports []IndexReport, err error) {
	if l.indexes.dir == "" {
		return nil, nil
	}
	listed, done := l.listing()
	defer done()
	for _, s := range l.stores {
		r := l.refreshing(s)
		r.listed, r.progress = listed, progress
		r.Err = r.attempt(ctx)
		if ctx.Err() != nil {
			return reports, ctx.Err()
		}
		reports = append(reports, r.IndexReport)
	}
	return reports, l.forget()
}

// refresh brings the indexes of the stores that a filter lets through up to date. Where they
// cannot be written, they are in memory, for as long as the library is used. A store that cannot be
// opened is left to who opens it next.
func (l *Library) refresh(ctx context.Context, f *Filter, listed *listings, aside *Aside) (all []*refreshing, err error) {
	for _, s := range l.stores {
		if !f.asks(s.Name()) {
			continue
		}
		r := l.refreshing(s)
		r.listed, r.progress, r.wait = listed, l.progress, true
		if r.Err = r.attempt(ctx); r.Err != nil && ctx.Err() == nil && !r.isClosed {
			r.index = l.indexes.inMemory(s, r.index)
			r.Err = r.attempt(ctx)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if r.Err != nil && !r.isClosed {
			aside.Problems = append(aside.Problems, Problem{Source: r.Store, Path: s.Place(), Err: r.Err})
		}
		all = append(all, r)
	}
	if err := l.forget(); err != nil { // which is no reason not to answer
		aside.Problems = append(aside.Problems, Problem{Path: l.indexes.dir, Err: err})
	}
	return all, ctx.Err()
}

// forget removes what earlier versions kept, and what is kept of what is excluded beside the
// indexes of the library's stores: lists, and indexes of stores in excluded directories, or
// switched off.
func (l *Library) forget() error {
	if l.indexes.dir == "" {
		return nil
	}
	l.indexes.removeOlder()
	if l.project || l.restrictions == nil {
		return nil
	}
	unused, err := l.unusedIndexes()
	for _, u := range unused {
		if slices.Contains(l.off, u.store) || slices.ContainsFunc(filepath.SplitList(u.place), l.excludes) {
			err = errors.Join(err, os.RemoveAll(u.dir))
		}
	}
	return err
}

// refreshing is an index that is brought up to date.
type refreshing struct {
	IndexReport
	library  *Library
	store    store.Store
	index    *index.Index
	listed   *listings
	progress func(s store.Store, done, all int)
	wait     bool // for other processes
	writer   *index.Writer
	note     indexNote
	before   indexNote // of what is there

	unread   map[transcript.ID]*Problem // what could not be read just now
	isClosed bool                       // the store cannot be opened, or listed
}

func (l *Library) refreshing(s store.Store) *refreshing {
	r := &refreshing{library: l, store: s, index: l.indexes.of(s), unread: map[transcript.ID]*Problem{}}
	r.Store, r.IndexReport.Place = s.Name(), s.Place()
	return r
}

// attempt brings the index up to date; one that is damaged is made anew.
func (r *refreshing) attempt(ctx context.Context) error {
	err := r.run(ctx)
	var damage *index.DamageError
	if errors.As(err, &damage) {
		err = r.run(ctx)
	}
	return err
}

// known is what is known of the files of the store.
func (r *refreshing) known() *filecache.Book {
	return r.library.indexes.files().Of(r.store.Name(), r.store.Place())
}

func (r *refreshing) run(ctx context.Context) error {
	version, _ := r.store.Version(ctx) // where it fails, so does what follows
	if r.current(version) {
		return nil
	}
	list, problems, err := r.listed.list(ctx, r.store, store.Scope{Set: store.Live | store.Archived})
	if err != nil {
		r.isClosed = true
		return err
	}
	shared := r.library.entitle(r.store, list)
	whole := len(problems) == 0
	if !r.known().IsStale() && r.isCurrent(ctx, list, whole) {
		return nil
	}
	try, cancel := ctx, func() {}
	if !r.wait {
		try, cancel = context.WithTimeout(ctx, time.Millisecond)
	}
	r.writer, err = r.index.Write(try)
	cancel()
	if err != nil {
		if r.Busy = errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil; r.Busy {
			return nil
		}
		return err
	}
	defer r.writer.Close()
	defer limitMemory()()
	r.note = indexNote{Store: r.store.Name(), Place: r.store.Place(), Openers: shared.list()}
	r.note.Mark, r.note.Whole = r.before.Mark, r.before.Whole
	if whole {
		r.note.Whole = r.library.now().Unix()
	}
	if !r.library.partial(r.store) {
		mark := r.library.mark()
		excluded := mark != r.before.Mark // something is that was not
		if whole || excluded {
			r.remove(list)
		}
		if excluded {
			r.writer.Purge()
		}
		r.note.Mark = mark
	}
	all, err := r.put(ctx, list)
	if err != nil {
		return err
	}
	if all && whole {
		r.note.Version = version
	}
	if b := &r.before; b.Store != "" && r.Changed+r.Removed == 0 && r.note.Version == b.Version && r.note.Mark == b.Mark && !r.known().IsStale() {
		return nil // all that differs is what cannot be read
	}
	return r.finish(ctx)
}

// limitMemory bounds what this process has of memory while it makes an index, as far as the
// garbage collector can, and returns what ends that. What an index takes is held until a part
// of it is written: without a bound there is as much garbage beside it.
func limitMemory() (end func()) {
	const most = 200 << 20
	before := debug.SetMemoryLimit(-1)
	if before <= most {
		return func() {}
	}
	debug.SetMemoryLimit(most)
	return func() { debug.SetMemoryLimit(before) }
}

// mark is that of what is excluded, also by what was seen since the library was opened.
func (l *Library) mark() string {
	if l.restrictions == nil {
		return ""
	}
	return l.restrictions.mark()
}

// partial reports whether a store has only the conversations of a project.
func (l *Library) partial(s store.Store) bool {
	return l.project && s.Name() != jp.Name && !isArchive(s.Name())
}

// current reports whether there is nothing to do.
func (r *refreshing) current(version string) bool {
	view, err := r.index.View()
	if err != nil { // it is made anew
		var damage *index.DamageError
		if errors.As(err, &damage) {
			r.Err = err
		}
		return false
	}
	r.Info = view.Info()
	note, ok := noteOf(view)
	if !ok {
		return false
	}
	r.before = note
	return version != "" && note.Version == version
}

// isCurrent reports whether the index has all conversations of a list as they are, and where
// the list is all there is no others.
func (r *refreshing) isCurrent(ctx context.Context, list []store.Conversation, whole bool) bool {
	view, err := r.index.View()
	if err != nil {
		return false
	}
	if !r.library.partial(r.store) && (whole && view.Info().Conversations != len(list) || r.library.mark() != r.before.Mark) {
		return false
	}
	for i := range list {
		c := view.Lookup(string(list[i].ID))
		if c == nil {
			return false
		}
		if version, err := list[i].Version(ctx); err != nil || indexVersion(version, &list[i]) != c.Version {
			return false
		}
	}
	return true
}

// remove removes what the store no longer has.
func (r *refreshing) remove(list []store.Conversation) {
	there := map[string]bool{}
	for i := range list {
		there[string(list[i].ID)] = true
	}
	for c := range r.writer.Conversations() {
		if !there[c.Key] {
			r.writer.Delete(c.Key)
			r.Removed++
		}
	}
}

// put puts what has changed into the index, and reports whether it is all.
func (r *refreshing) put(ctx context.Context, list []store.Conversation) (all bool, err error) {
	if r.progress != nil {
		defer r.progress(r.store, len(list), len(list))
	}
	all = true
	committed := r.writer.Text()
	for i := range list {
		if r.progress != nil {
			r.progress(r.store, i, len(list))
		}
		c := &list[i]
		old := r.writer.Lookup(string(c.ID))
		read := false // else the store has it no longer, or it cannot be read
		version, err := c.Version(ctx)
		if err != nil {
			r.unread[c.ID] = unreadable(c.ID, err)
		} else {
			if old != nil && old.Version == indexVersion(version, c) {
				all = all && readFacts(old).Read && !c.Hidden
				continue
			}
			if read, err = r.putOne(ctx, c, old, version); err != nil {
				return false, err
			}
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		all = all && read && !c.Hidden
		if !read && old != nil && old == r.writer.Lookup(string(c.ID)) {
			continue // it cannot be read, as before
		}
		r.Changed++
		if text := r.writer.Text(); text-committed >= commitEvery {
			if err := r.commit(ctx); err != nil {
				return false, err
			}
			committed = text
		}
	}
	return all, nil
}

// putOne puts a conversation of a version into the index, and reports whether it could be read.
// Old is what it has of it; nil for nothing. One that cannot be read to its end has those messages
// there that can, for rankings alone, and is read again once it has changed; one that could not be read
// for another reason than damage, with the next query. The error is one of the index.
func (r *refreshing) putOne(ctx context.Context, c *store.Conversation, old *index.Conversation, version string) (read bool, err error) {
	entry := index.Conversation{Key: string(c.ID), Version: indexVersion(version, c), Order: c.Order, Title: c.Title}
	reader := messageReader{conversation: c, entry: &entry}
	if old != nil && old.Order == c.Order && len(old.Mark) > 0 {
		reader.mark = old.Mark
		if err := r.writer.Append(ctx, &entry, old, reader.all(ctx)); !errors.Is(err, store.ErrChanged) && !reader.failed {
			return err == nil, err
		}
		reader.mark, reader.failed = nil, false
	}
	err = r.writer.Put(ctx, &entry, reader.all(ctx))
	if err == nil || ctx.Err() != nil || !reader.failed {
		return err == nil, err
	}
	f := factsOf(c)
	f.Size.Turns = reader.turns
	f.note(reader.problem)
	entry.Facts, entry.Mark = f.encode(), nil // which an earlier pass of Put may have set
	if reader.problem.Kind == Unreadable {
		entry.Version = "" // which may have passed by then
		if old != nil && old.Version == "" && bytes.Equal(old.Facts, entry.Facts) {
			return false, nil
		}
	}
	return false, r.writer.Put(ctx, &entry, reader.readable(ctx))
}

// finish commits what was written.
func (r *refreshing) finish(ctx context.Context) error {
	if err := r.commit(ctx); err != nil {
		return err
	}
	view, err := r.index.View()
	if err != nil {
		return err
	}
	r.Info = view.Info()
	return nil
}

func (r *refreshing) commit(ctx context.Context) error {
	note, err := json.Marshal(r.note)
	if err != nil {
		return err
	}
	mark := r.library.mark()
	r.library.indexes.exclude(mark) // more may have been seen to be
	kept := r.known().Append(keptUnder(mark))
	return r.writer.Commit(ctx, index.State{Note: string(note), Updated: r.library.now().Unix()}, kept)
}
