package conversations

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/copies"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// Kept is the result of copying the conversations of a kind of store.
type Kept struct {
	New, Updated, Unchanged int
	Forgotten               int // that the user has forgotten, and that are not copied
	Problems                []Problem
}

// Keepable returns the kinds of stores whose conversations can be copied: those of programs but JP, which keeps its own
// in the project.
func Keepable() []string {
	return slices.DeleteFunc(Sources(), func(name string) bool { return name == jp.Name || !IsProgram(name) })
}

// Keep copies the conversations of a kind of store, of all projects, into the user's data directory, for good. It does
// not copy what the settings exclude. If dry is set, it only counts. progress is called with the number of
// conversations that are done and of all.
func (o Options) Keep(ctx context.Context, source string, dry bool, progress func(done, all int)) (kept Kept, err error) {
	set, err := readSettings(&o)
	if err != nil {
		return kept, err
	}
	w, err := copies.Create(o.env(), source, dry)
	if err != nil {
		return kept, err
	}
	kinds := kinds()
	k := &kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == source })]
	places, err := k.places(&o, set, set.project(&o, true))
	seen := map[transcript.ID]bool{}
	for _, at := range places {
		if _, isCopies := at.store.(*copies.Store); at.store == nil || isCopies {
			continue
		}
		listing, err := at.store.List(ctx, everything)
		if err != nil {
			return kept, err
		}
		kept.Problems = append(kept.Problems, withSource(at.store, listing.Problems)...)
		for i := range listing.Conversations {
			progress(i, len(listing.Conversations))
			if c := &listing.Conversations[i]; !seen[c.ID] && ctx.Err() == nil {
				seen[c.ID] = true
				kept.put(ctx, w, c, set.forgotten[c.ID])
			}
		}
		listing.Close()
	}
	return kept, errors.Join(err, ctx.Err())
}

// put copies a conversation, and counts it.
func (k *Kept) put(ctx context.Context, w *copies.Writer, c *store.Conversation, isForgotten bool) {
	if isForgotten {
		k.Forgotten++
		return
	}
	outcome, err := w.Put(ctx, c)
	if err != nil {
		k.Problems = append(k.Problems, Problem{ID: c.ID, Source: c.Source, Err: err})
		return
	}
	*map[copies.Outcome]*int{copies.New: &k.New, copies.Updated: &k.Updated, copies.Unchanged: &k.Unchanged}[outcome]++
}

// Forget leaves conversations out of everything from now on: it removes their copies, and what the indexes have of
// them. The files of the program that recorded them stay.
func (l *Library) Forget(ctx context.Context, o Options, ids ...transcript.ID) error {
	forgotten, err := copies.ReadForgotten(o.env())
	if err != nil {
		return err
	}
	if forgotten == nil {
		forgotten = copies.Forgotten{}
	}
	for _, id := range ids {
		forgotten[id] = true
		if w, err := copies.Create(o.env(), SourceOf(id), true); err != nil {
			return err
		} else if _, err := w.Remove(id); err != nil {
			return err
		}
	}
	if err := forgotten.Write(o.env()); err != nil {
		return err
	}
	for _, s := range l.stores {
		if err := l.purge(ctx, s, ids); err != nil {
			return err
		}
	}
	return nil
}

// purge removes conversations from the index of a store, with the cached titles of the store.
func (l *Library) purge(ctx context.Context, s store.Store, ids []transcript.ID) error {
	x := l.indexes.of(l.settings, s)
	view, err := x.View()
	isThere := func(id transcript.ID) bool { return view.Lookup(string(id)) != nil }
	var damage *index.DamageError
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &damage) || err == nil && !slices.ContainsFunc(ids, isThere) {
		return nil
	}
	if err != nil {
		return err
	}
	w, err := x.Write(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	for _, id := range ids {
		w.Delete(string(id))
	}
	w.Purge()
	note, _ := noteOf(view)
	note.Version = ""
	state, err := json.Marshal(note)
	if err != nil {
		return err
	}
	return w.Commit(ctx, index.State{Note: string(state), Updated: l.now().Unix()}, nil)
}

// Remember takes back that conversations are forgotten, and returns those that were.
func (o Options) Remember(ids ...transcript.ID) (known []transcript.ID, err error) {
	forgotten, err := copies.ReadForgotten(o.env())
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if forgotten[id] {
			known = append(known, id)
		}
		delete(forgotten, id)
	}
	return known, forgotten.Write(o.env())
}
