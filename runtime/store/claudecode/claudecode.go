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
	s, ok := history.Open(o, Name, Home, "projects", IDs())
	return &Store{s}, ok
}

// Home returns the directory that Claude Code keeps everything in, or "" where the
// environment does not tell.
func Home(getenv func(string) string) string {
	return cmp.Or(getenv("CLAUDE_CONFIG_DIR"), history.InHome(getenv, ".claude"))
}

// IDs returns what ids are: the uuid of a session, with the name of a sub-agent behind it where it
// is that of one. A bare uuid is one too, unless it is of version 7, as those of Codex are.
func IDs() *history.IDs {
	return &history.IDs{
		Prefix: "claude-", Part: history.IsName, Example: "claude-5afd8764-1e4a-4af6-951b-d71a909fd1bc",
		Bare: func(uuid string) bool { return !history.IsTimed(uuid) },
	}
}

// id returns the id of a session, or of a sub-agent where that is not empty.
func id(session, agent string) transcript.ID { return IDs().ID(session, agent) }
