package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	// Listed tells that the conversation is listed all the same, from another
	// directory with its id: only what stands in Path is left out.
	Listed bool
}

// maxRelists is how often the stores are listed again for conversations whose
// directories were renamed under the reader.
const maxRelists = 10

// minUnsettled is how often they are listed again at least when the directories
// change all the time.
const minUnsettled = 2

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

	var loaded []*Conversation
	var broken, unlisted []Skipped
	done := map[transcript.ID]bool{}
	vanished := map[transcript.ID]Skipped{}
	for round := 0; ; round++ {
		l, err := s.list(ctx, set)
		if err != nil {
			return nil, nil, err
		}
		unlisted = l.skipped
		if l.settled {
			// What is not listed any more was removed, or left the set.
			clear(vanished)
		}
		places := slices.DeleteFunc(l.onePlaceEach(), func(p place) bool { return done[p.id] })
		results := w.loadAll(ctx, s, places)
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		for i := range results {
			c := &results[i]
			problem := Skipped{ID: c.ID, Path: s.anyPath(&c.place)}
			if c.MetadataErr != nil {
				problem.Reason = c.MetadataErr.Error()
			}
			if errors.Is(c.MetadataErr, errVanished) {
				vanished[c.ID] = problem
				continue
			}
			done[c.ID] = true
			delete(vanished, c.ID)
			if c.MetadataErr != nil {
				broken = append(broken, problem)
			} else {
				loaded = append(loaded, c)
			}
		}
		// Under a writer that never pauses, listings that bring nothing new
		// have to do.
		complete := l.settled || round >= minUnsettled && len(places) == 0
		if complete && len(vanished) == 0 || round == maxRelists {
			break
		}
	}
	slices.SortFunc(loaded, func(a, b *Conversation) int { return cmp.Compare(a.ID, b.ID) })
	broken = slices.AppendSeq(broken, maps.Values(vanished))
	slices.SortFunc(broken, func(a, b Skipped) int { return cmp.Compare(a.ID, b.ID) })
	skipped = slices.Concat(skipped, unlisted, broken)
	for i := range skipped {
		if skipped[i].ID == 0 {
			continue
		}
		_, skipped[i].Listed = slices.BinarySearchFunc(loaded, skipped[i].ID,
			func(c *Conversation, id transcript.ID) int { return cmp.Compare(c.ID, id) })
	}
	return loaded, skipped, nil
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
		case errors.Is(err, errLeavesStore):
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
		l, err := s.list(ctx, Live|Archived)
		if err != nil {
			return nil, err
		}
		p, ok := l.locate(id, false)
		if ok {
			c := w.load(s, &p)
			if round == maxRelists || !errors.Is(c.MetadataErr, errVanished) {
				return &c, nil
			}
			continue
		}
		if l.settled || round == maxRelists {
			return nil, notFound(id, l.onePlaceEach(), append(skipped, l.skipped...))
		}
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
