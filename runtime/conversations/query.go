package conversations

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/copies"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// query is a query in progress, to the stores of a library.
type query struct {
	*Library
	lists        *lists
	filter       *Filter
	ids, exclude []transcript.ID // of the filter
	sources      []*source
	omitted      *Omitted
}

// source is a store in a query.
type source struct {
	store.Store
	library *Library
	index   *index.Index
	view    *index.View // the index as it is when the query begins; nil for none
	byIndex bool        // the query is about all conversations in view; list and wanted are empty
	list    []store.Conversation
	wanted  map[string]*store.Conversation // those in list by their keys in the index
	unread  map[transcript.ID]*Problem     // conversations that could not be read just now
	missed  int                            // the number of conversations in list that could not be read at all
	found   map[string]*Matched            // the results of matched, by the keys in the index
}

// newQuery begins a query to the stores that the filter includes, and reads nothing. What the query leaves out is added
// to omitted. The error is a [*BadIDError] for an id in the filter; the query is usable even then.
func (l *Library) newQuery(f *Filter, omitted *Omitted) (*query, error) {
	ofQuery := &lists{forgotten: l.settings.forgotten, whole: map[listed]*store.Listing{}} // for a library that has no lists
	q := &query{Library: l, lists: cmp.Or(l.lists, ofQuery), filter: f, omitted: omitted}
	for _, s := range l.stores {
		if f.includes(s.Name()) {
			q.sources = append(q.sources, &source{Store: s, library: l, index: l.indexes.ofStore(l.settings, s), found: map[string]*Matched{}})
		}
	}
	var errIDs, errExclude error
	q.ids, errIDs = l.parseIDs(f.IDs)
	q.exclude, errExclude = l.parseIDs(f.Exclude)
	return q, cmp.Or(errIDs, errExclude)
}

// closeLists closes the lists of stores, unless they are those of the library.
func (q *query) closeLists() {
	if q.lists != q.Library.lists {
		q.lists.close()
	}
}

// parseIDs returns the ids in texts, each once. The error is a [*BadIDError] for the first text that is no id.
func (l *Library) parseIDs(texts []string) (ids []transcript.ID, _ error) {
	for _, text := range texts {
		id, err := l.parseID(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// parseID returns the id that a text means. The first store of the library that can parse the text decides; if there is
// none, another kind of store that has ids of this form. The error is a [*BadIDError].
func (l *Library) parseID(text string) (id transcript.ID, err error) {
	err = &BadIDError{Text: text, Reason: "there is no store of conversations"}
	for _, s := range l.stores {
		if id, err = s.ParseID(text); err == nil {
			return id, nil
		}
	}
	if k := claimant(text); k.ids != nil && len(l.stores) > 0 { // k is the kind of store with ids of this form
		return k.ids.ParseID(text)
	}
	return id, err
}

// selectConversations lists the stores, and removes from their lists the conversations that the filter does not select.
// It adds the hidden and the excluded ones to the omitted.
func (q *query) selectConversations(ctx context.Context) error {
	if err := q.listStores(ctx); err != nil {
		return err
	}
	isNamed := len(q.ids) > 0
	for _, s := range q.sources {
		kin := map[transcript.ID]bool{}
		if !isNamed && q.filter.Kin {
			kin = relatives(s.list, q.exclude[:min(1, len(q.exclude))]) // relatives of the first excluded one are excluded too
		}
		isOmitted := func(c store.Conversation) bool {
			isSelected := hasLabels(c.Labels, q.filter.Labels) && q.filter.hasSource(cmp.Or(c.Source, jp.Name))
			isHidden := c.Hidden && !q.filter.Hidden && !isNamed
			isExcluded := kin[c.ID] || slices.Contains(q.exclude, c.ID)
			if isSelected && isHidden {
				q.omitted.Hidden++
			} else if isSelected && isExcluded {
				q.omitted.Excluded = append(q.omitted.Excluded, c.ID)
			}
			return !isSelected || isHidden || isExcluded
		}
		s.list = slices.DeleteFunc(s.list, isOmitted)
	}
	return q.keepChanged(ctx)
}

// listStores lists the stores, and sets their lists. A list has the conversations with the ids of the filter, or
// without ids the live or archived ones. A store whose index is enough is not listed. If two stores have the same
// conversation, as a home and a copy of the home do, it is only in the list of the first store. A store that cannot be
// listed is a problem; if it is the only store, the error is an [*UnavailableError]. Other errors are that of the
// context, a [*NotFoundError] for ids that no store has, and the error of Nothing if nothing is listed.
func (q *query) listStores(ctx context.Context) error {
	problems, seen := q.switchedOff(), map[transcript.ID]bool{} // seen are the conversations in the list of a store
	isSeen := func(id transcript.ID) bool { return seen[id] }
	isNamed, isEmpty := len(q.ids) > 0, true // ids are given; no store has conversations so far
	for _, s := range q.sources {
		if s.byIndex {
			isEmpty = false
			continue // the index is enough
		}
		scope := store.Scope{Set: q.filter.set(), IDs: slices.DeleteFunc(slices.Clone(q.ids), isSeen)}
		if isNamed && len(scope.IDs) == 0 { // earlier stores have all of them
			break
		}
		found, unread, err := q.lists.list(ctx, s, scope)
		if err != nil && (len(q.sources) == 1 || ctx.Err() != nil) {
			return &UnavailableError{Path: s.Place(), Err: err}
		}
		if err != nil {
			unread = append(unread, Problem{Path: s.Place(), Err: err})
		}
		found = append(found, q.fromIndex(s, scope, found, unread)...)
		problems = append(problems, withSource(s, unread)...)
		s.list = slices.DeleteFunc(found, func(c store.Conversation) bool {
			return seen[c.ID] || isNamed && !slices.Contains(scope.IDs, c.ID)
		})
		for i := range s.list {
			seen[s.list[i].ID] = true
		}
		isEmpty = isEmpty && len(s.list) == 0 && IsProgram(s.Name()) // Nothing is about programs: an archive counts as not empty
	}
	if isNamed {
		missing := slices.DeleteFunc(slices.Clone(q.ids), isSeen)
		return cmp.Or(q.checkNamed(ctx, missing, problems), ctx.Err())
	}
	q.omitted.Problems = append(q.omitted.Problems, problems...)
	if isEmpty && len(q.omitted.Problems) == 0 {
		return cmp.Or(q.Nothing(ctx), ctx.Err())
	}
	return ctx.Err()
}

// switchedOff returns a problem for each kind of store that the user has switched off although the filter names it, or
// has an id of it.
func (q *query) switchedOff() (problems []Problem) {
	for _, name := range q.settings.Off {
		isOfKind := func(id transcript.ID) bool { return cmp.Or(SourceOf(id), jp.Name) == name }
		if slices.Contains(q.filter.Sources, name) || slices.ContainsFunc(q.ids, isOfKind) {
			problems = append(problems, Problem{Source: name, Kind: store.SwitchedOff, Path: q.settings.file, Err: fmt.Errorf("%s is switched off", name)})
		}
	}
	return problems
}

// withSource sets the source of problems to the name of their store, and returns them.
func withSource(s store.Store, problems []Problem) []Problem {
	for i := range problems {
		problems[i].Source = s.Name()
	}
	return problems
}

// maxNearest is the number of ids that an error suggests.
const maxNearest = 20

// checkNamed adds the problems of the listed conversations to q.omitted, except problems with single fields. It returns
// nil if missing, the ids of the filter that no store has, is empty. Otherwise it returns the first of these errors:
// the first of problems that concerns a missing conversation; ctx.Err(); a [*NoWorkspaceError] from Nothing if no
// program has recorded anything; a [*NotFoundError] with similar ids.
func (q *query) checkNamed(ctx context.Context, missing []transcript.ID, problems []Problem) error {
	for _, s := range q.sources {
		for i := range s.list {
			q.omitted.Problems = append(q.omitted.Problems, slices.DeleteFunc(slices.Clone(s.list[i].Problems), isOfField)...)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	e := &NotFoundError{IDs: missing, Place: q.place}
	for _, p := range problems {
		if slices.Contains(missing, p.ID) {
			return fmt.Errorf("looking for conversation %s: %s: %w", p.ID, p.Path, p.Err)
		}
		if p.ID == "" {
			e.Unread = append(e.Unread, p) // the conversation may be there
		}
	}
	for _, s := range q.sources {
		listing, err := q.lists.all(ctx, s)
		if err != nil {
			continue // the error is among the problems
		}
		for _, id := range missing {
			for _, similar := range store.Nearest(id, listing.Conversations) {
				if len(e.Nearest) < maxNearest && !slices.Contains(e.Nearest, similar) {
					e.Nearest = append(e.Nearest, similar)
				}
			}
		}
	}
	return cmp.Or(ctx.Err(), q.Nothing(ctx), error(e)) // the first error that is not nil
}

// isOfField reports whether a problem is with a single field in the metadata of a conversation.
func isOfField(p Problem) bool { return p.Kind == store.BadField }

// badFields returns the problems with single fields in the metadata of a conversation.
func badFields(c *store.Conversation) []Problem {
	return slices.DeleteFunc(slices.Clone(c.Problems), func(p Problem) bool { return !isOfField(p) })
}

// set returns the set that a filter selects: live conversations, archived ones, or both.
func (f *Filter) set() store.Set {
	switch {
	case f.Both:
		return everything.Set
	case f.Archived:
		return store.Archived
	}
	return store.Live
}

// hasSource reports whether the sources of a filter select a kind of store.
func (f *Filter) hasSource(source string) bool {
	return len(f.Sources) == 0 || slices.Contains(f.Sources, source)
}

// includes reports whether a query with the filter looks into a kind of store. It looks into an archive only if the
// filter names the archive or an id of it.
func (f *Filter) includes(source string) bool {
	if len(f.IDs) > 0 {
		isOfSource := func(id string) bool { return SourceOf(transcript.ID(id)) == source }
		return IsProgram(source) || slices.ContainsFunc(f.IDs, isOfSource)
	}
	if len(f.Sources) > 0 {
		isKind := slices.Contains(Sources(), source) // Sources lists all kinds; other stores have conversations of any kind
		return !isKind || f.hasSource(source)
	}
	return IsProgram(source)
}

// hasLabels reports whether labels has all wanted ones.
func hasLabels(labels map[string]string, wanted []Label) bool {
	return !slices.ContainsFunc(wanted, func(l Label) bool {
		value, ok := labels[l.Key]
		return !ok || l.Value != nil && value != *l.Value
	})
}

// relatives returns the ancestors and listed descendants of the conversations with some ids, except these themselves. A
// fork's parent is the conversation that was forked. A sub-agent's parent is the conversation that began it.
func relatives(list []store.Conversation, ids []transcript.ID) map[transcript.ID]bool {
	found, parents := map[transcript.ID]bool{}, map[transcript.ID]transcript.ID{}
	for i := range list {
		parents[list[i].ID] = list[i].Parent
	}
	ancestors := func(id transcript.ID) (above []transcript.ID) {
		for parent := parents[id]; parent != "" && !slices.Contains(above, parent); parent = parents[parent] {
			above = append(above, parent)
		}
		return above
	}
	for _, id := range ids {
		for _, ancestor := range ancestors(id) {
			found[ancestor] = true
		}
		for i := range list {
			if slices.Contains(ancestors(list[i].ID), id) {
				found[list[i].ID] = true
			}
		}
	}
	for _, id := range ids {
		delete(found, id)
	}
	return found
}

// everything is the scope of all conversations of a store.
var everything = store.Scope{Set: store.Live | store.Archived}

// lists are lists of stores, for one query or for several queries of one call.
type lists struct {
	forgotten copies.Forgotten // conversations that are left out

	mu    sync.Mutex
	whole map[listed]*store.Listing // the lists of all conversations in a set
	open  []*store.Listing          // all lists, to be closed
}

// listed is a set of the conversations of a store.
type listed struct {
	store store.Store
	set   store.Set
}

// close closes the listings of stores, and forgets them.
func (l *lists) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, listing := range l.open {
		listing.Close()
	}
	clear(l.whole)
	l.open = nil
}

// list returns the conversations of a store in a scope, with titles and without forgotten ones, and the problems of
// listing the store. A scope without ids may share an earlier, larger listing. The caller may change the slices.
func (l *lists) list(ctx context.Context, s *source, scope store.Scope) ([]store.Conversation, []Problem, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	listing, err := l.listing(ctx, s, scope)
	if err != nil {
		return nil, nil, err
	}
	// A listing by ids is exact; a shared one may have conversations outside of the scope.
	isOutside := func(c store.Conversation) bool { return len(scope.IDs) == 0 && !scope.Has(c.ID, c.Archived) }
	return slices.DeleteFunc(slices.Clone(listing.Conversations), isOutside), slices.Clone(listing.Problems), nil
}

// all returns the list of all conversations of a store, as list does. It must not be changed.
func (l *lists) all(ctx context.Context, s *source) (*store.Listing, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.listing(ctx, s, everything)
}

// listing returns a listing of a store that has the conversations of a scope, and may have more: a known one if it can.
func (l *lists) listing(ctx context.Context, s *source, scope store.Scope) (*store.Listing, error) {
	key, isNamed := listed{s.Store, scope.Set}, len(scope.IDs) > 0
	all := l.whole[listed{s.Store, everything.Set}]
	// In JP and in a store behind a command line, which have no function open, a conversation can be both live and
	// archived: a list of everything has it as a live one.
	hasSet := scope.Set == store.Live || kindNamed(s.Name()).open != nil // all tells which conversations are in the set
	if hasSet && all != nil && len(all.Problems) == 0 {
		key.set = everything.Set
	}
	if known := l.whole[key]; known != nil && !isNamed {
		return known, nil
	}
	listing, err := s.List(ctx, scope)
	if err != nil {
		return nil, err
	}
	l.open = append(l.open, listing)
	listing.Conversations = slices.DeleteFunc(listing.Conversations, func(c store.Conversation) bool { return l.forgotten[c.ID] })
	l.addTitles(ctx, s, listing.Conversations, isNamed)
	if !isNamed {
		l.whole[key] = listing
	}
	return listing, nil
}
