package conversations

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// IndexReport is the result of updating the index of a store.
type IndexReport struct {
	Store, Place string
	Changed      int // changed conversations, which were read
	Removed      int
	Err          error // if it could not be made or cannot be used
	index.Info
}

// IndexReports returns the state of the indexes of the library's stores. It reads nothing else.
func (l *Library) IndexReports() (reports []IndexReport) {
	if l.indexes.dir == "" {
		return nil
	}
	for _, s := range l.stores {
		r := newRefreshing(nil, &source{Store: s, index: l.indexes.of(s)})
		r.look()
		reports = append(reports, r.IndexReport)
	}
	return reports
}

// RefreshIndexes updates the indexes of all stores.
func (l *Library) RefreshIndexes(ctx context.Context) (reports []IndexReport, err error) {
	if l.indexes.dir == "" {
		return nil, nil
	}
	a, err := l.ask(&Filter{Sources: Sources()}, &Aside{})
	defer a.done()
	for _, s := range a.sources {
		r := a.attempt(ctx, s)
		if err = ctx.Err(); err != nil {
			return reports, err
		}
		reports = append(reports, r.IndexReport)
	}
	return reports, errors.Join(err, l.forget())
}

// refresh updates the indexes of the stores in the query. If one cannot be written, it is in memory while the library
// is used. The error of a store that cannot be opened is left to the next one that opens it.
func (a *asking) refresh(ctx context.Context, aside *Aside) error {
	for _, s := range a.sources {
		r := a.attempt(ctx, s)
		if r.Err != nil && ctx.Err() == nil && !r.isClosed {
			s.index = a.indexes.inMemory(s.Store, s.index)
			r = a.attempt(ctx, s)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if r.Err != nil && !r.isClosed {
			aside.Problems = append(aside.Problems, Problem{Source: r.Name(), Path: s.Place(), Err: r.Err})
		}
	}
	if err := a.forget(); err != nil { // the query is answered all the same
		aside.Problems = append(aside.Problems, Problem{Path: a.indexes.dir, Err: err})
	}
	return ctx.Err()
}

// attempt updates the index of a store. It makes a damaged one anew.
func (a *asking) attempt(ctx context.Context, s *source) *refreshing {
	for again := false; ; again = true {
		r := newRefreshing(a, s)
		r.Err = r.run(ctx)
		var damage *index.DamageError
		if again || !errors.As(r.Err, &damage) {
			return r
		}
	}
}

// refreshing is an update of an index in progress.
type refreshing struct {
	IndexReport
	*asking
	*source
	before   indexNote // of the existing index
	note     indexNote // of the new index
	writer   *index.Writer
	isClosed bool // the store cannot be opened, or listed
}

func newRefreshing(a *asking, s *source) *refreshing {
	s.view, s.unread = nil, map[transcript.ID]*Problem{}
	return &refreshing{IndexReport: IndexReport{Store: s.Name(), Place: s.Place()}, asking: a, source: s}
}

// look opens the index as it is.
func (r *refreshing) look() {
	view, err := r.index.View()
	var damage *index.DamageError
	switch {
	case errors.As(err, &damage):
		r.Err = err
	case err == nil:
		r.view, r.Info = view, view.Info()
		r.before, _ = noteOf(view)
	}
}

// known returns the cached values of the store's files.
func (r *refreshing) known() *filecache.Book {
	return r.indexes.files().Of(r.Name(), r.Place)
}

func (r *refreshing) run(ctx context.Context) error {
	version, _ := r.Version(ctx) // if it fails, listing fails too
	if r.look(); version != "" && r.before.Version == version {
		return nil
	}
	list, problems, err := r.listed.list(ctx, r.source.Store, store.Scope{Set: store.Live | store.Archived})
	if err != nil {
		r.isClosed = true
		return err
	}
	shared := openersOf(&r.before)
	shared.add(list)
	shared.entitle(list)
	versions := r.versions(ctx, list)
	isWhole, isStale, mark := len(problems) == 0, r.known().IsStale(), r.settings.mark()
	if !isStale && r.isCurrent(list, versions, isWhole, mark) {
		return ctx.Err()
	}
	if r.writer, err = r.index.Write(ctx); err != nil {
		return err
	}
	defer r.writer.Close()
	defer limitMemory()()
	r.note = indexNote{Store: r.Name(), Place: r.Place, Openers: shared.list(), Mark: r.before.Mark, Whole: r.before.Whole}
	if isWhole {
		r.note.Whole = r.now().Unix()
	}
	if !r.isPart(r.Name()) {
		excluded := mark != r.before.Mark // there are new exclusions
		if isWhole || excluded {
			r.remove(list)
		}
		if excluded {
			r.writer.Purge()
		}
		r.note.Mark = mark
	}
	isAll, err := r.put(ctx, list, versions)
	if err != nil {
		return err
	}
	if isAll && isWhole {
		r.note.Version = version
	}
	if b := &r.before; b.Store != "" && r.Changed+r.Removed == 0 && r.note.Version == b.Version && r.note.Mark == b.Mark && !isStale {
		return nil // only unreadable conversations differ
	}
	if err := r.commit(ctx); err != nil {
		return err
	}
	r.look()
	return r.Err
}

// isPart reports whether the library has only the project's conversations of a kind of store.
func (l *Library) isPart(store string) bool {
	return l.partial && store != jp.Name && IsProgram(store)
}

// versions returns the versions of conversations for an index; empty for a conversation that cannot be read.
func (r *refreshing) versions(ctx context.Context, list []store.Conversation) []string {
	versions := make([]string, len(list))
	for i := range list {
		c := &list[i]
		if version, err := c.Version(ctx); err == nil {
			versions[i] = indexVersion(version, c)
		} else {
			r.unread[c.ID] = unreadable(c.ID, err)
		}
	}
	return versions
}

// isCurrent reports whether the index has all conversations of a list as they are, and no others if the list is
// complete.
func (r *refreshing) isCurrent(list []store.Conversation, versions []string, isWhole bool, mark string) bool {
	if r.view == nil || !r.isPart(r.Name()) && (isWhole && r.Conversations != len(list) || mark != r.before.Mark) {
		return false
	}
	for i := range list {
		c := r.view.Lookup(string(list[i].ID))
		if c == nil || versions[i] == "" || c.Version != versions[i] {
			return false
		}
	}
	return true
}

// remove removes conversations that the store no longer has.
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

// commitEvery is the number of bytes of text that are read before they are committed.
const commitEvery = 256 << 20

// put adds changed conversations to the index. It reports whether the index then has all of them without problems.
func (r *refreshing) put(ctx context.Context, list []store.Conversation, versions []string) (isAll bool, err error) {
	if r.progress != nil {
		defer r.progress(r.source.Store, len(list), len(list))
	}
	isAll = true
	committed := r.writer.Text()
	for i := range list {
		if r.progress != nil {
			r.progress(r.source.Store, i, len(list))
		}
		c := &list[i]
		old := r.writer.Lookup(string(c.ID))
		isRead := false
		switch {
		case versions[i] == "": // it is gone or cannot be read
		case old != nil && old.Version == versions[i]:
			isRead = readFacts(old).Read
		default:
			if isRead, err = r.putOne(ctx, c, old, versions[i]); err != nil {
				return false, err
			}
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		isAll = isAll && isRead && !c.Hidden
		if text := r.writer.Text(); text-committed >= commitEvery {
			if err := r.commit(ctx); err != nil {
				return false, err
			}
			committed = text
		}
	}
	return isAll, nil
}

// putOne adds a conversation to the index, and reports whether it could be read. old is its entry there; nil for
// none. The index gets the readable messages of a damaged conversation, for rankings only. A damaged conversation is
// read again after it has changed, and one with another error with the next query. The error is one of the index.
func (r *refreshing) putOne(ctx context.Context, c *store.Conversation, old *index.Conversation, version string) (isRead bool, err error) {
	entry := index.Conversation{Key: string(c.ID), Order: c.Order, Title: c.Title}
	reader := messageReader{conversation: c, entry: &entry, version: version}
	err = errRewritten
	if old != nil && old.Order == c.Order && old.Messages > 0 {
		reader.before = *old
		err = r.writer.Append(ctx, &entry, old, reader.all(ctx))
	}
	if errors.Is(err, errRewritten) {
		reader.before = index.Conversation{}
		err = r.writer.Put(ctx, &entry, reader.all(ctx))
	}
	isSame := entry.Version == "" && old != nil && old.Version == "" && bytes.Equal(old.Facts, entry.Facts)
	if err == nil && !isSame {
		r.Changed++
	}
	return err == nil && reader.problem == nil, err
}

func (r *refreshing) commit(ctx context.Context) error {
	note, err := json.Marshal(r.note)
	if err != nil {
		return err
	}
	mark := r.settings.mark()
	r.indexes.exclude(mark) // there may be new exclusions
	kept := r.known().Append(keptUnder(mark))
	return r.writer.Commit(ctx, index.State{Note: string(note), Updated: r.now().Unix()}, kept)
}

// limitMemory bounds the memory of this process while it makes an index, as far as the garbage collector can, and
// returns a function that ends the bound. Without it there would be as much garbage as live data.
func limitMemory() (end func()) {
	const most = 200 << 20
	before := debug.SetMemoryLimit(-1)
	if before <= most {
		return func() {}
	}
	debug.SetMemoryLimit(most)
	return func() { debug.SetMemoryLimit(before) }
}
