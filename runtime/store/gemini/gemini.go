// Package gemini reads the conversations that Gemini CLI recorded for a project:
// sessions and those of their sub-agents, from the chats below its home directory.
//
// It is a reader. It never creates, changes or locks anything, and opens only regular
// files below the directory of projects. A session belongs to a project by the directory
// that the program notes beside it; old versions have only a hash of that, which is
// compared with the hashes of the directories that are asked for.
package gemini

import (
	"cmp"
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

// projectsDir is the directory of the folders of projects, in the home.
const projectsDir = "tmp"

// Open returns the store, and false where Gemini CLI has recorded nothing there.
func Open(o store.Options) (*Store, bool) {
	home := cmp.Or(o.Home, Home(o.Env()))
	if home == "" {
		return nil, false
	}
	s := &Store{history.New(o, Name, filepath.Join(home, projectsDir), ParseID)}
	return s, store.IsThere(s.Dir)
}

// Home returns the directory that Gemini CLI keeps everything in, or "" where the
// environment does not tell.
func Home(getenv func(string) string) string {
	if home := getenv("GEMINI_CLI_HOME"); home != "" {
		return filepath.Join(home, ".gemini")
	}
	return history.InHome(getenv, ".gemini")
}

// IDPrefix is what the ids of conversations of this store begin with.
const IDPrefix = "gemini-"

// ids returns what ids are: the uuid of a session, with the id of a sub-agent behind it where it is
// that of one.
func ids() *history.IDs {
	return &history.IDs{Prefix: IDPrefix, Part: history.IsName, Example: IDPrefix + "2c154aa7-742d-46ce-af44-de020dbaa17b"}
}

// ParseID reads an id. The error is a [*store.BadIDError].
func ParseID(text string) (transcript.ID, error) { return ids().Parse(text) }

// Claims reports whether a text can only be meant as an id of this store, be it a wrong
// one.
func Claims(text string) bool { return ids().Claims(text) }

// id returns the id of a session, or of a sub-agent where that is not empty.
func id(session, agent string) transcript.ID { return ids().ID(session, agent) }
