package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/convtools/convtools/runtime/transcript"
)

// Set selects live or archived conversations, or both with Live|Archived.
type Set uint8

// The sets.
const (
	Live Set = 1 << iota
	Archived
)

// Locality says which stores hold a conversation.
type Locality string

// The localities, spelled as JP lists them.
const (
	LocalityUser      Locality = "Y"   // only the user store
	LocalityProjected Locality = "N"   // both stores
	LocalityExternal  Locality = "ext" // only the project's store
)

// Conversation is one conversation of a workspace. It is safe for concurrent
// use.
type Conversation struct {
	ID       transcript.ID
	Metadata Metadata
	Archived bool
	Locality Locality
	// MetadataErr says why metadata.json could not be used. Only Find returns
	// such a conversation; its Metadata is zero.
	MetadataErr error

	ws    *Workspace
	place place
}

// Skipped is a conversation, or a directory, that could not be used.
type Skipped struct {
	ID     transcript.ID // 0 when it is a whole store
	Path   string        // the directory
	Reason string
}

// maxRelists is how often a conversation whose directory was renamed under the
// reader is looked for again.
const maxRelists = 3

var errVanished = errors.New("its directory is renamed or removed again and again")

// Conversations returns the conversations of the set in the order of their ids,
// and those that had to be left out. The error is not nil only when nothing can
// be said at all: no store could be read, or the context ended.
//
// A conversation that is live in one store and archived in the other counts as
// live when the set has both.
func (w *Workspace) Conversations(ctx context.Context, set Set) ([]*Conversation, []Skipped, error) {
	s, skipped, err := w.openStores()
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	places, unlisted, err := s.listSet(ctx, set)
	if err != nil {
		return nil, nil, err
	}
	skipped = append(skipped, unlisted...)

	var loaded []*Conversation
	for round := 0; len(places) > 0; round++ {
		results := w.loadAll(ctx, s, places)
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		var vanished []transcript.ID
		for i := range results {
			switch c := &results[i]; {
			case c.MetadataErr == nil:
				loaded = append(loaded, c)
			case errors.Is(c.MetadataErr, errVanished) && round < maxRelists:
				vanished = append(vanished, c.ID)
			default:
				skipped = append(skipped, Skipped{ID: c.ID, Path: s.anyPath(&c.place), Reason: c.MetadataErr.Error()})
			}
		}
		if len(vanished) == 0 {
			break
		}
		again, _, err := s.listSet(ctx, set)
		if err != nil {
			return nil, nil, err
		}
		places = nil
		for _, id := range vanished {
			if p, ok := findPlace(again, id); ok {
				places = append(places, p)
			}
		}
	}
	slices.SortFunc(loaded, func(a, b *Conversation) int { return cmp.Compare(a.ID, b.ID) })
	return loaded, skipped, nil
}

// listSet lists the live conversations, the archived ones, or both.
func (s *stores) listSet(ctx context.Context, set Set) ([]place, []Skipped, error) {
	var places []place
	var skipped []Skipped
	for _, partition := range []Set{Live, Archived} {
		if set&partition == 0 {
			continue
		}
		listed, unlisted, err := s.list(ctx, partition == Archived)
		if err != nil {
			return nil, nil, err
		}
		places = append(places, listed...)
		skipped = append(skipped, unlisted...)
	}
	// Stable, so that the live one of two comes first and is kept.
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.id, b.id) })
	places = slices.CompactFunc(places, func(a, b place) bool { return a.id == b.id })
	return places, skipped, nil
}

// loadAll reads the metadata of conversations side by side. It stops early when
// the context ends.
func (w *Workspace) loadAll(ctx context.Context, s *stores, places []place) []Conversation {
	results := make([]Conversation, len(places))
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(places) {
				return
			}
			results[i] = w.load(s, &places[i])
		}
	}
	// Reading small files waits on the system more than it computes, but more
	// than a few readers only disturb each other.
	const maxWorkers = 8
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers, len(places)) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
	return results
}

// load reads the metadata of one conversation.
func (w *Workspace) load(s *stores, p *place) Conversation {
	c := Conversation{ID: p.id, Archived: p.archived, Locality: p.locality(), ws: w, place: *p}
	c.Metadata, c.MetadataErr = w.loadMetadata(s, p)
	return c
}

// loadMetadata reads metadata.json from the copy that counts: of a live
// conversation the newer one, of an archived one that in the project. A copy
// that is missing or broken leaves the word to the other.
func (w *Workspace) loadMetadata(s *stores, p *place) (Metadata, error) {
	order := []int{projectStore, userStore}
	if !p.archived {
		order = s.byAge(p, metadataFile)
	}
	var missing, broken error
	for _, store := range order {
		dir := p.dirs[store]
		if dir == "" {
			continue
		}
		name := path.Join(dir, metadataFile)
		w.willRead(s, store, name)
		data, err := readSmallFile(s.roots[store], name, maxMetadataSize)
		switch {
		case err == nil:
			m, err := parseMetadata(data)
			if err == nil {
				return m, nil
			}
			broken = cmp.Or(broken, err)
		case !errors.Is(err, fs.ErrNotExist):
			broken = cmp.Or(broken, fmt.Errorf("metadata.json cannot be read: %s", reason(err)))
		case !s.exists(store, dir):
			missing = errVanished
		default:
			missing = cmp.Or(missing, errors.New("metadata.json is missing"))
		}
	}
	return Metadata{}, cmp.Or(broken, missing)
}

// Find returns one conversation, live or archived, without reading the metadata
// of the others. The error is a *NotFoundError when there is none. A conversation
// with broken metadata is returned with MetadataErr set: its events can still be
// read.
func (w *Workspace) Find(ctx context.Context, id transcript.ID) (*Conversation, error) {
	s, skipped, err := w.openStores()
	if err != nil {
		return nil, err
	}
	defer s.close()
	for round := 0; ; round++ {
		places, unlisted, err := s.listSet(ctx, Live|Archived)
		if err != nil {
			return nil, err
		}
		p, ok := findPlace(places, id)
		if ok {
			c := w.load(s, &p)
			if round == maxRelists || !errors.Is(c.MetadataErr, errVanished) {
				return &c, nil
			}
			continue
		}
		// A directory that is renamed during the listing may be missed once.
		if round == 0 {
			continue
		}
		return nil, notFound(id, places, append(skipped, unlisted...))
	}
}

// willRead announces a read to the hook of tests.
func (w *Workspace) willRead(s *stores, store int, name string) {
	if w.beforeRead != nil {
		w.beforeRead(s.path(store, name))
	}
}

// anyPath returns the path of one copy, for messages.
func (s *stores) anyPath(p *place) string {
	for store, dir := range p.dirs {
		if dir != "" {
			return s.path(store, dir)
		}
	}
	return ""
}
