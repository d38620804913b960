// Package codex reads the conversations that the Codex CLI recorded for a project:
// threads and those of their sub-agents, from the rollouts in its home directory.
//
// It is a reader. It never creates, changes or locks anything, opens only regular
// files below the home directory, and none of the databases there: rollouts are what
// they are made of. Only the two directories of rollouts may be links to elsewhere, as
// users make them who have moved what is large. A thread belongs to a project by the
// working directory that is recorded in it.
package codex

import (
	"cmp"
	"path/filepath"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "codex"

// Store is the conversations of a project, as a [store.Store], in the home directory.
type Store struct{ history.Store }

// Open returns the store, and false where Codex has recorded nothing there.
func Open(o store.Options) (*Store, bool) {
	home := cmp.Or(o.Home, Home(o.Env()))
	if home == "" {
		return nil, false
	}
	s := &Store{history.New(o, Name, home, ParseID)}
	s.Moved = []string{sessionsDir, archiveDir}
	return s, store.IsThere(filepath.Join(home, sessionsDir)) || store.IsThere(filepath.Join(home, archiveDir))
}

// Home returns the directory that Codex keeps everything in, or "" where the
// environment does not tell.
func Home(getenv func(string) string) string {
	return cmp.Or(getenv("CODEX_HOME"), history.InHome(getenv, ".codex"))
}

// IDPrefix is what the ids of conversations of this store begin with.
const IDPrefix = "codex-"

// ids returns what ids are: the uuid of a thread. A bare uuid is one too, where it is of version 7.
func ids() *history.IDs {
	return &history.IDs{Prefix: IDPrefix, Bare: history.IsTimed, Example: IDPrefix + "01a1ffd7-7b57-7ca0-9fa0-3b693e56b89f"}
}

// ParseID reads an id. The error is a [*store.BadIDError].
func ParseID(text string) (transcript.ID, error) { return ids().Parse(text) }

// Claims reports whether a text can only be meant as an id of this store, be it a wrong
// one.
func Claims(text string) bool { return ids().Claims(text) }

func id(thread string) transcript.ID { return ids().ID(thread, "") }
