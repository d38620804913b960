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
	Changed      int   // conversations that were read because they had changed
	Removed      int   // conversations that were removed from the index
	Err          error // if the index could not be made or cannot be used
	index.Info
}

// RefreshIndexes updates the indexes of all stores, unless they are in memory, and removes unused ones. A report has the
// error of updating its index; the error returned is that of the context, or of removing.
func (l *Library) RefreshIndexes(ctx context.Context) (reports []IndexReport, err error) {
	if l.indexes.dir == "" {
		return nil, nil
	}
	q, _ := l.newQuery(&Filter{Sources: Sources()}, &Omitted{}) // its error can only be about ids
	defer q.closeLists()
	for _, s := range q.sources {
		u := q.update(ctx, s)
		if ctx.Err() != nil {
			return reports, ctx.Err()
		}
		reports = append(reports, u.IndexReport)
	}
	return reports, l.removeUnused()
}

// refresh updates the indexes of the stores in the query, and removes unused indexes. It replaces an index that cannot
// be written by one in memory. It adds problems to omitted, except those of listing a store: the query lists the store
// again, and adds the same problems. The error is that of the context.
func (q *query) refresh(ctx context.Context, omitted *Omitted) error {
	for _, s := range q.sources {
		u := q.update(ctx, s)
		if cannotWrite := u.Err != nil && !u.listFailed; cannotWrite && ctx.Err() == nil {
			s.index = q.indexes.openOrReplace(q.settings, indexName(s.Name(), s.Place()), s.index)
			u = q.update(ctx, s)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if u.Err != nil && !u.listFailed {
			omitted.Problems = append(omitted.Problems, Problem{Source: s.Name(), Path: s.Place(), Err: u.Err})
		}
	}
	if err := q.removeUnused(); err != nil { // the query is answered all the same
		omitted.Problems = append(omitted.Problems, Problem{Path: q.indexes.dir, Err: err})
	}
	return ctx.Err()
}

// update is an update of an index in progress.
type update struct {
	IndexReport
	*query
	*source
	before, note indexNote            // of the existing and of the new index
	list         []store.Conversation // the conversations that the store lists; not to be changed
	versions     []string             // by the place in list, for the index; empty if the conversation cannot be read
	isComplete   bool                 // list has all that is in the store
	writer       *index.Writer
	listFailed   bool // Err is that of listing the store
}

// update updates the index of a store, and sets the view of s to the updated index. It tries once more if the index is
// damaged, and so makes the index anew. The error is in the result.
func (q *query) update(ctx context.Context, s *source) *update {
	u, _ := twiceIfDamaged(func() (*update, error) {
		s.view, s.unread = nil, map[transcript.ID]*Problem{}
		u := &update{IndexReport: IndexReport{Store: s.Name(), Place: s.Place()}, query: q, source: s}
		u.Err = u.run(ctx)
		return u, u.Err
	})
	return u
}

// openView sets the view of the source, u.Info, and u.before from the index as it is now. u.before is the note of the
// index about its store. If the index is damaged, openView sets only Err; if there is no index, it sets nothing.
func (u *update) openView() {
	var damage *index.DamageError
	view, err := u.index.View()
	switch {
	case errors.As(err, &damage):
		u.Err = err
	case err == nil:
		u.view, u.Info = view, view.Info()
		u.before, _ = noteOf(view)
	}
}

// cache returns the cached values of the store's files.
func (u *update) cache() *filecache.Cache {
	return u.indexes.cache(u.settings, u.Name(), u.source.Place())
}

// run updates the index, unless it is current. It adds the conversations that have changed, and removes those that are
// gone. The error is that of the index, or of listing the store.
func (u *update) run(ctx context.Context) error {
	version, _ := u.Version(ctx) // if it fails, listing fails too
	if u.openView(); version != "" && u.before.Version == version {
		return nil // nothing has changed
	}
	listing, err := u.lists.all(ctx, u.source)
	if err != nil {
		u.listFailed = true
		return err
	}
	u.list, u.isComplete = listing.Conversations, len(listing.Problems) == 0
	u.setVersions(ctx)
	exclusions := u.settings.hashExclusions()
	isCacheStale := u.cache().IsStale() // many cached values of files are new, and worth saving with the index
	if !isCacheStale && u.isCurrent(exclusions) {
		return ctx.Err()
	}
	if u.writer, err = u.index.Write(ctx); err != nil {
		return err
	}
	defer u.writer.Close()
	defer limitMemory()()
	shared := openersOf(&u.before)
	shared.addShared(u.list)
	u.note = u.before // without a version, until all of the store is indexed
	u.note.Store, u.note.Place, u.note.Version, u.note.Openers = u.Name(), u.source.Place(), "", shared.sorted()
	if u.isComplete {
		u.note.Listed = u.now().Unix()
	}
	if isWhole := !u.isPart(u.Name()); isWhole { // otherwise the list is without other projects
		u.removeGone(exclusions)
	}
	isAll, err := u.putChanged(ctx)
	if err != nil {
		return err
	}
	if isAll && u.isComplete {
		u.note.Version = version
	}
	isSame := u.before.Store != "" && u.Changed+u.Removed == 0 && u.note.Version == u.before.Version && u.note.Exclusions == u.before.Exclusions
	if isSame && !isCacheStale {
		return nil // only conversations differ that cannot be read, and that the index does not have
	}
	if err := u.commit(ctx); err != nil {
		return err
	}
	u.openView()
	return u.Err
}

// isPart reports whether the library has only the project's conversations, and not all, of a kind of store.
func (l *Library) isPart(store string) bool {
	return l.partial && store != jp.Name && IsProgram(store)
}

// setVersions sets the versions of the listed conversations. A conversation without a version is added to the unread.
func (u *update) setVersions(ctx context.Context) {
	u.versions = make([]string, len(u.list))
	for i := range u.list {
		c := &u.list[i]
		if version, err := c.Version(ctx); err == nil {
			u.versions[i] = indexVersion(version, c)
		} else {
			u.unread[c.ID] = unreadable(c.ID, err)
		}
	}
}

// isCurrent reports whether the index has all listed conversations as they are now. If the library has the whole store,
// the index must also have no others, unless the list is incomplete, and be of the same exclusions as now.
func (u *update) isCurrent(exclusions string) bool {
	if u.view == nil {
		return false
	}
	hasOthers := u.isComplete && u.Conversations != len(u.list)
	if isWhole := !u.isPart(u.Name()); isWhole && (hasOthers || exclusions != u.before.Exclusions) {
		return false
	}
	for i := range u.list {
		c := u.view.Lookup(string(u.list[i].ID))
		if c == nil || u.versions[i] == "" || c.Version != u.versions[i] {
			return false
		}
	}
	return true
}

// removeGone removes the conversations that are not in u.list from the index, and sets the exclusions in the note. With
// an incomplete list it does so only if the exclusions are new: excluded texts must go, even if others go too.
func (u *update) removeGone(exclusions string) {
	isNew := exclusions != u.before.Exclusions
	u.note.Exclusions = exclusions
	if mayRemove := u.isComplete || isNew; !mayRemove {
		return // the store may still have a conversation that is not listed
	}
	isListed := map[string]bool{}
	for i := range u.list {
		isListed[string(u.list[i].ID)] = true
	}
	for c := range u.writer.Conversations() {
		if !isListed[c.Key] {
			u.writer.Delete(c.Key)
			u.Removed++
		}
	}
	if isNew {
		u.writer.Purge() // excluded texts must not stay on the disk
	}
}

// commitEvery is the number of bytes of text that are read before they are committed.
const commitEvery = 256 << 20

// putChanged adds the changed conversations of the list to the index. It reports whether all listed conversations then
// are in the index, were read without a problem, and are not hidden. The error is that of the index or the context.
func (u *update) putChanged(ctx context.Context) (isAll bool, err error) {
	progress := func(done int) {
		if u.progress != nil {
			u.progress(u.source.Store, done, len(u.list))
		}
	}
	defer progress(len(u.list))
	isAll = true
	committed := u.writer.Text() // bytes of text at the last commit
	for i := range u.list {
		progress(i)
		c := &u.list[i]
		old := u.writer.Lookup(string(c.ID))
		isRead := false // the index has all of the conversation
		switch {
		case u.versions[i] == "": // the conversation is gone or cannot be read
		case old != nil && old.Version == u.versions[i]:
			isRead = readFacts(old).Read
		default:
			if isRead, err = u.putOne(ctx, c, old, u.versions[i]); err != nil {
				return false, err
			}
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		isAll = isAll && isRead && !c.Hidden
		if text := u.writer.Text(); text-committed >= commitEvery {
			if err := u.commit(ctx); err != nil {
				return false, err
			}
			committed = text
		}
	}
	return isAll, nil
}

// putOne adds a conversation to the index, and reports whether it was read without a problem. old is the entry of the
// conversation in the index; nil for none. If the conversation begins with the messages of old, putOne adds only its new
// messages. Of a damaged conversation the index gets the readable messages, for rankings only. The error is one of the
// index or the context.
func (u *update) putOne(ctx context.Context, c *store.Conversation, old *index.Conversation, version string) (isRead bool, err error) {
	entry := index.Conversation{Key: string(c.ID), Order: c.Order, Title: c.Title}
	reader := messageReader{conversation: c, entry: &entry, version: version}
	err = errRewritten // if nothing can be appended, all messages are put
	if canAppend := old != nil && old.Order == c.Order && old.Messages > 0; canAppend {
		reader.before = *old
		err = u.writer.Append(ctx, &entry, old, reader.messages(ctx))
	}
	if errors.Is(err, errRewritten) {
		reader.before = index.Conversation{}
		err = u.writer.Put(ctx, &entry, reader.messages(ctx))
	}
	if err != nil {
		return false, err
	}
	isStillUnreadable := old != nil && old.Version == "" && entry.Version == "" && bytes.Equal(old.Facts, entry.Facts)
	if !isStillUnreadable { // an unreadable conversation has no version
		u.Changed++
	}
	if reader.problem != nil {
		u.unread[c.ID] = reader.problem
	}
	return reader.problem == nil, nil
}

// commit writes the changes so far to the index, with the note and the cached values of files.
func (u *update) commit(ctx context.Context) error {
	note, err := json.Marshal(u.note)
	if err != nil {
		return err
	}
	exclusions := u.settings.hashExclusions()                  // as they are now
	saved := savedFor(exclusions)                              // the line before the cached values
	if isSame := exclusions == u.settings.exclusions; isSame { // with new exclusions, values may be of excluded files
		saved = u.cache().Append(saved)
	}
	return u.writer.Commit(ctx, index.State{Note: string(note), Updated: u.now().Unix()}, saved)
}

// limitMemory bounds the memory of this process while an index is made, as far as the garbage collector can, and
// returns a function that ends the bound. Without the bound there would be as much garbage as live data.
func limitMemory() (end func()) {
	const most = 190 << 20
	before := debug.SetMemoryLimit(-1) // a negative limit changes nothing
	if before <= most {                // for example, because another index is being made
		return func() {}
	}
	debug.SetMemoryLimit(most)
	return func() { debug.SetMemoryLimit(before) }
}
