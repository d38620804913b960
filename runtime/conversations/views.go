package conversations

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// view is the index of a store, brought up to date for one query.
type view struct {
	store store.Store
	index *index.View
	// wanted are the conversations that are searched, by key; nil where these are all that the
	// index has.
	wanted map[string]*store.Conversation
	// before are the stores of the kind that come first: of a conversation that several have, that of
	// the first one counts.
	before views
	unread int // of those that are searched, how many could not be read

	refreshed *refreshing // what brought the index up to date
}

// views are the indexes that a query looks into.
type views []*view

// views brings the indexes of the stores that a filter lets through up to date, and returns them
// with what is searched in each. Where not all has to be listed, the conversations of a store that has
// not changed since it was indexed are known from the index alone.
func (l *Library) views(ctx context.Context, f *Filter, listAll bool, aside *Aside) (opened views, err error) {
	if _, err := l.parseIDs(slices.Concat(f.IDs, f.Exclude, f.KinOf)); err != nil {
		return nil, err // before anything is read
	}
	listed, done := l.listing()
	defer done()
	refreshed, err := l.refresh(ctx, f, listed, aside)
	if err != nil {
		return nil, err
	}
	whole := map[store.Store]bool{}
	for _, r := range refreshed {
		s := r.store
		of, err := r.index.View()
		var damage *index.DamageError
		if errors.As(err, &damage) {
			return opened, err
		}
		if err != nil {
			if r.Err == nil {
				aside.Problems = append(aside.Problems, Problem{Source: s.Name(), Path: s.Place(), Err: err})
			}
			continue
		}
		v := &view{store: s, index: of, refreshed: r}
		for _, b := range opened {
			if b.store.Name() == s.Name() {
				v.before = append(v.before, b)
			}
		}
		opened = append(opened, v)
		whole[s] = !listAll && l.isWhole(ctx, v, f)
	}
	o := l.ask(f, listed, func(s store.Store) bool { return whole[s] })
	if len(o.stores) == 0 && o.answered {
		aside.Problems = append(aside.Problems, o.off...)
		return opened, nil
	}
	o.from = map[transcript.ID]store.Store{}
	found, err := o.pick(ctx, *f, aside)
	if err != nil {
		return opened, err
	}
	for _, v := range opened {
		if whole[v.store] {
			continue
		}
		v.wanted = map[string]*store.Conversation{}
		for i := range found {
			if id := found[i].ID; o.from[id] == v.store {
				v.wanted[string(id)] = &found[i]
			}
		}
		if err := v.problems(aside); err != nil {
			return opened, err
		}
	}
	return opened, ctx.Err()
}

// isWhole reports whether an index has just what a filter lets through of its store, so that the
// store is not listed.
func (l *Library) isWhole(ctx context.Context, v *view, f *Filter) bool {
	var note indexNote
	if len(f.IDs)+len(f.Labels) > 0 || json.Unmarshal([]byte(v.index.State().Note), &note) != nil || note.Version == "" {
		return false
	}
	ids, err := l.parseIDs(slices.Concat(f.Exclude, f.KinOf))
	if err != nil || slices.ContainsFunc(ids, func(id transcript.ID) bool {
		return v.index.Lookup(string(id)) != nil
	}) {
		return false // or it may be next of kin to one that it has
	}
	version, err := v.store.Version(ctx)
	if err != nil || version != note.Version {
		return false
	}
	l.some.Store(true)
	return true
}

// problems adds what could not be read of the conversations that are searched.
func (v *view) problems(aside *Aside) error {
	for _, key := range sortedKeys(v.wanted) {
		c := v.index.Lookup(key)
		id := transcript.ID(key)
		problem := Problem{ID: id, Kind: Unreadable, Err: errUnread}
		if p := v.refreshed.unread[id]; p != nil {
			problem = *p
		} else if c != nil {
			f := readFacts(c)
			if f.Read || f.Why == "" { // of the latter its owner counts nothing, and all of it was read
				continue
			}
			problem = f.problem(id)
		}
		problem.Source = v.wanted[key].Source
		if problem.Kind == Unreadable {
			v.unread++
		}
		aside.Problems = append(aside.Problems, problem)
	}
	return nil
}

// errUnread is why a conversation has no messages in an index, where nothing else is known.
var errUnread = errors.New("it cannot be read")

func sortedKeys(wanted map[string]*store.Conversation) []string {
	keys := make([]string, 0, len(wanted))
	for key := range wanted {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return transcript.ID(a).Compare(transcript.ID(b)) })
	return keys
}

// filter is has; nil where all conversations of the index are searched.
func (v *view) filter() func(key string) bool {
	if v.wanted == nil && len(v.before) == 0 {
		return nil
	}
	return v.has
}

// has reports whether a conversation of the index, by its key, is searched.
func (v *view) has(key string) bool {
	if v.wanted != nil && v.wanted[key] == nil {
		return false
	}
	return !slices.ContainsFunc(v.before, func(b *view) bool {
		if b.wanted != nil {
			return b.wanted[key] != nil
		}
		return b.index.Lookup(key) != nil
	})
}

// conversation returns a conversation of the index that is searched, as far as it is known: all
// that is listed, or id, title, source and the time of the last event.
func (v *view) conversation(c *index.Conversation) *Listed {
	f := readFacts(c)
	l := &Listed{Events: f.Events, LastEventAt: f.LastAt, Size: &f.Size}
	if known := v.wanted[c.Key]; known != nil {
		l.Conversation = known.Conversation
	} else {
		l.Conversation = *f.conversation(c)
	}
	return l
}
