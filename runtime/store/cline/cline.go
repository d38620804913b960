// Package cline reads the conversations that Cline, Roo Code and Kilo's former extension recorded for a project: in
// the data directory of Cline's command line, and in those of the extensions in VS Code and its variants.
//
// Sessions of Cline since 3 are in sessions/ID: ID.json about the session, ID.messages.json with its messages, and
// AGENT.messages.json with those of a sub-agent.
// Tasks of Cline before 3, of Roo Code and of Kilo are in tasks/ID: api_conversation_history.json with the messages,
// and beside it Roo's history_item.json about the task. Cline's list of tasks is state/taskHistory.json. These are
// below CLINE_DATA_DIR or .cline/data in the home directory, and below globalStorage/EXTENSION in the directory User of
// an editor; below WSL that is in .vscode-server/data of the home there. A file is written anew when a session goes on.
// The directory and the title of a session are in the files about it. What a person said is marked in the messages,
// between texts about the environment. There are no forks. Checked with Cline 3.0.65; tasks were not recorded here.
//
// The package never creates, changes or locks a file, and opens only regular files below sessions and tasks, and the
// list of tasks.
package cline

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
)

// Name is the name of this kind of store.
const Name = "cline"

// Store has the conversations of a project. It implements [store.Store].
type Store struct{ history.Store }

// Open returns the store, and false if a home has neither sessions nor tasks.
func Open(o store.Options) (*Store, bool) {
	s, ok := history.Open(o, Name, home(o.Env()), "", IDs())
	return &Store{s}, ok && (store.IsThere(filepath.Join(s.Dir, sessionsDir)) || store.IsThere(filepath.Join(s.Dir, tasksDir)))
}

// home returns the data directory of Cline's command line, or "" if the environment does not name it.
func home(getenv func(string) string) string {
	return cmp.Or(getenv("CLINE_DATA_DIR"), history.InHome(getenv, ".cline", "data"))
}

// Homes returns the data directory of Cline's command line, and those of the extensions in editors and on servers.
func Homes(getenv func(string) string) []string {
	homes := []string{home(getenv)}
	var users []string
	for _, editor := range []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"} {
		users = append(users, history.InSettings(getenv, editor, "User"))
	}
	for _, server := range []string{".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server"} {
		users = append(users, history.InHome(getenv, server, "data", "User"))
	}
	for _, user := range users {
		for _, extension := range []string{"saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code"} {
			if user != "" {
				homes = append(homes, filepath.Join(user, "globalStorage", extension))
			}
		}
	}
	return homes
}

// IDs returns the form of ids: the id of a session or a task, and for a sub-agent also its name.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "cline-", Session: history.IsName, Part: history.IsName, Example: "cline-1795884522509_bnx05"}
}

// The names of files and directories.
const (
	sessionsDir  = "sessions"
	tasksDir     = "tasks"
	messagesFile = ".messages.json"
	taskFile     = "api_conversation_history.json"
	aboutTask    = "history_item.json"
	taskList     = "state/taskHistory.json"
)

// entry is the file with the messages of a session, a sub-agent or a task.
type entry struct {
	history.Entry[history.Session]
	session string
	agent   string // name of a sub-agent; empty for a session or a task
}

// entries returns the files with messages, and problems for the directories that cannot be read.
func (s *Store) entries(root *history.Root) (all []*entry, problems []store.Problem) {
	isTop := func(dir string) bool { return dir == sessionsDir || dir == tasksDir }
	return history.Entries(&s.Store, root, ".", func(dir string) bool {
		return isTop(dir) || isTop(path.Dir(dir)) && history.IsName(path.Base(dir))
	}, func(e *entry) bool { // of sessions/ID/AGENT.messages.json or tasks/ID/api_conversation_history.json
		dir, name := path.Split(e.File)
		kind, session := path.Split(strings.TrimSuffix(dir, "/"))
		agent, isMessages := strings.CutSuffix(name, messagesFile)
		switch {
		case kind == sessionsDir+"/" && isMessages && history.IsName(agent):
			e.About = dir + session + ".json"
			if agent != session { // else they are the messages of the session itself
				e.agent, e.Parent = agent, s.ID(session, "")
			}
		case kind == tasksDir+"/" && name == taskFile:
			if e.About = dir + aboutTask; root.Stamp(e.About) == filecache.Missing() {
				e.About = taskList
			}
		default:
			return false
		}
		e.session, e.ID = session, s.ID(session, e.agent)
		return true
	})
}

// List implements [store.Store].
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	return history.ListFiles(ctx, &s.Store, scope, s.entries, nil, nil)
}
