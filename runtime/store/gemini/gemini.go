// Package gemini reads the conversations that Gemini CLI recorded for a project:
// sessions and those of their sub-agents, from the chats below its home directory.
//
// It is a reader. It never creates, changes or locks anything, and opens only regular
// files below the directory of projects. A session belongs to a project by the directory
// that the program notes beside it; old versions have only a hash of that, which is
// compared with the hashes of the directories that are asked for.
package gemini

import (
	"path/filepath"

	"github.com/convtools/convtools/runtime/store"
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
