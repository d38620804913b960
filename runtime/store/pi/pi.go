// Package pi reads the conversations that pi recorded for a project, and those of OpenClaw, whose agents record
// in the same form.
//
// Both write JSON lines, each with the id of the record before it: pi to sessions/FOLDER/TIME_SESSION.jsonl
// below PI_CODING_AGENT_DIR or .pi/agent in the home directory, on all systems. They only append: a session that
// goes on grows, and what the user goes back from stays in a dead branch. A fork names the file of its origin and
// begins with copies of its records, with their times. The directory of a session is in its first line. pi records no
// sub-agents. Checked with pi 1.6.0.
//
// OpenClaw keeps its agents below OPENCLAW_STATE_DIR, .openclaw or .openclaw-PROFILE in the home directory or in
// OPENCLAW_HOME. In agents/AGENT it writes the same lines to agent/openclaw-agent.sqlite, a row each, and in older
// versions to sessions/SESSION.jsonl. A session belongs to the directory in which its agent works. After a reset, the
// session goes on or another one follows it. When the user goes back, OpenClaw copies the session up to there. Sessions
// that it deleted, or moved out of the database for their age, are not read. Checked with OpenClaw 2026.9.6.
//
// The package never creates, changes or locks a file, follows no recorded path, and opens only regular files
// below the sessions.
package pi

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "pi"

// AgentLabel is the label of a conversation of OpenClaw. Its value is the name of the agent.
const AgentLabel = "openclaw"

const agents = "agents" // the directory with the directories of OpenClaw's agents

// Store has the conversations of a project. It implements [store.Store].
type Store struct{ history.Store }

// Open returns the store, and false if nothing is recorded in the home.
func Open(o store.Options) (*Store, bool) {
	base, ok := history.Open(o, Name, home(o.Env()), "sessions", IDs())
	s := &Store{base}
	_, err := os.Stat(s.database())
	return s, ok || base.Dir != "" && !errors.Is(err, fs.ErrNotExist)
}

// home returns the directory of pi, or "" if the environment does not name it.
func home(getenv func(string) string) string {
	return cmp.Or(getenv("PI_CODING_AGENT_DIR"), history.InHome(getenv, ".pi", "agent"))
}

// Homes returns the directory of pi, "" if the environment does not name it, and those of the agents of OpenClaw.
func Homes(getenv func(string) string) []string {
	homes := []string{home(getenv)}
	for _, state := range stateDirs(getenv) {
		dir := filepath.Join(state, agents)
		entries, _ := os.ReadDir(dir) // there need not be any
		for _, agent := range entries {
			homes = append(homes, filepath.Join(dir, agent.Name()))
		}
	}
	return homes
}

// IDs returns the form of ids: the id of a session.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "pi-", Session: history.IsName, Example: "pi-01a222da-0370-71dd-8a38-87fed5ea4df5"}
}

// entry is the file of a session.
type entry struct{ history.Entry[history.Session] }

// entries returns the files of sessions, and problems for the folders that cannot be read.
func (s *Store) entries(root *history.Root) (all []*entry, problems []store.Problem) {
	isFolder := func(dir string) bool { return !strings.Contains(dir, "/") }
	return history.Entries(&s.Store, root, ".", isFolder, func(e *entry) bool {
		session := sessionIn(e.File)
		e.ID = s.ID(session, "")
		return session != ""
	})
}

// sessionIn returns the id of the session in the name of a file. pi puts the time before the id, OpenClaw does not. It
// returns "" for other files, such as a trace of the same session.
func sessionIn(file string) string {
	const form = "2026-11-28T15-50-42-801Z_" // an example of the time: all have T, Z_ and their end at the same places
	session, isLog := strings.CutSuffix(path.Base(file), ".jsonl")
	if len(session) > len(form) && session[10] == 'T' && session[23:25] == "Z_" {
		session = session[len(form):]
	}
	if isLog && history.IsName(session) {
		return session
	}
	return ""
}

// List implements [store.Store]. A session in the database is not read from a file.
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	files := &store.Listing{}
	if store.IsThere(s.Dir) { // an agent of OpenClaw can have a database alone
		var err error
		if files, err = history.ListFiles(ctx, &s.Store, scope, s.entries, nil, nil); err != nil {
			return nil, err
		}
	}
	l, err := s.addDatabase(ctx, scope, files)
	if agent := filepath.Dir(s.Dir); err == nil && filepath.Base(filepath.Dir(agent)) == agents { // of OpenClaw
		for i := range l.Conversations {
			l.Conversations[i].Labels = map[string]string{AgentLabel: filepath.Base(agent)}
		}
	}
	return l, err
}

// Caller implements [store.Recognizer]. pi names the calling session in the environment of a shell command.
func (s *Store) Caller(_ context.Context, from caller.Caller) store.Caller {
	c := store.Caller{Evidence: s.Evidence(from, false, "PI_SESSION_ID")}
	if session := s.Getenv("PI_SESSION_ID"); c.Evidence != store.NoEvidence && history.IsName(session) {
		c.IDs = []transcript.ID{s.ID(session, "")}
	}
	return c
}
