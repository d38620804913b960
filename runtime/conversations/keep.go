package conversations

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/copies"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// Kept has the numbers of conversations and the problems of copying the conversations of a kind of store.
type Kept struct {
	New, Updated, Unchanged int
	Forgotten               int // not copied, because the user has forgotten them
	Problems                []Problem
}

// Keepable returns the kinds of stores whose conversations can be copied: those of programs but JP, which keeps its own
// in the project.
func Keepable() []string {
	return slices.DeleteFunc(Sources(), func(name string) bool { return name == jp.Name || !IsProgram(name) })
}

// Keep copies the conversations of a kind of store, of all projects that the settings do not exclude, into the user's
// data directory, for good. If dry is set, it only counts. It calls progress with the number of conversations of a store
// that are done, and the number of all in the store. The error is that of the settings, of a store that cannot be
// listed, or of the context; a conversation that cannot be copied is a problem of the result.
func (o Options) Keep(ctx context.Context, source string, dry bool, progress func(done, all int)) (kept Kept, err error) {
	set, err := readSettings(&o)
	if err != nil {
		return kept, err
	}
	w, err := copies.Create(o.env(), source, dry)
	if err != nil {
		return kept, err
	}
	k := kindNamed(source)
	places, err := k.places(&o, set, set.project(&o, true))
	if err != nil {
		return kept, err
	}
	seen := map[transcript.ID]bool{}
	for _, placed := range places {
		if _, isCopies := placed.store.(*copies.Store); placed.store == nil || isCopies {
			continue
		}
		listing, err := placed.store.List(ctx, everything)
		if err != nil {
			return kept, err
		}
		kept.Problems = append(kept.Problems, withSource(placed.store, listing.Problems)...)
		for i := range listing.Conversations {
			progress(i, len(listing.Conversations))
			if c := &listing.Conversations[i]; !seen[c.ID] && ctx.Err() == nil {
				seen[c.ID] = true
				kept.copy(ctx, w, c, set.forgotten[c.ID])
			}
		}
		listing.Close()
	}
	return kept, ctx.Err()
}

// copy copies a conversation with a writer, unless it is forgotten, and counts the outcome or adds the problem.
func (k *Kept) copy(ctx context.Context, w *copies.Writer, c *store.Conversation, isForgotten bool) {
	if isForgotten {
		k.Forgotten++
		return
	}
	outcome, err := w.Put(ctx, c)
	if err != nil {
		k.Problems = append(k.Problems, Problem{ID: c.ID, Source: c.Source, Err: err})
		return
	}
	switch outcome {
	case archive.New:
		k.New++
	case archive.Updated:
		k.Updated++
	case archive.Unchanged:
		k.Unchanged++
	}
}

// Forget makes all queries leave out some conversations from now on. It removes the copies of the conversations, and
// erases the conversations from the indexes. The files of the program that recorded them stay.
func (l *Library) Forget(ctx context.Context, o Options, ids ...transcript.ID) error {
	forgotten, err := copies.ReadForgotten(o.env())
	if err != nil {
		return err
	}
	for _, id := range ids {
		forgotten[id] = true
	}
	// This comes first: if it fails, the conversations keep their copies.
	if err := forgotten.Write(o.env()); err != nil {
		return err
	}
	for _, id := range ids {
		if w, err := copies.Create(o.env(), SourceOf(id), true); err != nil { // dry: it makes no directory, but can remove
			return err
		} else if _, err := w.Remove(id); err != nil {
			return err
		}
	}
	for _, s := range l.stores {
		if err := l.purge(ctx, s, ids); err != nil {
			return err
		}
	}
	return nil
}

// purge erases conversations and all cached titles from the index of a store, and makes the next query list the store
// anew. It does nothing if there is no index, or it is damaged, or it has none of the conversations.
func (l *Library) purge(ctx context.Context, s store.Store, ids []transcript.ID) error {
	x := l.indexes.ofStore(l.settings, s)
	view, err := x.View()
	if _, isDamaged := errors.AsType[*index.DamageError](err); isDamaged || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	isThere := func(id transcript.ID) bool { return view.Lookup(string(id)) != nil }
	if !slices.ContainsFunc(ids, isThere) {
		return nil
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
	note.Version = "" // so that the store is listed
	state, err := json.Marshal(note)
	if err != nil {
		return err
	}
	return w.Commit(ctx, index.State{Note: string(state), Updated: l.now().Unix()}, nil)
}
