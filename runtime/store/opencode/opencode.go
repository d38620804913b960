// Package opencode reads the conversations that opencode recorded for a project:
// sessions and those of their sub-agents, from its databases, and from the tree of files
// that versions before 1.2 kept and later ones do not always take over.
//
// It is a reader. It never creates, changes or locks anything, follows no recorded path,
// and of a database reads only the tables of sessions, messages and parts: others hold
// tokens. A session belongs to a project by the directory that is recorded in it.
package opencode

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "opencode"

// Store is the conversations of a project, as a [store.Store], in the home directory.
type Store struct {
	history.Store
	moved string // path of a database that the environment names; empty for none
}

// Open returns the store, and false where opencode has recorded nothing there. A
// database that the environment names is read with those of the home it names.
func Open(o store.Options) (*Store, bool) {
	s := &Store{Store: history.New(o, Name, cmp.Or(o.Home, Home(o.Env())), ParseID)}
	if s.Dir == "" {
		return nil, false
	}
	if o.Home == "" {
		s.moved = movedDatabase(o.Env(), s.Dir)
	}
	databases, err := s.databases()
	return s, len(databases) > 0 || err != nil || store.IsThere(filepath.Join(s.Dir, treeDir))
}

// Home returns the directory that opencode keeps everything in, or "" where the
// environment does not tell. It is the same on all systems.
func Home(getenv func(string) string) string {
	if data := getenv("XDG_DATA_HOME"); data != "" {
		return filepath.Join(data, "opencode")
	}
	return history.InHome(getenv, ".local", "share", "opencode")
}

// movedDatabase returns the path of the database that the environment names, or "".
func movedDatabase(getenv func(string) string, home string) string {
	switch path := getenv("OPENCODE_DB"); {
	case path == "" || path == ":memory:":
		return ""
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	default:
		return filepath.Join(home, path)
	}
}

// databaseName is the name of the database. Those of other release channels have "-"
// and the name of the channel in it.
const databaseName, databaseExtension = "opencode", ".db"

// databases returns the paths of the databases, the one that counts most first. The error
// is that of reading the home.
func (s *Store) databases() ([]string, error) {
	var paths []string
	add := func(path string) {
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	if s.moved != "" {
		add(s.moved)
	}
	add(filepath.Join(s.Dir, databaseName+databaseExtension))
	entries, err := os.ReadDir(s.Dir)
	for _, e := range entries {
		channel, ok := strings.CutSuffix(e.Name(), databaseExtension)
		if ok && strings.HasPrefix(channel, databaseName+"-") {
			add(filepath.Join(s.Dir, e.Name()))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return paths, err
}

// IDPrefix is what the ids of conversations of this store begin with.
const IDPrefix = "opencode-"

// sessionPrefix is what opencode's own ids of sessions begin with.
const sessionPrefix = "ses_"

// ids returns what ids are: the id of a session, which alone is one too.
func ids() *history.IDs {
	return &history.IDs{Prefix: IDPrefix, Session: isSession, Bare: isSession, Example: IDPrefix + "ses_e002d05cfffe2zEdz416bNOdYv"}
}

// ParseID reads an id. The error is a [*store.BadIDError].
func ParseID(text string) (transcript.ID, error) { return ids().Parse(text) }

// Claims reports whether a text can only be meant as an id of this store, be it a wrong
// one.
func Claims(text string) bool { return ids().Claims(text) || strings.HasPrefix(text, sessionPrefix) }

func id(session string) transcript.ID { return ids().ID(session, "") }

// isSession reports whether a text is the id of a session.
func isSession(s string) bool { return isID(s, sessionPrefix) }

// isID reports whether a text is an id with a prefix, and can be the name of a file.
func isID(s, prefix string) bool {
	rest, ok := strings.CutPrefix(s, prefix)
	return ok && history.IsName(rest)
}
