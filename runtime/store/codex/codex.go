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
	"context"
	"fmt"
	"path/filepath"
	"strings"

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
	return s, store.IsThere(filepath.Join(home, sessionsDir)) || store.IsThere(filepath.Join(home, archiveDir))
}

// Home returns the directory that Codex keeps everything in, or "" where the
// environment does not tell.
func Home(getenv func(string) string) string {
	return cmp.Or(getenv("CODEX_HOME"), history.InHome(getenv, ".codex"))
}

// Open implements [store.Store].
func (s *Store) Open(context.Context) (store.Session, []store.Problem, error) {
	look := s.Facts.Look()
	h, err := openHome(s.Dir, look)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the conversations in %s: %w", s.Dir, err)
	}
	return &session{store: s, home: h, look: look}, nil, nil
}

// IDPrefix is what the ids of conversations of this store begin with.
const IDPrefix = "codex-"

// ParseID reads an id: "codex-" and the uuid of a thread, in any case. A bare uuid is
// one too, where it is of version 7. The error is a [*store.BadIDError].
func ParseID(text string) (transcript.ID, error) {
	rest, prefixed := history.CutPrefix(text, IDPrefix)
	thread := strings.ToLower(rest)
	if !history.IsUUID(thread) || !prefixed && !history.IsTimed(thread) {
		return "", history.BadID(text, `expected "codex-" and the uuid of a thread, such as codex-01a1ffd7-7b57-7ca0-9fa0-3b693e56b89f`)
	}
	return id(thread), nil
}

// Claims reports whether a text can only be meant as an id of this store, be it a wrong
// one.
func Claims(text string) bool {
	rest, prefixed := history.CutPrefix(text, IDPrefix)
	return prefixed || history.IsUUID(strings.ToLower(rest)) && history.IsTimed(rest)
}

func id(thread string) transcript.ID { return transcript.ID(IDPrefix + thread) }
