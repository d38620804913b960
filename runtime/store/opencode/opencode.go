// Package opencode reads the conversations that opencode recorded for a project:
// sessions and those of their sub-agents, from its databases, and from the tree of files
// that versions before 1.2 kept and later ones do not always take over.
//
// It is a reader. It never creates, changes or locks anything, follows no recorded path,
// and of a database reads only the tables of sessions, messages and parts: others hold
// tokens. A session belongs to a project by the directory that is recorded in it.
package opencode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/caller"
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
	base, _ := history.Open(o, Name, Home, "", IDs())
	s := &Store{Store: base}
	if s.Dir == "" {
		return nil, false
	}
	if path := s.Getenv("OPENCODE_DB"); o.Home == "" && path != "" && path != ":memory:" {
		if s.moved = filepath.Clean(path); !filepath.IsAbs(path) {
			s.moved = filepath.Join(s.Dir, path)
		}
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

// databases returns the paths of the databases, the one that counts most first. Those of other
// release channels have the name of the channel in theirs. The error is that of reading the home.
func (s *Store) databases() (paths []string, err error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	all := []string{s.moved, filepath.Join(s.Dir, "opencode.db")}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "opencode-") && strings.HasSuffix(e.Name(), ".db") {
			all = append(all, filepath.Join(s.Dir, e.Name()))
		}
	}
	for _, path := range all {
		if info, err := os.Stat(path); err == nil && !info.IsDir() && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths, err
}

// sessionPrefix is what opencode's own ids of sessions begin with.
const sessionPrefix = "ses_"

// IDs returns what ids are: the id of a session, which alone is one too.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "opencode-", Session: isSession, Bare: isSession, Example: "opencode-ses_e002d05cfffe2zEdz416bNOdYv"}
}

func id(session string) transcript.ID { return IDs().ID(session, "") }

// isSession reports whether a text is the id of a session.
func isSession(s string) bool { return isID(s, sessionPrefix) }

// isID reports whether a text is an id with a prefix, and can be the name of a file.
func isID(s, prefix string) bool {
	rest, ok := strings.CutPrefix(s, prefix)
	return ok && history.IsName(rest)
}

// Caller implements [store.Recognizer]. opencode tells nothing of the session that
// calls, but has recorded the call by the time it makes it, as one that runs.
func (s *Store) Caller(ctx context.Context, from caller.Caller) store.Caller {
	c := store.Caller{Evidence: s.Evidence(from, from.Client == "opencode", "OPENCODE")}
	if c.Evidence != store.NoEvidence && from.Process == caller.Server && from.Tool != "" {
		if calling := s.calling(ctx, from); calling != "" {
			c.Evidence, c.IDs = store.ByCall, []transcript.ID{id(calling)}
		}
	}
	return c
}

// calling returns the session in which a call runs; "" where there is none, or several
// make the same call.
func (s *Store) calling(ctx context.Context, from caller.Caller) string {
	l := s.open()
	defer l.Close()
	found := ""
	for _, src := range l.sources {
		d, ok := src.(*database)
		if !ok {
			continue // versions with trees of files are not known to record calls in time
		}
		parts, _ := d.latest(ctx) // of what cannot be read nothing is known
		for _, p := range parts {
			if isSession(p.id) && p.isRunning(from) {
				if found != "" && found != p.id {
					return ""
				}
				found = p.id
			}
		}
	}
	return found
}

// isRunning reports whether a part is a call that runs, and was begun since this
// process was: those of an opencode that was killed run for ever.
func (p *part) isRunning(from caller.Caller) bool {
	return p.Type == "tool" && transcript.IsTool(p.Tool, from.Tool) && p.State.Status == "running" &&
		!timeOf(p.State.Time.Start).Before(from.Started.Truncate(time.Millisecond)) && isSameJSON(p.State.Input, from.Arguments)
}

// isSameJSON reports whether two JSON texts have the same value. No arguments are an
// empty object.
func isSameJSON(a, b []byte) bool {
	value := func(raw []byte) (v any, err error) {
		if len(bytes.TrimSpace(raw)) == 0 {
			return map[string]any{}, nil
		}
		err = json.Unmarshal(raw, &v)
		return v, err
	}
	x, errX := value(a)
	y, errY := value(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}
