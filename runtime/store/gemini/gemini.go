// Package gemini reads the conversations that Gemini CLI recorded for a project:
// sessions and those of their sub-agents, from the chats below its home directory.
//
// It is a reader. It never creates, changes or locks anything, and opens only regular
// files below the directory of projects. A session belongs to a project by the directory
// that the program notes beside it; old versions have only a hash of that, which is
// compared with the hashes of the directories that are asked for.
package gemini

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "gemini"

// Store is the conversations of a project, as a [store.Store], in the directory of the folders of
// projects.
type Store struct{ history.Store }

// Open returns the store, and false where Gemini CLI has recorded nothing there.
func Open(o store.Options) (*Store, bool) {
	s, ok := history.Open(o, Name, Home, "tmp", IDs())
	return &Store{s}, ok
}

// Home returns the directory that Gemini CLI keeps everything in, or "" where the
// environment does not tell.
func Home(getenv func(string) string) string {
	if home := getenv("GEMINI_CLI_HOME"); home != "" {
		return filepath.Join(home, ".gemini")
	}
	return history.InHome(getenv, ".gemini")
}

// IDs returns what ids are: the uuid of a session, with the id of a sub-agent behind it where it is
// that of one.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "gemini-", Part: history.IsName, Example: "gemini-2c154aa7-742d-46ce-af44-de020dbaa17b"}
}

// id returns the id of a session, or of a sub-agent where that is not empty.
func id(session, agent string) transcript.ID { return IDs().ID(session, agent) }

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

// folders returns what tells the working directory of the folder of a project, or "" where only a
// hash of it is known, that no directory which is asked for has.
func (s *Store) folders(root *history.Root) func(folder string) (dir string) {
	slugs := s.slugs()
	hashes := map[string]string{} // directories
	for _, dir := range append(slices.Collect(maps.Values(slugs)), s.Project.Dirs()...) {
		hashes[hash(dir)] = dir
	}
	return func(folder string) string {
		if data, err := root.ReadFile(path.Join(folder, rootFile), maxPath); err == nil {
			return string(bytes.TrimSpace(data))
		}
		return cmp.Or(slugs[folder], hashes[folder])
	}
}

// hash is what versions before the slugs named the folder of a directory.
func hash(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}

// slugs returns the directories of the folders that have a name in place of a hash.
func (s *Store) slugs() map[string]string {
	var list struct {
		Projects map[string]string `json:"projects"`
	}
	data, err := safefile.Read(filepath.Join(filepath.Dir(s.Dir), projectsFile), maxProjects)
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
	dir string // working directory; empty where that is not known
	// parent is the session that started a sub-agent, and agent that one's id.
	parent, agent string
}

// session returns the uuid of a session, or of that which started a sub-agent.
func (e *entry) session() string { return cmp.Or(e.parent, e.Meta.UUID) }

// entries returns the files of the project, and what could not be read.
func (s *Store) entries(root *history.Root) (all []*entry, problems []store.Problem, err error) {
	dirOf, dirs := s.folders(root), map[string]string{}
	files, problems, err := s.Walk(root, ".", func(name string) bool {
		switch below := strings.Split(name, "/"); len(below) {
		case 1:
			dirs[name] = dirOf(name)
			return s.Project.Has(dirs[name])
		case 2:
			return below[1] == chatsDir
		default:
			return history.IsUUID(below[2])
		}
	})
	for _, file := range files {
		if e := newEntry(file); e != nil {
			folder, _, _ := strings.Cut(file, "/")
			e.dir = dirs[folder]
			all = append(all, e)
		}
	}
	return all, problems, err
}

// newEntry returns the entry of a file; nil where it is called otherwise than those of sessions,
// which end with the first digits of their ids, or of sub-agents.
func newEntry(file string) *entry {
	e := &entry{}
	e.File = file
	below := strings.Split(file, "/")
	stem, ok := strings.CutSuffix(path.Base(file), logExtension)
	if !ok {
		stem, ok = strings.CutSuffix(stem, objectExtension)
	}
	if len(below) == 4 { // beside the file of its session
		e.parent, e.agent = below[2], stem
		ok = ok && history.IsName(stem)
	} else {
		stem, isSession := strings.CutPrefix(stem, sessionPrefix)
		ok = ok && isSession && len(below) == 3 && len(stem) > shortID && stem[len(stem)-shortID-1] == '-'
	}
	if !ok {
		return nil
	}
	return e
}

// List implements [store.Store]. A session that goes on later may leave another file, as a rule
// an empty one.
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	return history.List(ctx, &s.Store, scope, s.entries, func(_ *history.Root, all []*entry, l *store.Listing) error {
		best := map[transcript.ID]*entry{}
		for _, e := range all {
			e.ID = id(e.session(), e.agent)
			if other := best[e.ID]; history.IsUUID(e.session()) && e.Meta.Told && (other == nil || path.Base(other.File) < path.Base(e.File)) {
				best[e.ID] = e
			}
		}
		for _, e := range best {
			c := s.Conversation(e.ID, &e.Meta.Session, &history.File{
				Store: &s.Store, ID: e.ID, Name: e.File, Stamps: []filecache.Stamp{e.Stamp}, Script: e.script,
			})
			if e.parent != "" {
				c.Parent = id(e.parent, "")
			}
			l.Conversations = append(l.Conversations, c)
		}
		return nil
	})
}

// Caller implements [store.Recognizer]. Gemini CLI tells nothing of the session that
// calls, and has not recorded the call by the time it makes it. It has recorded the
// request behind the call, though, since it started this process: where nothing else
// of the project was written since, that is the session.
func (s *Store) Caller(ctx context.Context, from caller.Caller) store.Caller {
	c := store.Caller{Evidence: s.Evidence(from, strings.HasPrefix(from.Client, "gemini-cli"), "GEMINI_CLI")}
	if c.Evidence != store.NoEvidence && from.Process == caller.Server && from.Tool != "" && s.Project.Has(from.Dir) {
		if session := s.written(ctx, from); session != "" {
			c.IDs = []transcript.ID{id(session, "")}
		}
	}
	return c
}

// written returns the only session of the project that was written since this process
// was started; "" where there are several, or none.
func (s *Store) written(ctx context.Context, from caller.Caller) string {
	root, err := s.Store.Open()
	if err != nil {
		return ""
	}
	defer root.Close()
	all, problems, err := s.entries(root)
	if err != nil || len(problems) > 0 {
		return ""
	}
	found := ""
	for _, e := range all {
		info, err := root.Stat(e.File)
		if err != nil || info.ModTime().Before(from.Started) {
			continue // also where it was deleted meanwhile
		}
		if e.Peek(ctx, root) != nil {
			return ""
		}
		session := e.session()
		if session == "" || found != "" && session != found {
			return ""
		}
		found = session
	}
	return found
}
