// Package opencode reads the conversations that opencode or Kilo recorded for a project: sessions and those of
// their sub-agents, in its databases, and in the tree of files of versions before 1.2, which later
// versions do not always import.
//
// It only reads: it never creates, changes or locks anything, follows no recorded path, and reads only the
// tables of sessions, messages and parts of a database: others hold tokens. A session belongs to a
// project by its recorded directory.
package opencode

import (
	"bytes"
	"cmp"
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

// Program is the name of a program that records in this form, and of its kind of store.
type Program string

// The programs: opencode, and Kilo, a fork of it. Kilo was checked with version 7.7.9.
const (
	OpenCode Program = "opencode"
	Kilo     Program = "kilo"
)

// variable returns the environment variable that a program sets for its children. Those that configure a program
// begin with it.
func (p Program) variable() string { return strings.ToUpper(string(p)) }

// Store is the conversations of a project in a home directory. It implements [store.Store].
type Store struct {
	history.Store
	program Program
	moved   string // the path of a database in the environment; may be empty
}

// Open returns the store in the directory o.Home, and false if the program has recorded nothing there. If o.Home is
// empty, it is the store in [Program.Home], with the database that the variable OPENCODE_DB or KILO_DB names.
func (p Program) Open(o store.Options) (*Store, bool) {
	base, _ := history.Open(o, string(p), p.Home(o.Env()), "", p.IDs())
	s := &Store{Store: base, program: p}
	if s.Dir == "" {
		return nil, false
	}
	if path := s.Getenv(p.variable() + "_DB"); o.Home == "" && path != "" && path != ":memory:" {
		s.moved = filepath.Clean(path)
		if !filepath.IsAbs(path) {
			s.moved = filepath.Join(s.Dir, path)
		}
	}
	databases, err := s.databases() // listing the conversations reports the error
	return s, len(databases) > 0 || err != nil || store.IsThere(filepath.Join(s.Dir, treeDir))
}

// Home returns the directory of the program, or "" if the environment does not name it. It is the same on all systems.
func (p Program) Home(getenv func(string) string) string {
	return cmp.Or(history.Under(getenv("XDG_DATA_HOME"), string(p)), history.InHome(getenv, ".local", "share", string(p)))
}

// databases returns the paths of the databases: that of the environment, that of the home, and those of other release
// channels, which have the channel in their names. The error is that of reading the home.
func (s *Store) databases() (paths []string, err error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	all := []string{s.moved, filepath.Join(s.Dir, string(s.program)+".db")}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), string(s.program)+"-") && strings.HasSuffix(e.Name(), ".db") {
			all = append(all, filepath.Join(s.Dir, e.Name()))
		}
	}
	for _, path := range all {
		info, err := os.Stat(path)
		isMissing, isDir := errors.Is(err, fs.ErrNotExist), err == nil && info.IsDir()
		if !isMissing && !isDir && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths, err
}

// IDs returns the form of ids: the id of a session. An id of opencode is valid without the prefix too.
func (p Program) IDs() *history.IDs {
	prefix := string(p) + "-"
	ids := &history.IDs{Prefix: prefix, Session: isSession, Example: prefix + "ses_e002d05cfffe2zEdz416bNOdYv"}
	if p == OpenCode {
		ids.Bare = isSession
	}
	return ids
}

// isSession reports whether a text is the id of a session.
func isSession(s string) bool {
	rest, ok := strings.CutPrefix(s, "ses_")
	return ok && history.IsName(rest)
}

// Caller implements [store.Recognizer]. The program does not send the id of the calling session. It records a call as
// running before it makes the call: the session that has this record is the calling session.
func (s *Store) Caller(ctx context.Context, from caller.Caller) store.Caller {
	c := store.Caller{Evidence: s.Evidence(from, from.Client == string(s.program), s.program.variable())} // by the name of the client, or else by the environment
	if c.Evidence != store.NoEvidence && from.Process == caller.Server && from.Tool != "" {
		if calling := s.calling(ctx, from); calling != "" { // it is "" if no session, or more than one, has such a record
			c.Evidence, c.IDs = store.ByCall, []transcript.ID{s.ID(calling, "")}
		}
	}
	return c
}

// calling returns the session in which a call runs; "" if there is none, or if the same call runs in several.
func (s *Store) calling(ctx context.Context, from caller.Caller) string {
	sources, l := s.open()
	defer l.Close()
	found := ""
	for _, src := range sources {
		d, ok := src.(*database)
		if !ok {
			continue // a tree of files, of an old version: some of these record a call only after they have made it
		}
		parts, _ := d.latest(ctx) // none after an error
		for _, p := range parts {
			session := p.id // latest has set it so
			if isSession(session) && p.isRunning(from) {
				if found != "" && found != session {
					return ""
				}
				found = session
			}
		}
	}
	return found
}

// isRunning reports whether a part records that the call from is running. The recorded call must have started after
// this process: if opencode is killed, its calls stay recorded as running.
func (p *part) isRunning(from caller.Caller) bool {
	return p.Type == "tool" && transcript.IsTool(p.Tool, from.Tool) && p.State.Status == "running" &&
		!history.Moment(p.State.Time.Start).Before(from.Started.Truncate(time.Millisecond)) && isSameJSON(p.State.Input, from.Arguments)
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
