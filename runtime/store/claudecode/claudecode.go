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
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "claude-code"

// Store is the conversations of a project, as a [store.Store], in the directory of projects.
type Store struct{ history.Store }

// Open returns the store, and false where Claude Code has recorded nothing there.
func Open(o store.Options) (*Store, bool) {
	home := cmp.Or(o.Home, Home(o.Env()))
	if home == "" {
		return nil, false
	}
	s := &Store{history.New(o, Name, filepath.Join(home, "projects"), ParseID)}
	return s, store.IsThere(s.Dir)
}

// Home returns the directory that Claude Code keeps everything in, or "" where the
// environment does not tell.
func Home(getenv func(string) string) string {
	return cmp.Or(getenv("CLAUDE_CONFIG_DIR"), history.InHome(getenv, ".claude"))
}

// Open implements [store.Store].
func (s *Store) Open(context.Context) (store.Session, []store.Problem, error) {
	root, err := history.OpenRoot(s.Dir, s.Facts.Look())
	if err != nil {
		return nil, nil, fmt.Errorf("opening the conversations in %s: %w", s.Dir, err)
	}
	return &session{s, root}, nil, nil
}

// IDPrefix is what the ids of conversations of this store begin with.
const IDPrefix = "claude-"

// ParseID reads an id: "claude-" and the uuid of a session, with "." and the name of a
// sub-agent behind it where it is that of one, in any case. A bare uuid is one too,
// unless it is of version 7, as those of Codex are. The error is a
// [*store.BadIDError].
func ParseID(text string) (transcript.ID, error) {
	rest, prefixed := history.CutPrefix(text, IDPrefix)
	session, agent, isAgent := strings.Cut(rest, ".")
	session = strings.ToLower(session)
	switch {
	case !history.IsUUID(session) || !prefixed && history.IsTimed(session):
		return "", history.BadID(text, `expected "claude-" and the uuid of a session, such as claude-5afd8764-1e4a-4af6-951b-d71a909fd1bc`)
	case isAgent && !history.IsName(agent):
		return "", history.BadID(text, `after "." only the name of a sub-agent may follow: letters and digits`)
	}
	return id(session, agent), nil
}

// Claims reports whether a text can only be meant as an id of this store, be it a wrong
// one.
func Claims(text string) bool {
	rest, prefixed := history.CutPrefix(text, IDPrefix)
	return prefixed || history.IsUUID(strings.ToLower(rest)) && !history.IsTimed(rest)
}

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
	return session, agent, ok && history.IsUUID(session)
}
