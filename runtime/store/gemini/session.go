package gemini

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/store/internal/sessionid"
	"github.com/convtools/convtools/runtime/transcript"
)

// session is the opened directory of projects. It implements [store.Session].
type session struct {
	store *Store
	root  *os.Root
	look  facts.Look
}

// Close implements [store.Session].
func (s *session) Close() {
	s.store.facts.Save()
	s.root.Close()
}

// factEvents is the kind of the facts that events are read for.
const factEvents = 'e'

const (
	chatsDir        = "chats"
	rootFile        = ".project_root" // with the directory of a project, in its folder
	projectsFile    = "projects.json" // in the home
	sessionPrefix   = "session-"
	logExtension    = ".jsonl"
	objectExtension = ".json"
	shortID         = 8 // digits of a session's uuid in the name of its file
	maxPath         = 64 << 10
	maxProjects     = 16 << 20
)

// folder is the folder of a project.
type folder struct {
	name string
	dir  string // working directory; empty where only a hash of it is known
}

// folders returns the folders of the project.
func (s *session) folders() ([]folder, error) {
	entries, err := s.readDir(".")
	if err != nil {
		return nil, err
	}
	slugs := s.slugs()
	hashes := map[string]string{} // directories
	for _, dir := range slugs {
		hashes[hash(dir)] = dir
	}
	for _, dir := range s.store.project.Dirs() {
		hashes[hash(dir)] = dir
	}
	var found []folder
	for _, e := range entries {
		f := folder{name: e.Name()}
		if data, err := safefile.ReadIn(s.root, path.Join(f.name, rootFile), maxPath); err == nil {
			f.dir = string(bytes.TrimSpace(data))
		} else {
			f.dir = cmp.Or(slugs[f.name], hashes[f.name])
		}
		if s.store.project.Has(f.dir) {
			found = append(found, f)
		}
	}
	return found, nil
}

func (s *session) readDir(name string) ([]fs.DirEntry, error) {
	f, err := s.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// hash is what versions before the slugs named the folder of a directory.
func hash(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}

// slugs returns the directories of the folders that have a name in place of a hash.
func (s *session) slugs() map[string]string {
	var list struct {
		Projects map[string]string `json:"projects"`
	}
	data, err := safefile.Read(filepath.Join(s.store.home, projectsFile), maxProjects)
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		return nil // there need not be any
	}
	dirs := map[string]string{}
	for dir, slug := range list.Projects {
		if other, ok := dirs[slug]; !ok || dir < other {
			dirs[slug] = dir
		}
	}
	return dirs
}

// entry is a file of a session.
type entry struct {
	file  string // in the directory of projects, with slashes
	stem  string // its name, for the order
	dir   string // working directory
	short string // the first digits of the session's uuid
	// parent is the session that started a sub-agent, and agent that one's id.
	parent, agent string
	meta          *metadata
	err           error
}

// session returns the uuid of a session, or of that which started a sub-agent.
func (e *entry) session() string {
	if e.parent != "" {
		return e.parent
	}
	return e.meta.session
}

func (e *entry) id() transcript.ID { return id(e.session(), e.agent) }

// entries returns the files of the project, and what could not be read.
func (s *session) entries() ([]*entry, []store.Problem, error) {
	folders, err := s.folders()
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", s.store.Place(), err)
	}
	var all []*entry
	var problems []store.Problem
	for _, f := range folders {
		chats := path.Join(f.name, chatsDir)
		list, err := s.readDir(chats)
		switch {
		case errors.Is(err, fs.ErrNotExist) || err != nil && !s.isDir(f.name):
			continue
		case err != nil:
			problems = append(problems, s.problem("", store.Unreadable, chats, err))
			continue
		}
		for _, e := range list {
			file := path.Join(chats, e.Name())
			switch name, isSession := strings.CutPrefix(e.Name(), sessionPrefix); {
			case sessionid.IsUUID(e.Name()) && s.isDir(file):
				all = append(all, s.agents(f, file, e.Name())...)
			case isSession:
				if short, ok := shortOf(name); ok {
					all = append(all, &entry{file: file, stem: name, dir: f.dir, short: short})
				}
			}
		}
	}
	return all, problems, nil
}

func (s *session) isDir(name string) bool {
	info, err := s.root.Stat(name)
	return err == nil && info.IsDir()
}

// cutExtension returns the name of a file of a session without its extension.
func cutExtension(name string) (string, bool) {
	if stem, ok := strings.CutSuffix(name, logExtension); ok {
		return stem, true
	}
	return strings.CutSuffix(name, objectExtension)
}

// shortOf returns the beginning of a session's uuid, which the name of its file ends with.
func shortOf(name string) (string, bool) {
	stem, ok := cutExtension(name)
	if !ok || len(stem) <= shortID || stem[len(stem)-shortID-1] != '-' {
		return "", false
	}
	return strings.ToLower(stem[len(stem)-shortID:]), true
}

// agents returns the files of the sub-agents of a session.
func (s *session) agents(f folder, dir, parent string) []*entry {
	list, err := s.readDir(dir)
	if err != nil {
		return nil // there need not be any
	}
	var found []*entry
	for _, e := range list {
		if name, ok := cutExtension(e.Name()); ok && sessionid.IsName(name) {
			found = append(found, &entry{file: path.Join(dir, e.Name()), stem: e.Name(), dir: f.dir, short: parent[:shortID], parent: parent, agent: name})
		}
	}
	return found
}

func (s *session) problem(id transcript.ID, kind store.ProblemKind, file string, err error) store.Problem {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return store.Problem{ID: id, Kind: kind, Path: filepath.Join(s.store.Place(), filepath.FromSlash(file)), Err: err}
}

// peekAll reads the metadata of files, several at a time.
func (s *session) peekAll(ctx context.Context, all []*entry) {
	const maxWorkers = 8
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers, len(all)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(all) {
					return
				}
				all[i].meta, all[i].err = s.peek(ctx, all[i].file)
			}
		})
	}
	workers.Wait()
}

// usable returns the conversations that files are: one for each session, as a session
// that goes on later may leave another file, as a rule an empty one.
func (s *session) usable(all []*entry) ([]*entry, []store.Problem) {
	var problems []store.Problem
	best := map[transcript.ID]*entry{}
	for _, e := range all {
		switch {
		case errors.Is(e.err, fs.ErrNotExist): // deleted meanwhile
			continue
		case e.err != nil:
			problems = append(problems, s.problem("", store.Unreadable, e.file, e.err))
			continue
		case !sessionid.IsUUID(e.session()) || !e.meta.told:
			continue
		}
		if other := best[e.id()]; other == nil || other.stem < e.stem {
			best[e.id()] = e
		}
	}
	found := make([]*entry, 0, len(best))
	for _, e := range best {
		found = append(found, e)
	}
	slices.SortFunc(found, func(a, b *entry) int { return a.id().Compare(b.id()) })
	return found, problems
}

// List implements [store.Session].
func (s *session) List(ctx context.Context, set store.Set) ([]store.Conversation, []store.Problem, error) {
	if set&store.Live == 0 {
		return nil, nil, nil // nothing is archived
	}
	all, problems, err := s.entries()
	if err != nil {
		return nil, nil, err
	}
	s.peekAll(ctx, all)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	found, more := s.usable(all)
	var list []store.Conversation
	for _, e := range found {
		list = append(list, s.conversation(e))
	}
	return list, append(problems, more...), nil
}

// conversation returns what List returns of a file.
func (s *session) conversation(e *entry) store.Conversation {
	c := store.Conversation{
		Conversation: transcript.Conversation{
			ID: e.id(), Source: Name, Title: cmp.Or(e.meta.title, e.meta.first), Dir: cmp.Or(e.meta.dir, e.dir), CreatedAt: e.meta.created,
		},
		Record: &conversation{
			Sheet: s.look.Sheet(factEvents, string(e.id()), e.meta.stamp),
			store: s.store, id: e.id(), file: e.file, agent: e.agent != "", bytes: e.meta.size,
		},
	}
	if e.parent != "" {
		c.Parent = id(e.parent, "")
	}
	if !e.meta.unsure {
		c.LastAt = e.meta.last
	}
	return c
}

// Find implements [store.Session].
func (s *session) Find(ctx context.Context, want transcript.ID) (store.Conversation, error) {
	rest, ok := strings.CutPrefix(string(want), IDPrefix)
	uuid, _, _ := strings.Cut(rest, ".")
	if !ok || !sessionid.IsUUID(uuid) {
		return store.Conversation{}, s.notFound(ctx, want, nil)
	}
	all, problems, err := s.entries()
	if err != nil {
		return store.Conversation{}, err
	}
	candidates := slices.DeleteFunc(slices.Clone(all), func(e *entry) bool { return e.short != uuid[:shortID] })
	s.peekAll(ctx, candidates)
	if err := ctx.Err(); err != nil {
		return store.Conversation{}, err
	}
	found, more := s.usable(candidates)
	for _, e := range found {
		if e.id() == want {
			return s.conversation(e), nil
		}
	}
	return store.Conversation{}, s.notFound(ctx, want, append(problems, more...))
}

// notFound returns the error for an id, with those of the project that are spelled most
// alike.
func (s *session) notFound(ctx context.Context, want transcript.ID, unread []store.Problem) error {
	missing := &store.NotFoundError{IDs: []transcript.ID{want}, Place: s.store.Place(), Unread: unread}
	all, _, err := s.List(ctx, store.Live)
	if err != nil {
		return err
	}
	const most, mostTypos = 3, 8
	type candidate struct {
		id    transcript.ID
		typos int
	}
	var candidates []candidate
	for _, c := range all {
		if typos, near := near.Edits(string(want), string(c.ID), mostTypos); near {
			candidates = append(candidates, candidate{c.ID, typos})
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.typos, b.typos), a.id.Compare(b.id))
	})
	for _, c := range candidates[:min(len(candidates), most)] {
		missing.Nearest = append(missing.Nearest, c.id)
	}
	return missing
}
