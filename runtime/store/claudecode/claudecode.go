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
	"path/filepath"

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

// IDPrefix is what the ids of conversations of this store begin with.
const IDPrefix = "claude-"

// ids returns what ids are: the uuid of a session, with the name of a sub-agent behind it where it
// is that of one. A bare uuid is one too, unless it is of version 7, as those of Codex are.
func ids() *history.IDs {
	return &history.IDs{
		Prefix: IDPrefix, Part: history.IsName, Example: IDPrefix + "5afd8764-1e4a-4af6-951b-d71a909fd1bc",
		Bare: func(uuid string) bool { return !history.IsTimed(uuid) },
	}
}

// ParseID reads an id. The error is a [*store.BadIDError].
func ParseID(text string) (transcript.ID, error) { return ids().Parse(text) }

// Claims reports whether a text can only be meant as an id of this store, be it a wrong
// one.
func Claims(text string) bool { return ids().Claims(text) }

// id returns the id of a session, or of a sub-agent where that is not empty.
func id(session, agent string) transcript.ID { return ids().ID(session, agent) }
