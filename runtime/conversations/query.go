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

// query is a query to the stores of a library in progress.
type query struct {
	*Library
	lists                   *lists
	filter                  *Filter
	ids, exclude, relatives []transcript.ID // of the filter
	sources                 []*source
	omitted                 *Omitted
}

// source is a store in a query.
type source struct {
	store.Store
	library *Library
	index   *index.Index
	view    *index.View // the index as it is when the query begins; nil for none
	// list has the conversations of the query. With isWhole it is empty, because the query is about all conversations
	// in view.
	list    []store.Conversation
	isWhole bool
	// wanted has the conversations in list by their keys in the index; nil with isWhole.
	wanted map[string]*store.Conversation
	unread map[transcript.ID]*Problem // conversations that could not be read just now
	missed int                        // the number of conversations in list that could not be read at all
	found  map[string]*Matched        // by their keys in the index
}

// newQuery begins a query. It reads nothing.
func (l *Library) newQuery(f *Filter, omitted *Omitted) (*query, error) {
	q := &query{Library: l, lists: cmp.Or(l.lists, &lists{forgotten: l.settings.forgotten}), filter: f, omitted: omitted}
	for _, s := range l.stores {
		if f.includes(s.Name()) {
			q.sources = append(q.sources, &source{Store: s, library: l, index: l.indexes.of(l.settings, s), found: map[string]*Matched{}})
		}
	}
	var err1, err2, err3 error
	q.ids, err1 = l.parseIDs(f.IDs)
	q.exclude, err2 = l.parseIDs(f.Exclude)
	q.relatives, err3 = l.parseIDs(f.RelativesOf)
	return q, cmp.Or(err1, err2, err3)
}

// end closes the lists of the query.
func (q *query) end() {
	if q.lists != q.Library.lists {
		q.lists.close()
	}
}

// parseIDs returns ids, each once.
func (l *Library) parseIDs(texts []string) (ids []transcript.ID, err error) {
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

// parseID reads an id of a store in the library, or else of another kind of store.
func (l *Library) parseID(text string) (id transcript.ID, err error) {
	err = &BadIDError{Text: text, Reason: "there is no store of conversations"}
	for _, s := range l.stores {
		if id, err = s.ParseID(text); err == nil {
			return id, nil
		}
	}
	if k := claimant(text); k != nil && len(l.stores) > 0 {
		return k.parseID(text)
	}
	return id, err
}

// pick lists the stores and keeps the conversations that the filter selects.
func (q *query) pick(ctx context.Context) error {
	if err := q.list(ctx); err != nil {
		return err
	}
	isNamed := len(q.ids) > 0
	for _, s := range q.sources {
		excluded := map[transcript.ID]bool{}
		if !isNamed {
			excluded = relatives(s.list, q.relatives)
		}
		s.list = slices.DeleteFunc(s.list, func(c store.Conversation) bool {
			switch {
			case !hasLabels(c.Labels, q.filter.Labels), !q.filter.hasSource(cmp.Or(c.Source, jp.Name)):
				return true
			case c.Hidden && !q.filter.Hidden && !isNamed:
				q.omitted.Hidden++
				return true
			case excluded[c.ID], slices.Contains(q.exclude, c.ID):
				q.omitted.Excluded = append(q.omitted.Excluded, c.ID)
				return true
			}
			return false
		})
	}
	return q.pickChanged(ctx)
}

// list lists the conversations of each store whose list is not complete yet: those with the ids of the filter, or
// if it has none its live or archived ones. A home and a copy of it have the same conversations: only those of the
// first store are kept. If a store cannot be listed, the problem is noted; the error is an [*UnavailableError] if
// it is the only store.
func (q *query) list(ctx context.Context) error {
	problems, seen := q.switchedOff(), map[transcript.ID]bool{}
	isNew := func(id transcript.ID) bool { return !seen[id] }
	isNamed, isEmpty := len(q.ids) > 0, true
	for _, s := range q.sources {
		if s.isWhole {
			isEmpty = false
			continue
		}
		scope := store.Scope{Set: q.filter.set(), IDs: filtered(q.ids, isNew)}
		if isNamed && len(scope.IDs) == 0 {
			break
		}
		found, unread, err := q.lists.of(ctx, s.Store, scope)
		if err != nil && (len(q.sources) == 1 || ctx.Err() != nil) {
			return &UnavailableError{Path: s.Place(), Err: err}
		}
		if err != nil {
			unread = append(unread, Problem{Path: s.Place(), Err: err})
		}
		q.addTitles(ctx, s, found, !isNamed)
		found = append(found, q.indexed(s, scope, found, unread)...)
		problems = append(problems, withSource(s, unread)...)
		s.list = filtered(found, func(c store.Conversation) bool {
			return isNew(c.ID) && (!isNamed || slices.Contains(scope.IDs, c.ID))
		})
		for i := range s.list {
			seen[s.list[i].ID] = true
		}
		isEmpty = isEmpty && len(s.list) == 0 && IsProgram(s.Name())
	}
	if isNamed {
		return cmp.Or(q.named(ctx, filtered(q.ids, isNew), problems), ctx.Err())
	}
	q.omitted.Problems = append(q.omitted.Problems, problems...)
	if isEmpty && len(q.omitted.Problems) == 0 {
		return cmp.Or(q.Nothing(ctx), ctx.Err())
	}
	return ctx.Err()
}

// filtered returns the values for which keep returns true.
func filtered[T any](list []T, keep func(T) bool) (kept []T) {
	for _, v := range list {
		if keep(v) {
			kept = append(kept, v)
		}
	}
	return kept
}

// switchedOff returns a problem for each kind of store in the query that the user has switched off.
func (q *query) switchedOff() (off []Problem) {
	for _, name := range q.settings.Off {
		isOf := func(id transcript.ID) bool { return cmp.Or(SourceOf(id), jp.Name) == name }
		if slices.Contains(q.filter.Sources, name) || slices.ContainsFunc(q.ids, isOf) {
			off = append(off, Problem{Source: name, Kind: SwitchedOff, Path: q.settings.file, Err: fmt.Errorf("%s is switched off", name)})
		}
	}
	return off
}

// withSource returns problems with the name of their store.
func withSource(s store.Store, problems []Problem) []Problem {
	for i := range problems {
		problems[i].Source = s.Name()
	}
	return problems
}

// maxNearest is the number of ids that an error suggests.
const maxNearest = 20

// named adds the problems of the named conversations, except those of single fields. The error is for missing
// conversations; problems are those of looking for them.
func (q *query) named(ctx context.Context, missing []transcript.ID, problems []Problem) error {
	for _, s := range q.sources {
		for i := range s.list {
			isWhole := func(p Problem) bool { return p.Kind != BadField }
			q.omitted.Problems = append(q.omitted.Problems, filtered(s.list[i].Problems, isWhole)...)
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
			e.Unread = append(e.Unread, p)
		}
	}
	for _, s := range q.sources {
		all, _, _ := q.lists.of(ctx, s.Store, everything) // its error is among the problems
		for _, id := range missing {
			for _, near := range store.Nearest(id, all) {
				if len(e.Nearest) < maxNearest && !slices.Contains(e.Nearest, near) {
					e.Nearest = append(e.Nearest, near)
				}
			}
		}
	}
	return cmp.Or(ctx.Err(), q.Nothing(ctx), error(e))
}

// badFields returns the problems with single fields in the metadata of a conversation.
func badFields(c *store.Conversation) []Problem {
	return filtered(c.Problems, func(p Problem) bool { return p.Kind == BadField })
}

// set returns the set of conversations of a filter.
func (f *Filter) set() store.Set {
	switch {
	case f.Both:
		return everything.Set
	case f.Archived:
		return store.Archived
	}
	return store.Live
}

// hasSource reports whether a filter selects conversations of a kind of store.
func (f *Filter) hasSource(source string) bool {
	return len(f.Sources) == 0 || slices.Contains(f.Sources, source)
}

// includes reports whether a query with the filter looks into a kind of store. It looks into an archive only if that
// is named, or one of its ids.
func (f *Filter) includes(source string) bool {
	switch {
	case len(f.IDs) == 0 && len(f.Sources) == 0:
		return IsProgram(source)
	case len(f.IDs) == 0:
		return f.hasSource(source) || !slices.Contains(Sources(), source) // a store with conversations of any kind
	case !IsProgram(source):
		return slices.ContainsFunc(f.IDs, func(id string) bool { return SourceOf(transcript.ID(id)) == source })
	}
	return true
}

func hasLabels(labels map[string]string, wanted []Label) bool {
	return !slices.ContainsFunc(wanted, func(l Label) bool {
		value, ok := labels[l.Key]
		return !ok || l.Value != nil && value != *l.Value
	})
}

// relatives returns the ancestors and descendants of conversations: their sub-agents, forks, and the ones that they
// were begun or forked from.
func relatives(all []store.Conversation, of []transcript.ID) map[transcript.ID]bool {
	found, parents := map[transcript.ID]bool{}, map[transcript.ID]transcript.ID{}
	for i := range all {
		parents[all[i].ID] = all[i].Parent
	}
	ancestors := func(id transcript.ID) (ids []transcript.ID) {
		for at := parents[id]; at != "" && !slices.Contains(ids, at); at = parents[at] {
			ids = append(ids, at)
		}
		return ids
	}
	for _, id := range of {
		for _, ancestor := range ancestors(id) {
			found[ancestor] = true
		}
		for i := range all {
			found[all[i].ID] = found[all[i].ID] || slices.Contains(ancestors(all[i].ID), id)
		}
	}
	for _, id := range of {
		delete(found, id)
	}
	return found
}

// everything is the scope of all conversations of a store.
var everything = store.Scope{Set: store.Live | store.Archived}

// lists are lists of stores, for one query or for several queries of one call.
type lists struct {
	forgotten copies.Forgotten // these are left out

	mu    sync.Mutex
	whole map[listed]*store.Listing // of all conversations in a set
	open  []*store.Listing
}

// listed is a set of the conversations of a store.
type listed struct {
	store store.Store
	set   store.Set
}

// close closes the lists.
func (l *lists) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.open {
		one.Close()
	}
	l.open, l.whole = nil, nil
}

// of returns the conversations of a scope, from an earlier list if there is one. The caller may change them.
func (l *lists) of(ctx context.Context, s store.Store, scope store.Scope) ([]store.Conversation, []Problem, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key, isWhole := listed{s, scope.Set}, len(scope.IDs) == 0
	list := l.whole[key]
	if list == nil || !isWhole {
		var err error
		if list, err = s.List(ctx, scope); err != nil {
			return nil, nil, err
		}
		l.open = append(l.open, list)
	}
	if l.whole == nil {
		l.whole = map[listed]*store.Listing{}
	}
	if isWhole {
		l.whole[key] = list
	}
	isKnown := func(c store.Conversation) bool { return !l.forgotten[c.ID] }
	return filtered(list.Conversations, isKnown), slices.Clone(list.Problems), nil
}
