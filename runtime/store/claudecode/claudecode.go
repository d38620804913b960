// Package claudecode reads the conversations that Claude Code recorded for a project:
// sessions and those of their sub-agents, from the transcripts below its
// configuration directory.
//
// It is a reader. It never creates, changes or locks anything, and opens only regular
// files below the directory of projects. A conversation belongs to a project by the
// working directory that is recorded in it, never by the name of a folder, which
// several directories share.
package claudecode

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/store/internal/sessionid"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/trust"
)

// Name is the name of this kind of store.
const Name = "claude-code"

// Store is the conversations of a project, as a [store.Store]. It holds no open files
// and is safe for concurrent use.
type Store struct {
	projects string // the directory
	project  *project.Project
	getenv   func(string) string
	facts    *facts.Book
}

// Open returns the store, and false where Claude Code has recorded nothing there.
func Open(o store.Options) (*Store, bool) {
	home := cmp.Or(o.Home, Home(o.Env()))
	if home == "" {
		return nil, false
	}
	s := &Store{projects: filepath.Join(home, "projects"), project: o.Project, getenv: o.Env()}
	s.facts = o.Facts.Of(Name, s.projects)
	return s, store.IsThere(s.projects)
}

// Home returns the directory that Claude Code keeps everything in, or "" where the
// environment does not tell.
func Home(getenv func(string) string) string {
	if dir := getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	home := trust.Home(getenv)
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".claude")
}

// Name implements [store.Store].
func (s *Store) Name() string { return Name }

// Place implements [store.Store].
func (s *Store) Place() string { return s.projects }

// Open implements [store.Store].
func (s *Store) Open(context.Context) (store.Session, []store.Problem, error) {
	root, err := os.OpenRoot(s.projects)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the conversations in %s: %w", s.projects, err)
	}
	opened := &session{store: s, root: root, look: s.facts.Look()}
	if opened.look.Wanted() {
		opened.dir, _ = root.Open(".") // without it everything is read
	}
	return opened, nil, nil
}

// IDPrefix is what the ids of conversations of this store begin with.
const IDPrefix = "claude-"

// ParseID reads an id: "claude-" and the uuid of a session, with "." and the name of a
// sub-agent behind it where it is that of one, in any case. A bare uuid is one too,
// unless it is of version 7, as those of Codex are. The error is a
// [*store.BadIDError].
func ParseID(text string) (transcript.ID, error) {
	rest, prefixed := sessionid.CutPrefix(text, IDPrefix)
	session, agent, isAgent := strings.Cut(rest, ".")
	session = strings.ToLower(session)
	switch {
	case !sessionid.IsUUID(session) || !prefixed && sessionid.IsTimed(session):
		return "", sessionid.Bad(text, `expected "claude-" and the uuid of a session, such as claude-5afd8764-1e4a-4af6-951b-d71a909fd1bc`)
	case isAgent && !sessionid.IsName(agent):
		return "", sessionid.Bad(text, `after "." only the name of a sub-agent may follow: letters and digits`)
	}
	return id(session, agent), nil
}

// Claims reports whether a text can only be meant as an id of this store, be it a wrong
// one.
func Claims(text string) bool {
	rest, prefixed := sessionid.CutPrefix(text, IDPrefix)
	return prefixed || sessionid.IsUUID(strings.ToLower(rest)) && !sessionid.IsTimed(rest)
}

// ParseID implements [store.Store].
func (s *Store) ParseID(text string) (transcript.ID, error) { return ParseID(text) }

// id returns the id of a session, or of a sub-agent where that is not empty.
func id(session, agent string) transcript.ID {
	if agent != "" {
		agent = "." + agent
	}
	return transcript.ID(IDPrefix + session + agent)
}

// split returns the session and the sub-agent of an id.
func split(id transcript.ID) (session, agent string, ok bool) {
	rest, ok := strings.CutPrefix(string(id), IDPrefix)
	session, agent, _ = strings.Cut(rest, ".")
	return session, agent, ok && sessionid.IsUUID(session)
}
