// Package opencode reads the conversations that opencode recorded for a project: sessions and those of
// their sub-agents, in its databases, and in the tree of files of versions before 1.2, which later
// versions do not always import.
//
// It only reads: it never creates, changes or locks anything, follows no recorded path, and reads only the
// tables of sessions, messages and parts of a database: others hold tokens. A session belongs to a
// project by its recorded directory.
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

// Store is the conversations of a project in a home directory. It implements [store.Store].
type Store struct {
	history.Store
	moved string // the path of a database in the environment; may be empty
}

// Open returns the store, and false if opencode has recorded nothing. A database in the environment is read
// together with those of the home in the environment.
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

// Home returns the directory of opencode, or "" if the environment does not name it. It is the same on
// all systems.
func Home(getenv func(string) string) string {
	if data := getenv("XDG_DATA_HOME"); data != "" {
		return filepath.Join(data, "opencode")
	}
	return history.InHome(getenv, ".local", "share", "opencode")
}

// databases returns the paths of the databases: of several with a session, the first is read. A database
// of another release channel has the channel in its name. The error is that of reading the home.
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

// IDs returns the form of ids: the id of a session, also without the prefix.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "opencode-", Session: isSession, Bare: isSession, Example: "opencode-ses_e002d05cfffe2zEdz416bNOdYv"}
}

func convID(session string) transcript.ID { return IDs().ID(session, "") }

// isSession reports whether a text is the id of a session.
func isSession(s string) bool {
	rest, ok := strings.CutPrefix(s, "ses_")
	return ok && history.IsName(rest)
}

// Caller implements [store.Recognizer]. opencode does not send the id of the calling session, but records a
// call before it makes it, as one that runs.
func (s *Store) Caller(ctx context.Context, from caller.Caller) store.Caller {
	c := store.Caller{Evidence: s.Evidence(from, from.Client == "opencode", "OPENCODE")}
	if c.Evidence != store.NoEvidence && from.Process == caller.Server && from.Tool != "" {
		if calling := s.calling(ctx, from); calling != "" {
			c.Evidence, c.IDs = store.ByCall, []transcript.ID{convID(calling)}
		}
	}
	return c
}

// calling returns the session in which a call runs; "" if there is none, or if several make the same
// call.
func (s *Store) calling(ctx context.Context, from caller.Caller) string {
	l := s.open()
	defer l.Close()
	found := ""
	for _, src := range l.sources {
		d, ok := src.(*database)
		if !ok {
			continue // it is not known that versions with trees record calls in time
		}
		parts, _ := d.latest(ctx) // without them nothing is known
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

// isRunning reports whether a part is this call, and runs since this process started: the calls of an
// opencode that was killed run for ever.
func (p *part) isRunning(from caller.Caller) bool {
	return p.Type == "tool" && transcript.IsTool(p.Tool, from.Tool) && p.State.Status == "running" &&
		!timeOf(p.State.Time.Start).Before(from.Started.Truncate(time.Millisecond)) && isSameJSON(p.State.Input, from.Arguments)
}

// isSameJSON reports whether two JSON texts have the same value. An empty text is an empty object.
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
