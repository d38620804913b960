// Package qwen reads the conversations that Qwen Code recorded for a project: sessions, also archived ones,
// and those of their background sub-agents.
//
// Qwen Code writes JSON lines, each with the uuid of the record before it, to projects/FOLDER/chats/SESSION.jsonl, to
// chats/archive once a session is archived, and for a sub-agent to projects/FOLDER/subagents/SESSION/agent-NAME.jsonl.
// They are below QWEN_RUNTIME_DIR, QWEN_HOME or .qwen in the home directory, on all systems. It only appends: a session
// that goes on grows, and what the user goes back from stays in a dead branch. A fork begins with copies of the records
// of its origin, with their times. The directory of a session is recorded in each line. Checked with version 0.24.4.
//
// The package never creates, changes or locks a file, and opens only regular files below the projects.
package qwen

import (
	"cmp"
	"context"
	"path"
	"strings"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "qwen"

// Store has the conversations of a project. It implements [store.Store].
type Store struct{ history.Store }

// Open returns the store, and false if Qwen Code has recorded nothing.
func Open(o store.Options) (*Store, bool) {
	s, ok := history.Open(o, Name, Home(o.Env()), "projects", IDs())
	return &Store{s}, ok
}

// Home returns the directory of Qwen Code, or "" if the environment does not name it.
func Home(getenv func(string) string) string {
	return cmp.Or(getenv("QWEN_RUNTIME_DIR"), getenv("QWEN_HOME"), history.InHome(getenv, ".qwen"))
}

// IDs returns the form of ids: the uuid of a session, and for a sub-agent also its name.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "qwen-", Part: history.IsName, Example: "qwen-698bf473-c5eb-4442-85cb-31fdc426f7ec"}
}

// entry is a file of a session or a sub-agent.
type entry struct {
	history.Entry[history.Session]
	agent string // name of a sub-agent; empty for a session
}

// entries returns the files of sessions and sub-agents, and problems for the folders that cannot be read.
func (s *Store) entries(root *history.Root) (all []*entry, problems []store.Problem) {
	// The folders are PROJECT/chats, PROJECT/chats/archive and PROJECT/subagents/SESSION.
	return history.Entries(&s.Store, root, ".", func(dir string) bool {
		switch names := strings.Split(dir, "/"); len(names) {
		case 1:
			return true
		case 2:
			return names[1] == "chats" || names[1] == "subagents"
		case 3:
			return names[1] == "chats" && names[2] == "archive" || names[1] == "subagents" && history.IsUUID(names[2])
		}
		return false
	}, (*entry).parseName)
}

// parseName sets the fields that the name of the file has, and reports whether it is that of a session or a sub-agent.
func (e *entry) parseName() bool {
	below := strings.Split(e.File, "/")
	session, isLog := strings.CutSuffix(path.Base(e.File), ".jsonl")
	switch {
	case !isLog || len(below) < 3:
		return false
	case below[1] == "chats":
		e.Archived = len(below) == 4 // PROJECT/chats/archive/SESSION.jsonl
	default: // PROJECT/subagents/SESSION/agent-AGENT.jsonl
		agent, isAgent := strings.CutPrefix(session, "agent-")
		if !isAgent || !history.IsName(agent) || len(below) != 4 {
			return false
		}
		session, e.agent, e.About = below[2], agent, strings.TrimSuffix(e.File, ".jsonl")+".meta.json"
		e.Parent = IDs().ID(session, "")
	}
	e.ID = IDs().ID(session, e.agent)
	return history.IsUUID(session)
}

// List implements [store.Store].
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	return history.ListFiles(ctx, &s.Store, scope, s.entries, nil, nil)
}

// Caller implements [store.Recognizer]. Qwen Code names the calling session in the environment of a shell command.
func (s *Store) Caller(_ context.Context, from caller.Caller) store.Caller {
	c := store.Caller{Evidence: s.Evidence(from, strings.HasPrefix(from.Client, "qwen-"), "QWEN_CODE")}
	if session := s.Getenv("QWEN_CODE_SESSION_ID"); c.Evidence == store.ByEnvironment && history.IsUUID(session) {
		c.IDs = []transcript.ID{s.ID(session, "")}
	}
	return c
}
