package jp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/convtools/convtools/runtime/base/parallel"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/trust"
)

// The two stores of a workspace, as indexes.
const (
	projectStore = iota
	userStore
	numStores
)

const (
	conversationsDir = "conversations"
	archiveDir       = ".archive"
	metadataFile     = "metadata.json"
	eventsFile       = "events.json"
	baseConfigFile   = "base_config.json"
)

// The localities, spelled as JP lists them.
const (
	localityUser      = "Y"   // only the user store
	localityProjected = "N"   // both stores
	localityExternal  = "ext" // only the project's store
)

// maxRelists is how often the stores are listed again for conversations whose
// directories were renamed under the reader.
const maxRelists = 10

// minUnsettled is how often they are listed again at least when the directories
// change all the time.
const minUnsettled = 2

var errVanished = errors.New("its directory is renamed or removed again and again")

// session is the opened conversations directories of a workspace. A store that
// does not exist is nil.
type session struct {
	w        *Workspace
	roots    [numStores]*os.Root
	dirs     [numStores]*os.File // the same
	paths    [numStores]string
	unopened []store.Problem
	listed   atomic.Pointer[listing] // by Find, for the next one
}

// Open opens the stores. It fails where there are stores, and none can be
// opened.
func (w *Workspace) Open(context.Context) (*session, []store.Problem, error) {
	s := &session{w: w}
	s.paths[projectStore] = filepath.Join(w.root, storageDir, conversationsDir)
	var errs []error
	open := func(i int, open func() (*os.Root, error)) {
		root, err := open()
		switch {
		case err == nil:
			s.roots[i] = root
			s.dirs[i], _ = root.Open(".") // what is known of a file is looked up by it, and else it is read
		case !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, err)
			s.unopened = append(s.unopened, store.Problem{
				Kind: kindOf(err), Path: s.paths[i], Err: fmt.Errorf("the store cannot be opened: %w", reason(err)),
			})
		}
	}
	open(projectStore, func() (*os.Root, error) { return trust.OpenDir(w.root, storageDir+"/"+conversationsDir, w.getenv) })
	if w.user != "" {
		s.paths[userStore] = filepath.Join(w.user, conversationsDir)
		open(userStore, func() (*os.Root, error) { return safefile.OpenDir(s.paths[userStore]) })
	}
	if len(errs) > 0 && s.roots[projectStore] == nil && s.roots[userStore] == nil {
		return nil, nil, fmt.Errorf("opening the conversations of %s: %w", w.root, errors.Join(errs...))
	}
	return s, s.unopened, nil
}

func kindOf(err error) store.ProblemKind {
	var outside *trust.OutsideError
	switch {
	case errors.As(err, &outside), errors.Is(err, errLeavesStore):
		return store.Outside
	case errors.Is(err, errVanished):
		return store.Vanishing
	}
	return store.Unreadable
}

// Close closes the stores.
func (s *session) Close() {
	s.w.cache.Save()
	for _, root := range s.roots {
		if root != nil {
			root.Close()
		}
	}
	for _, dir := range s.dirs {
		if dir != nil {
			dir.Close()
		}
	}
}

// List returns the conversations of a set in the order of their ids, and what could not be used.
func (s *session) List(ctx context.Context, set store.Set) ([]store.Conversation, []store.Problem, error) {
	loaded := map[number]store.Conversation{}
	isGone := func(_ number, c store.Conversation) bool { return isVanishing(c.Problems) }
	var problems []store.Problem
	for round := 0; ; round++ {
		l, err := s.list(ctx, set)
		if err != nil {
			return nil, nil, err
		}
		problems = l.problems
		if l.settled { // what is not listed any more was removed, or left the set
			maps.DeleteFunc(loaded, isGone)
		}
		places := slices.DeleteFunc(l.onePlaceEach(), func(p place) bool {
			c, known := loaded[p.number]
			return known && !isVanishing(c.Problems)
		})
		results := make([]store.Conversation, len(places))
		parallel.Each(ctx, len(places), func(numbers iter.Seq[int]) {
			for i := range numbers {
				results[i] = s.look(&places[i])
			}
		})
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		vanishing := false
		for i, p := range places {
			loaded[p.number] = results[i]
			vanishing = vanishing || isVanishing(results[i].Problems)
		}
		// Under a writer that never pauses, listings that bring nothing new have to do.
		complete := l.settled || round >= minUnsettled && len(places) == 0
		if complete && !vanishing || round == maxRelists {
			break
		}
	}
	list := make([]store.Conversation, 0, len(loaded))
	for _, n := range slices.Sorted(maps.Keys(loaded)) {
		c := loaded[n]
		if bad := unusable(c.Problems); bad != nil {
			problems = append(problems, *bad)
		} else {
			list = append(list, c)
		}
	}
	return list, problems, nil
}

// unusable returns the problem for which a conversation has no metadata, or nil.
func unusable(problems []store.Problem) *store.Problem {
	i := slices.IndexFunc(problems, func(p store.Problem) bool { return p.Kind != store.BadField })
	if i < 0 {
		return nil
	}
	return &problems[i]
}

func isVanishing(problems []store.Problem) bool {
	bad := unusable(problems)
	return bad != nil && bad.Kind == store.Vanishing
}

// load reads the metadata of one conversation.
func (s *session) load(p *place) store.Conversation {
	c := s.unread(p)
	if c.CreatedAt.IsZero() {
		c.Problems = append(c.Problems, badField(c.ID, "created_at", errors.New("the id stands for a time after the year 9999")))
	}
	if _, err := s.loadMetadata(p, &c); err != nil {
		kind := kindOf(err)
		if kind == store.Unreadable {
			kind = store.BadMetadata
		}
		problem := store.Problem{ID: c.ID, Kind: kind, Path: s.anyPath(p), Err: err}
		if kind == store.Outside {
			problem.File = metadataFile
		}
		c.Problems = append(c.Problems, problem)
	}
	return c
}

// unread returns a conversation without its metadata.
func (s *session) unread(p *place) store.Conversation {
	c := store.Conversation{Conversation: p.conversation(), Record: &record{s: s, place: *p}}
	c.Dir = s.w.root
	return c
}

// loadMetadata reads metadata.json from the copy that counts: of a live
// conversation the newer one, of an archived one that in the project. A copy
// that is missing or broken leaves the word to the other. It returns the bytes
// too.
func (s *session) loadMetadata(p *place, c *store.Conversation) ([]byte, error) {
	var missing, broken error
	for _, i := range s.byMetadata(p) {
		dir := p.dirs[i]
		name := path.Join(dir, metadataFile)
		data, err := s.read(i, name, maxMetadataSize)
		switch {
		case err == nil:
			if err = parseMetadata(data, c); err == nil {
				return data, nil
			}
			broken = cmp.Or(broken, err)
		case errors.Is(err, errLeavesStore):
			broken = cmp.Or(broken, err)
		case !errors.Is(err, fs.ErrNotExist):
			broken = cmp.Or(broken, fmt.Errorf("metadata.json cannot be read: %w", reason(err)))
		case !s.exists(i, dir):
			missing = errVanished
		default:
			missing = cmp.Or(missing, errors.New("metadata.json is missing"))
		}
	}
	return nil, cmp.Or(broken, missing)
}

// Find returns one conversation, live or archived. One with broken metadata is
// returned with that among its problems: its events can still be read.
func (s *session) Find(ctx context.Context, id transcript.ID) (store.Conversation, error) {
	want, ok := numberOf(id)
	if !ok {
		return store.Conversation{}, &store.NotFoundError{IDs: []transcript.ID{id}, Place: s.w.root}
	}
	for round := 0; ; round++ {
		l := s.listed.Load()
		known := l != nil && round == 0 // by what another call saw
		if !known {
			fresh, err := s.list(ctx, store.Live|store.Archived)
			if err != nil {
				return store.Conversation{}, err
			}
			l = &fresh
			s.listed.Store(l)
		}
		p, ok := l.locate(want, false)
		if ok {
			if c := s.load(&p); round == maxRelists || !isVanishing(c.Problems) {
				return c, nil
			}
		} else if !known && (l.settled || round == maxRelists) {
			return store.Conversation{}, s.notFound(want, l.onePlaceEach(), slices.Concat(s.unopened, l.problems))
		}
	}
}

// read reads a file of a conversation of at most max bytes.
func (s *session) read(i int, name string, max int64) ([]byte, error) {
	s.willRead(i, name)
	return readFile(s.roots[i], name, max)
}

// notFound is the error for a conversation that is in none of some places. Stores that cannot be
// read may hold it.
func (s *session) notFound(want number, places []place, unread []store.Problem) error {
	err := &store.NotFoundError{IDs: []transcript.ID{want.id()}, Nearest: nearest(want, places), Place: s.w.root}
	for _, p := range unread {
		if p.ID == "" {
			err.Unread = append(err.Unread, p)
		}
	}
	return err
}

func nearest(want number, places []place) []transcript.ID {
	all := make([]store.Conversation, len(places))
	for i := range places {
		all[i].Conversation = places[i].conversation()
	}
	return store.Nearest(want.id(), all)
}

// willRead announces a read to the hook of tests.
func (s *session) willRead(i int, name string) {
	if s.w.beforeRead != nil {
		s.w.beforeRead(s.path(i, name))
	}
}

// place is where the copies of one conversation are: a path inside the
// conversations directory of each store, "" where there is none. At least one
// store has a copy.
type place struct {
	number   number
	archived bool
	dirs     [numStores]string
}

// conversation is what is known of it without its metadata.
func (p *place) conversation() transcript.Conversation {
	return transcript.Conversation{
		ID: p.number.id(), CreatedAt: p.number.created(), Archived: p.archived,
		Locality: p.locality(), UserOnly: p.dirs[projectStore] == "",
	}
}

// locality is which stores hold the conversation.
func (p *place) locality() string {
	switch {
	case p.dirs[userStore] == "":
		return localityExternal
	case p.dirs[projectStore] == "":
		return localityUser
	}
	return localityProjected
}

// pickDuplicate chooses between two directories of one id in one store, as a
// crash while a title changes can leave them: the one whose events are newer,
// else the first name.
func (s *session) pickDuplicate(i int, first, second string) (kept, dropped string) {
	if s.modTime(i, second, eventsFile).After(s.modTime(i, first, eventsFile)) {
		return second, first
	}
	return first, second
}

// byAge orders the stores that hold a copy: the one with the newer files first,
// the user store when they are equally old. A single copy needs no look at the
// disk.
func (s *session) byAge(p *place, files ...string) []int {
	held := make([]int, 0, numStores)
	for _, i := range []int{userStore, projectStore} {
		if p.dirs[i] != "" {
			held = append(held, i)
		}
	}
	if len(held) < numStores {
		return held
	}
	if s.newest(projectStore, p.dirs[projectStore], files).After(s.newest(userStore, p.dirs[userStore], files)) {
		slices.Reverse(held)
	}
	return held
}

// byMetadata orders the stores that hold a copy by whose metadata counts: of a live
// conversation that of the newer copy, of an archived one the project's.
func (s *session) byMetadata(p *place) []int {
	if p.archived && p.dirs[projectStore] != "" && p.dirs[userStore] != "" {
		return []int{projectStore, userStore}
	}
	return s.byAge(p, metadataFile)
}

func (s *session) newest(i int, dir string, files []string) time.Time {
	var newest time.Time
	for _, file := range files {
		if t := s.modTime(i, dir, file); t.After(newest) {
			newest = t
		}
	}
	return newest
}

// modTime returns when a file was modified, or the zero time when it is missing.
func (s *session) modTime(i int, dir, file string) time.Time {
	info, err := s.roots[i].Stat(path.Join(dir, file))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (s *session) exists(i int, dir string) bool {
	_, err := s.roots[i].Lstat(dir)
	return err == nil
}

// path returns the full path of a directory in a store, for messages.
func (s *session) path(i int, dir string) string {
	return filepath.Join(s.paths[i], filepath.FromSlash(dir))
}

// anyPath returns the path of one copy, for messages.
func (s *session) anyPath(p *place) string {
	for i, dir := range p.dirs {
		if dir != "" {
			return s.path(i, dir)
		}
	}
	return ""
}

// readDir returns the entries of a directory inside a store in no particular
// order, and none when it does not exist.
func readDir(root *os.Root, name string) ([]fs.DirEntry, error) {
	entries, err := safefile.ReadDirIn(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// reason returns the cause of an error without the path, which messages name
// themselves.
func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
