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
	"slices"

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
	s, ok := history.Open(o, Name, Home, "", IDs())
	s.Moved = []string{sessionsDir, archiveDir}
	return &Store{s}, ok && slices.ContainsFunc(s.Moved, func(dir string) bool { return store.IsThere(filepath.Join(s.Dir, dir)) })
}

// Home returns the directory that Codex keeps everything in, or "" where the
// environment does not tell.
func Home(getenv func(string) string) string {
	return cmp.Or(getenv("CODEX_HOME"), history.InHome(getenv, ".codex"))
}

// IDs returns what ids are: the uuid of a thread. A bare uuid is one too, where it is of version 7.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "codex-", Bare: history.IsTimed, Example: "codex-01a1ffd7-7b57-7ca0-9fa0-3b693e56b89f"}
}

func id(thread string) transcript.ID { return IDs().ID(thread, "") }
