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
	"iter"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/parallel"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// session is the opened directory of projects.
type session struct {
	store *Store
	*history.Root
}

func (s *Store) open() (*session, error) {
	root, err := history.OpenRoot(s.Dir, s.Cache)
	if err != nil {
		return nil, fmt.Errorf("opening the conversations in %s: %w", s.Dir, err)
	}
	return &session{s, root}, nil
}

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
	entries, err := s.ReadDir(".")
	if err != nil {
		return nil, err
	}
	slugs := s.slugs()
	hashes := map[string]string{} // directories
	for _, dir := range slugs {
		hashes[hash(dir)] = dir
	}
	for _, dir := range s.store.Project.Dirs() {
		hashes[hash(dir)] = dir
	}
	var found []folder
	for _, e := range entries {
		f := folder{name: e.Name()}
		if data, err := safefile.ReadIn(s.Root.Root, path.Join(f.name, rootFile), maxPath); err == nil {
			f.dir = string(bytes.TrimSpace(data))
		} else {
			f.dir = cmp.Or(slugs[f.name], hashes[f.name])
		}
		if s.store.Project.Has(f.dir) {
			found = append(found, f)
		}
	}
	return found, nil
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
	data, err := safefile.Read(filepath.Join(filepath.Dir(s.store.Dir), projectsFile), maxProjects)
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
	stamp         filecache.Stamp
	meta          *metadata
	err           error
}

// session returns the uuid of a session, or of that which started a sub-agent.
func (e *entry) session() string {
	if e.parent != "" {
		return e.parent
	}
	return e.meta.Session
}

func (e *entry) id() transcript.ID { return id(e.session(), e.agent) }

// entries returns the files of the project, and what could not be read.
func (s *session) entries() ([]*entry, []store.Problem, error) {
	folders, err := s.folders()
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", s.store.Dir, err)
	}
	var all []*entry
	var problems []store.Problem
	for _, f := range folders {
		chats := path.Join(f.name, chatsDir)
		list, err := s.ReadDir(chats)
		switch {
		case errors.Is(err, fs.ErrNotExist) || err != nil && !s.IsDir(f.name):
			continue
		case err != nil:
			problems = append(problems, s.store.Problem("", store.Unreadable, chats, err))
			continue
		}
		for _, e := range list {
			file := path.Join(chats, e.Name())
			switch name, isSession := strings.CutPrefix(e.Name(), sessionPrefix); {
			case history.IsUUID(e.Name()) && s.IsDir(file):
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
	list, err := s.ReadDir(dir)
	if err != nil {
		return nil // there need not be any
	}
	var found []*entry
	for _, e := range list {
		if name, ok := cutExtension(e.Name()); ok && history.IsName(name) {
			found = append(found, &entry{file: path.Join(dir, e.Name()), stem: e.Name(), dir: f.dir, short: parent[:shortID], parent: parent, agent: name})
		}
	}
	return found
}

// peekAll reads the metadata of files, several at a time.
func (s *session) peekAll(ctx context.Context, all []*entry) {
	parallel.Each(ctx, len(all), func(numbers iter.Seq[int]) {
		for i := range numbers {
			s.peek(ctx, all[i])
		}
	})
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
			problems = append(problems, s.store.Problem("", store.Unreadable, e.file, e.err))
			continue
		case !history.IsUUID(e.session()) || !e.meta.Told:
			continue
		}
		if other := best[e.id()]; other == nil || other.stem < e.stem {
			best[e.id()] = e
		}
	}
	return slices.SortedFunc(maps.Values(best), func(a, b *entry) int { return a.id().Compare(b.id()) }), problems
}

// List implements [store.Store].
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	opened, err := s.open()
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	all, problems, err := opened.entries()
	if err != nil {
		return nil, err
	}
	opened.peekAll(ctx, all)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found, more := opened.usable(all)
	l := &store.Listing{Problems: append(problems, more...)}
	for _, e := range found {
		l.Conversations = append(l.Conversations, s.conversation(e))
	}
	l.Keep(scope)
	return l, nil
}

// conversation returns what a list has of a file.
func (s *Store) conversation(e *entry) store.Conversation {
	c := store.Conversation{
		Conversation: transcript.Conversation{
			ID: e.id(), Source: Name, Title: e.meta.Title, Dir: cmp.Or(e.meta.Dir, e.dir), CreatedAt: e.meta.Created,
		},
		Request: e.meta.First,
		Record:  &history.File{Store: &s.Store, ID: e.id(), Name: e.file, Stamps: []filecache.Stamp{e.stamp}, Script: e.script},
	}
	if e.parent != "" {
		c.Parent = id(e.parent, "")
	}
	if !e.meta.Unsure {
		c.LastAt = e.meta.Last
	}
	return c
}
