package conversations

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// asking is a query to the stores of a library in progress.
type asking struct {
	*Library
	listed              *listings
	filter              *Filter
	ids, exclude, kinOf []transcript.ID // of the filter
	sources             []*source
	aside               *Aside
}

// source is a store in a query.
type source struct {
	store.Store
	index *index.Index
	view  *index.View // the index as it is when the query begins; nil for none
	// list has the conversations of the query, and wanted the same by their keys in the index. Both are empty if
	// isWhole: the query is then about all conversations in view.
	list    []store.Conversation
	wanted  map[string]*store.Conversation
	isWhole bool

	unread map[transcript.ID]*Problem // conversations that could not be read just now
	missed int                        // the number of conversations in list that could not be read at all
}

// ask begins a query. It reads nothing.
func (l *Library) ask(f *Filter, aside *Aside) (*asking, error) {
	a := &asking{Library: l, listed: l.listed, filter: f, aside: aside}
	if a.listed == nil {
		a.listed = &listings{}
	}
	for _, s := range l.stores {
		if f.asks(s.Name()) {
			a.sources = append(a.sources, &source{Store: s, index: l.indexes.of(s)})
		}
	}
	var err1, err2, err3 error
	a.ids, err1 = l.parseIDs(f.IDs)
	a.exclude, err2 = l.parseIDs(f.Exclude)
	a.kinOf, err3 = l.parseIDs(f.KinOf)
	return a, cmp.Or(err1, err2, err3)
}

// done closes the listings of the query.
func (a *asking) done() {
	if a.Library.listed == nil {
		a.listed.close()
	}
}

// parseIDs returns ids, each once. It reads ids of the stores in the library first, then of other kinds of stores.
func (l *Library) parseIDs(texts []string) ([]transcript.ID, error) {
	var ids []transcript.ID
	seen := map[transcript.ID]bool{}
	for _, text := range texts {
		var id transcript.ID
		var err error = &BadIDError{Text: text, Reason: "there is no store of conversations"}
		for _, s := range l.stores {
			if id, err = s.ParseID(text); err == nil {
				break
			}
		}
		if k := claimant(text); err != nil && k != nil && len(l.stores) > 0 {
			id, err = k.parseID(text)
		}
		if err != nil {
			return nil, err
		}
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// pick lists the stores and keeps the conversations that the filter lets through.
func (a *asking) pick(ctx context.Context) error {
	if err := a.list(ctx); err != nil {
		return err
	}
	f, isNamed := a.filter, len(a.ids) > 0
	for _, s := range a.sources {
		exclude := map[transcript.ID]bool{}
		if !isNamed {
			exclude = kin(s.list, a.kinOf)
		}
		for _, id := range a.exclude {
			exclude[id] = true
		}
		s.list = slices.DeleteFunc(s.list, func(c store.Conversation) bool {
			switch {
			case !hasLabels(c.Labels, f.Labels), !f.from(cmp.Or(c.Source, jp.Name)):
				return true
			case c.Hidden && !f.Hidden && !isNamed:
				a.aside.Hidden++
				return true
			case exclude[c.ID]:
				a.aside.Excluded = append(a.aside.Excluded, c.ID)
				return true
			}
			return false
		})
	}
	return nil
}

// list lists the stores that are not whole: live or archived conversations as the filter has it, or the named ones.
// If several stores have a conversation, as a home and a copy of it, the first one counts.
func (a *asking) list(ctx context.Context) error {
	problems := a.switchedOff()
	isNamed, seen, isEmpty := len(a.ids) > 0, map[transcript.ID]bool{}, true
	for _, s := range a.sources {
		if s.isWhole {
			isEmpty = false
			continue
		}
		left := slices.DeleteFunc(slices.Clone(a.ids), func(id transcript.ID) bool { return seen[id] })
		if isNamed && len(left) == 0 {
			break
		}
		scope := store.Scope{Set: a.filter.set(), IDs: left}
		found, more, err := a.listOne(ctx, s, scope)
		if err != nil && (len(a.sources) == 1 || ctx.Err() != nil) {
			return &UnavailableError{Path: s.Place(), Err: err}
		}
		if err != nil {
			more = append(more, Problem{Path: s.Place(), Err: err})
		}
		found = append(found, a.aged(s, scope, found, more)...)
		problems = append(problems, of(s, more)...)
		s.list = slices.DeleteFunc(found, func(c store.Conversation) bool {
			if seen[c.ID] || isNamed && !slices.Contains(left, c.ID) {
				return true
			}
			seen[c.ID] = true
			return false
		})
		isEmpty = isEmpty && len(s.list) == 0 && IsProgram(s.Name())
	}
	if isNamed {
		return cmp.Or(a.named(ctx, seen, problems), ctx.Err())
	}
	a.aside.Problems = append(a.aside.Problems, problems...)
	if isEmpty && len(a.aside.Problems) == 0 {
		return cmp.Or(a.Nothing(ctx), ctx.Err())
	}
	return ctx.Err()
}

// listOne lists a scope of a store, and sets titles.
func (a *asking) listOne(ctx context.Context, s *source, scope store.Scope) ([]store.Conversation, []Problem, error) {
	found, problems, err := a.listed.list(ctx, s.Store, scope)
	if err == nil {
		a.entitle(ctx, s, found, len(scope.IDs) == 0)
	}
	return found, problems, err
}

// switchedOff returns a problem for each kind of store in the query that the user has switched off.
func (a *asking) switchedOff() (off []Problem) {
	if a.settings == nil {
		return nil
	}
	for _, name := range a.settings.Off {
		isOf := func(id transcript.ID) bool { return cmp.Or(SourceOf(id), jp.Name) == name }
		if slices.Contains(a.filter.Sources, name) || slices.ContainsFunc(a.ids, isOf) {
			off = append(off, Problem{Source: name, Kind: SwitchedOff, Path: a.settings.file, Err: fmt.Errorf("%s is switched off", name)})
		}
	}
	return off
}

// of returns problems with the name of their store.
func of(s store.Store, problems []Problem) []Problem {
	for i := range problems {
		problems[i].Source = s.Name()
	}
	return problems
}

// maxNearest is the number of ids that an error suggests.
const maxNearest = 20

// named adds the problems of the named conversations, except those of single fields. The error is for conversations
// that were not found; problems are those of looking for them.
func (a *asking) named(ctx context.Context, found map[transcript.ID]bool, problems []Problem) error {
	for _, s := range a.sources {
		for i := range s.list {
			others := slices.DeleteFunc(slices.Clone(s.list[i].Problems), func(p Problem) bool { return p.Kind == BadField })
			a.aside.Problems = append(a.aside.Problems, others...)
		}
	}
	missing := slices.DeleteFunc(slices.Clone(a.ids), func(id transcript.ID) bool { return found[id] })
	if len(missing) == 0 {
		return nil
	}
	e := &NotFoundError{IDs: missing, Place: a.place}
	for _, p := range problems {
		if slices.Contains(missing, p.ID) {
			return fmt.Errorf("looking for conversation %s: %s: %w", p.ID, p.Path, p.Err)
		}
		if p.ID == "" {
			e.Unread = append(e.Unread, p)
		}
	}
	for _, s := range a.sources {
		all, _, err := a.listed.list(ctx, s.Store, store.Scope{Set: store.Live | store.Archived})
		if err != nil {
			continue // its error is among the problems
		}
		for _, id := range missing {
			for _, near := range store.Nearest(id, all) {
				if len(e.Nearest) < maxNearest && !slices.Contains(e.Nearest, near) {
					e.Nearest = append(e.Nearest, near)
				}
			}
		}
	}
	return cmp.Or(ctx.Err(), a.Nothing(ctx), error(e))
}

// badFields returns the problems with single fields in the metadata of a conversation.
func badFields(c *store.Conversation) []Problem {
	return slices.DeleteFunc(slices.Clone(c.Problems), func(p Problem) bool { return p.Kind != BadField })
}

// set returns the set of conversations of a filter.
func (f *Filter) set() store.Set {
	switch {
	case f.Both:
		return store.Live | store.Archived
	case f.Archived:
		return store.Archived
	}
	return store.Live
}

// from reports whether a filter includes a kind of store.
func (f *Filter) from(source string) bool {
	return len(f.Sources) == 0 || slices.Contains(f.Sources, source)
}

// asks reports whether a query with the filter looks into a kind of store. It looks into an archive only if that is
// named, or one of its ids.
func (f *Filter) asks(source string) bool {
	switch {
	case len(f.IDs) == 0 && len(f.Sources) == 0:
		return IsProgram(source)
	case len(f.IDs) == 0:
		return f.from(source) || !slices.Contains(Sources(), source) // a store with conversations of any kind
	case !IsProgram(source):
		return slices.ContainsFunc(f.IDs, func(id string) bool { return SourceOf(transcript.ID(id)) == source })
	}
	return true
}

func hasLabels(labels map[string]string, wanted []Label) bool {
	for _, want := range wanted {
		value, ok := labels[want.Key]
		if !ok || want.Value != nil && value != *want.Value {
			return false
		}
	}
	return true
}

// kin returns the ancestors and descendants of conversations: their sub-agents, forks, and the ones that they were
// begun or forked from.
func kin(all []store.Conversation, of []transcript.ID) map[transcript.ID]bool {
	found := map[transcript.ID]bool{}
	if len(of) == 0 {
		return found
	}
	parents, children := map[transcript.ID]transcript.ID{}, map[transcript.ID][]transcript.ID{}
	for i := range all {
		if c := &all[i]; c.Parent != "" {
			parents[c.ID] = c.Parent
			children[c.Parent] = append(children[c.Parent], c.ID)
		}
	}
	for _, id := range of {
		for at := parents[id]; at != "" && !found[at]; at = parents[at] {
			found[at] = true
		}
	}
	down := map[transcript.ID]bool{}
	for left := slices.Clone(of); len(left) > 0; {
		id := left[len(left)-1]
		left = left[:len(left)-1]
		if !down[id] {
			down[id], found[id] = true, true
			left = append(left, children[id]...)
		}
	}
	for _, id := range of {
		delete(found, id)
	}
	return found
}

// listings are the lists of stores, for one query or for several queries of one call.
type listings struct {
	mu   sync.Mutex
	sets map[listedSet]*store.Listing // complete ones
	open []*store.Listing
}

// listedSet is a set of the conversations of a store.
type listedSet struct {
	store store.Store
	set   store.Set
}

// close closes the listings.
func (l *listings) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.open {
		one.Close()
	}
	l.open, l.sets = nil, nil
}

// list returns the conversations of a scope, from an earlier list if there is one. The caller may change them.
func (l *listings) list(ctx context.Context, s store.Store, scope store.Scope) ([]store.Conversation, []Problem, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := listedSet{s, scope.Set}
	done := l.sets[key]
	if done == nil || len(scope.IDs) > 0 {
		var err error
		if done, err = s.List(ctx, scope); err != nil {
			return nil, nil, err
		}
		l.open = append(l.open, done)
	}
	if l.sets == nil {
		l.sets = map[listedSet]*store.Listing{}
	}
	if len(scope.IDs) == 0 {
		l.sets[key] = done
	}
	return slices.Clone(done.Conversations), slices.Clone(done.Problems), nil
}
