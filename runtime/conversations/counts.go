package conversations

import (
	"context"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/transcript"
)

// counts is what is counted by reading all events of a conversation, which its store keeps
// until they change.
type counts struct {
	Events    int
	LastAt    time.Time
	BadTime   bool
	Uncounted string // why the events cannot be counted; empty where they can
	Size      *Size  // nil where it was not asked for
}

// keptCounts returns what is kept of a conversation, if anything.
func keptCounts(of *store.Conversation) (c counts, ok bool) {
	k, ok := of.Record.(store.Keeper)
	if !ok {
		return c, false
	}
	data, ok := k.Kept()
	if !ok {
		return c, false
	}
	return c, facts.Decode(data, c.walk)
}

func (c *counts) walk(kept *facts.Coder) {
	facts.Int(kept, &c.Events)
	kept.Time(&c.LastAt)
	kept.Bool(&c.BadTime)
	facts.Text(kept, &c.Uncounted)
	sized := c.Size != nil
	if kept.Bool(&sized); !sized {
		return
	}
	if c.Size == nil {
		c.Size = &Size{}
	}
	facts.Int(kept, &c.Size.Turns, &c.Size.Requests, &c.Size.Numbered, &c.Size.Chars)
}

// keep has what was counted kept.
func (c *counts) keep(of *store.Conversation) {
	k, ok := of.Record.(store.Keeper)
	if !ok {
		return
	}
	if old, ok := keptCounts(of); ok && c.Size == nil && old.Size != nil {
		return
	}
	k.Keep(facts.Encode(c.walk))
}

// indexCounts is what the indexes of some stores have counted.
type indexCounts struct {
	stores []indexedStore
	from   map[transcript.ID]store.Store // of what is listed
}

// indexedStore is a store and its index. It is whole where the index has all of the store.
type indexedStore struct {
	store store.Store
	view  *index.View
	whole bool
}

// indexCounts returns what the indexes of some stores have counted. It is asked before anything is listed.
func (l *Library) indexCounts(ctx context.Context, o *asking) *indexCounts {
	in := &indexCounts{from: map[transcript.ID]store.Store{}}
	for _, s := range o.stores {
		view, err := l.indexes.of(s).View()
		if err != nil {
			continue // there is none, or it cannot be used: the store is read
		}
		of := indexedStore{store: s, view: view}
		if note, ok := noteOf(view); ok && note.Version != "" {
			version, err := s.Version(ctx)
			of.whole = err == nil && version == note.Version
		}
		in.stores = append(in.stores, of)
		o.from = in.from
	}
	return in
}

func (in *indexCounts) close() {
	for _, s := range in.stores {
		s.view.Close()
	}
}

// counts returns what an index has counted of a conversation, if it has it as it is.
func (in *indexCounts) counts(ctx context.Context, c *store.Conversation) (counts, bool) {
	at := slices.IndexFunc(in.stores, func(s indexedStore) bool { return s.store == in.from[c.ID] })
	if at < 0 {
		return counts{}, false
	}
	of := &in.stores[at]
	entry, err := of.view.Lookup(string(c.ID))
	if err != nil || entry == nil {
		return counts{}, false
	}
	if !of.whole {
		if version, err := indexVersion(ctx, c); err != nil || version != entry.Version {
			return counts{}, false
		}
	}
	f := readFacts(entry)
	size := &Size{Turns: f.Size[0], Requests: f.Size[1], Numbered: f.Size[2], Chars: f.Size[3]}
	return counts{Events: f.Events, LastAt: f.LastAt, BadTime: f.BadTime, Uncounted: f.Uncounted, Size: size}, f.Read
}
