// Package codex reads the conversations that the Codex CLI recorded for a project:
// threads and those of their sub-agents, from the rollouts in its home directory.
//
// It is a reader. It never creates, changes or locks anything, opens only regular
// files below the home directory, and none of the databases there: rollouts are what
// they are made of. A thread belongs to a project by the working directory that is
// recorded in it.
package codex

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/project"
	"github.com/convtools/convtools/runtime/store/internal/sessionid"
	"github.com/convtools/convtools/runtime/transcript"
)

// Source is what conversations of this store have as their source.
const Source = "codex"

// Options says which conversations a store has.
type Options struct {
	// Dir is a directory of the project. Empty means the working directory of the
	// process.
	Dir string
	// Getenv looks up the environment; nil means os.Getenv. It is asked for CODEX_HOME
	// and the home directory, and for the thread that runs a command.
	Getenv func(string) string
}

// Store is the conversations of a project, as a [store.Store]. It holds no open files
// and is safe for concurrent use.
type Store struct {
	home    string
	project *project.Project
	getenv  func(string) string
}

// Open returns the store, and false where Codex has recorded nothing on this machine.
func Open(o Options) (*Store, bool) {
	getenv := o.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	home := homeDir(getenv, runtime.GOOS)
	if home == "" {
		return nil, false
	}
	for _, dir := range []string{sessionsDir, archiveDir} {
		if info, err := os.Stat(filepath.Join(home, dir)); err == nil && info.IsDir() {
			return &Store{home: home, project: project.Of(o.Dir), getenv: getenv}, true
		}
	}
	return nil, false
}

// homeDir returns the directory that Codex keeps everything in, or "" where the
// environment does not tell.
func homeDir(getenv func(string) string, goos string) string {
	if dir := getenv("CODEX_HOME"); dir != "" {
		return dir
	}
	home := getenv("HOME")
	if goos == "windows" {
		home = getenv("USERPROFILE")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".codex")
}

// Place implements [store.Store].
func (s *Store) Place() string { return s.home }

// Any reports whether there is a conversation of the project.
func (s *Store) Any(ctx context.Context) bool {
	session, _, err := s.Open(ctx)
	if err != nil {
		return false
	}
	defer session.Close()
	found, _, err := session.List(ctx, store.Live|store.Archived)
	return err == nil && len(found) > 0
}

// Open implements [store.Store].
func (s *Store) Open(context.Context) (store.Session, []store.Problem, error) {
	root, err := os.OpenRoot(s.home)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the conversations in %s: %w", s.home, err)
	}
	return &session{store: s, root: root}, nil, nil
}

// IDPrefix is what the ids of conversations of this store begin with.
const IDPrefix = "codex-"

// ParseID reads an id: "codex-" and the uuid of a thread, in any case. A bare uuid is
// one too, where it is of version 7. The error is a [*store.BadIDError].
func ParseID(text string) (transcript.ID, error) {
	rest, prefixed := sessionid.CutPrefix(text, IDPrefix)
	thread := strings.ToLower(rest)
	if !sessionid.IsUUID(thread) || !prefixed && !sessionid.IsTimed(thread) {
		return "", sessionid.Bad(text, `expected "codex-" and the uuid of a thread, such as codex-01a1ffd7-7b57-7ca0-9fa0-3b693e56b89f`)
	}
	return id(thread), nil
}

// Claims reports whether a text can only be meant as an id of this store, be it a wrong
// one.
func Claims(text string) bool {
	rest, prefixed := sessionid.CutPrefix(text, IDPrefix)
	return prefixed || sessionid.IsUUID(strings.ToLower(rest)) && sessionid.IsTimed(rest)
}

// ParseID implements [store.Store].
func (s *Store) ParseID(text string) (transcript.ID, error) { return ParseID(text) }

func id(thread string) transcript.ID { return transcript.ID(IDPrefix + thread) }

var errCompressed = errors.New("it is compressed with zstd, which is not read")
