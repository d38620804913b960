// Package gemini reads the conversations that Gemini CLI recorded for a project:
// sessions and those of their sub-agents, from the chats below its home directory.
//
// It never creates, changes or locks a file, and opens only regular files below the directory of projects. A session
// belongs to a project by the directory that the program notes beside it. Old versions have only a hash of that, which
// is compared with the hashes of the directories that are asked for.
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
	"regexp"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "gemini"

// Store has the conversations of a project. It implements [store.Store].
type Store struct{ history.Store }

// Open returns the store, and false if Gemini CLI has recorded nothing.
func Open(o store.Options) (*Store, bool) {
	s, ok := history.Open(o, Name, Home(o.Env()), "tmp", IDs())
	return &Store{s}, ok
}

// Home returns the home directory of Gemini CLI, or "" if the environment does not name it.
func Home(getenv func(string) string) string {
	return cmp.Or(history.Under(getenv("GEMINI_CLI_HOME"), ".gemini"), history.InHome(getenv, ".gemini"))
}

// IDs returns the form of ids: the uuid of a session, and for a sub-agent also its name.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "gemini-", Part: history.IsName, Example: "gemini-2c154aa7-742d-46ce-af44-de020dbaa17b"}
}

const (
	chatsDir     = "chats"
	rootFile     = ".project_root" // in the folder of a project; has its directory
	projectsFile = "projects.json" // in the home directory
	logExtension = ".jsonl"
	maxPath      = 64 << 10
	maxProjects  = 16 << 20
)

// fileForm is the form of the name of a file: of a session, which ends with the first digits of its uuid, or of a
// sub-agent, in a directory that is named after its session.
const fileForm = `^([^/]+)/` + chatsDir + `/(?:session-.*-.{8}|(` + history.UUID + `)/([\w-]{1,64}))\.jsonl?$`

// folders returns the working directories of projects, by the names of their folders. The name of a folder is a slug
// in the program's list of projects or, in old versions, the hash of the directory.
func (s *Store) folders() map[string]string {
	var list struct {
		Projects map[string]string `json:"projects"`
	}
	data, _ := safefile.Read(filepath.Join(filepath.Dir(s.Dir), projectsFile), maxProjects)
	_ = json.Unmarshal(data, &list) // the file need not exist
	dirs := map[string]string{}
	for _, dir := range slices.Backward(slices.Sorted(maps.Keys(list.Projects))) { // of several with one slug the first counts
		dirs[hash(dir)], dirs[list.Projects[dir]] = dir, dir
	}
	for _, dir := range s.Project.Dirs() {
		dirs[hash(dir)] = dir
	}
	return dirs
}

func hash(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}

// entry is a file of a session.
type entry struct {
	history.Entry[metadata]
	dir           string // working directory; empty if it is not known
	parent, agent string // of a sub-agent: the session that started it, and its name
}

// session returns the uuid of a session, or of the session that started a sub-agent.
func (e *entry) session() string { return cmp.Or(e.parent, e.Meta.UUID) }

// entries returns the files of the project's sessions, and problems for the folders that cannot be read. The files are
// FOLDER/chats/session-TIME-ID.jsonl and, for a sub-agent, FOLDER/chats/UUID/AGENT.jsonl with the uuid of the session
// that started the agent; older files end in ".json". A file in FOLDER, or else s.folders, has the project's directory.
func (s *Store) entries(root *history.Root) (all []*entry, problems []store.Problem) {
	dirs, form := s.folders(), regexp.MustCompile(fileForm)
	enter := func(name string) bool { // whether the files in a directory are looked at
		names := strings.Split(name, "/")
		switch len(names) {
		case 1: // FOLDER
			if data, err := root.ReadFile(path.Join(name, rootFile), maxPath); err == nil {
				dirs[name] = string(bytes.TrimSpace(data))
			}
			return s.Project.Has(dirs[name])
		case 2:
			return names[1] == chatsDir
		}
		return history.IsUUID(names[2])
	}
	return history.Entries(&s.Store, root, ".", enter, func(e *entry) bool {
		match := form.FindStringSubmatch(e.File)
		if match != nil {
			e.dir, e.parent, e.agent = dirs[match[1]], match[2], match[3] // FOLDER, UUID, AGENT
		}
		return match != nil
	})
}

// List implements [store.Store]. A session that is resumed can leave another file, which is usually empty. Of several
// files of a session that have events, it lists the last by name.
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	return history.List(ctx, &s.Store, scope, s.entries, func(_ *history.Root, all []*entry, l *store.Listing) error {
		chosen := map[transcript.ID]*entry{}
		for _, e := range all {
			e.ID = s.ID(e.session(), e.agent)
			other := chosen[e.ID]
			isLast := other == nil || path.Base(other.File) < path.Base(e.File)
			if isLast && e.Meta.Readable && history.IsUUID(e.session()) {
				chosen[e.ID] = e
			}
		}
		for _, e := range chosen {
			c := s.Conversation(e.ID, &e.Meta.Session, e.decode, e.Stamp)
			if e.parent != "" {
				c.Parent = s.ID(e.parent, "")
			}
			l.Conversations = append(l.Conversations, c)
		}
		return nil
	})
}

// Caller implements [store.Recognizer]. Gemini CLI does not name the calling session, and records a call only
// after it has made it. But it records the user's request before the call, and it started this process. So if
// only one session of the project was written since this process started, that session makes the call.
func (s *Store) Caller(ctx context.Context, from caller.Caller) store.Caller {
	c := store.Caller{Evidence: s.Evidence(from, strings.HasPrefix(from.Client, "gemini-cli"), "GEMINI_CLI")}
	if c.Evidence != store.NoEvidence && from.Process == caller.Server && from.Tool != "" && s.Project.Has(from.Dir) {
		if session := s.written(ctx, from); session != "" {
			c.IDs = []transcript.ID{s.ID(session, "")}
		}
	}
	return c
}

// written returns the only session of the project that was written since this process was started; "" if
// there are several or none, or a file or a folder cannot be read.
func (s *Store) written(ctx context.Context, from caller.Caller) (found string) {
	root, err := s.Store.Open()
	if err != nil {
		return ""
	}
	defer root.Close()
	all, problems := s.entries(root)
	for _, e := range all {
		if root.Stamp(e.File).Modified() < from.Started.UnixNano() {
			continue // also if it was just deleted
		}
		err := history.Peek(ctx, &s.Store, root, e)
		isSecond := found != "" && found != e.session()
		if err != nil || e.session() == "" || isSecond {
			return ""
		}
		found = e.session()
	}
	if len(problems) > 0 {
		return ""
	}
	return found
}
