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
	"path"
	"path/filepath"
	"strings"

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
	root, err := s.Store.Open()
	return &session{s, root}, err
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
		return nil, fmt.Errorf("reading %s: %w", s.store.Dir, err)
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
		if data, err := s.ReadFile(path.Join(f.name, rootFile), maxPath); err == nil {
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
	history.Entry[metadata]
	folder folder
	stem   string // its name, for the order
	// parent is the session that started a sub-agent, and agent that one's id.
	parent, agent string
}

// session returns the uuid of a session, or of that which started a sub-agent.
func (e *entry) session() string { return cmp.Or(e.parent, e.Meta.UUID) }

// entries returns the files of the project, and what could not be read.
func (s *session) entries() (all []*entry, problems []store.Problem, err error) {
	folders, err := s.folders()
	for _, f := range folders {
		chats := path.Join(f.name, chatsDir)
		list, err := s.ReadDir(chats)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && s.IsDir(f.name) {
			problems = append(problems, s.store.Problem("", store.Unreadable, chats, err))
		}
		for _, e := range list {
			name, isSession := strings.CutPrefix(e.Name(), sessionPrefix)
			if isSession {
				all = append(all, newEntries(f, chats, name, "", sessionPrefix)...)
			} else if history.IsUUID(e.Name()) {
				dir := path.Join(chats, e.Name())
				agents, _ := s.ReadDir(dir) // there need not be any
				for _, a := range agents {
					all = append(all, newEntries(f, dir, a.Name(), e.Name(), "")...)
				}
			}
		}
	}
	return all, problems, err
}

// newEntries returns the entry of a file; none where it is called otherwise than those of sessions,
// which end with the first digits of their ids, or of sub-agents.
func newEntries(f folder, dir, name, parent, prefix string) []*entry {
	stem, ok := strings.CutSuffix(name, logExtension)
	if !ok {
		stem, ok = strings.CutSuffix(name, objectExtension)
	}
	e := &entry{folder: f, stem: name, parent: parent}
	e.File = path.Join(dir, prefix+name)
	if parent != "" {
		e.agent = stem
		ok = ok && history.IsName(stem)
	} else {
		ok = ok && len(stem) > shortID && stem[len(stem)-shortID-1] == '-'
	}
	if !ok {
		return nil
	}
	return []*entry{e}
}

// List implements [store.Store]. A session that goes on later may leave another file, as a rule
// an empty one.
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
	all, unread := history.Peek(ctx, &s.Store, opened.Root, all,
		func(e *entry) error { return opened.read(ctx, e) }, func(e *entry) string { return e.Meta.Dir })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	best := map[transcript.ID]*entry{}
	for _, e := range all {
		e.ID = id(e.session(), e.agent)
		if other := best[e.ID]; history.IsUUID(e.session()) && e.Meta.Told && (other == nil || other.stem < e.stem) {
			best[e.ID] = e
		}
	}
	l := &store.Listing{Problems: append(problems, unread...)}
	for _, e := range best {
		c := s.Conversation(e.ID, &e.Meta.Session, &history.File{
			Store: &s.Store, ID: e.ID, Name: e.File, Stamps: []filecache.Stamp{e.Stamp}, Script: e.script,
		})
		if e.parent != "" {
			c.Parent = id(e.parent, "")
		}
		l.Conversations = append(l.Conversations, c)
	}
	l.Keep(scope)
	return l, nil
}
