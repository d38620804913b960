// Package copilot reads the conversations that GitHub Copilot CLI recorded for a project, from the
// logs of events in its home directory. It was checked with what versions 1.0.20, 1.0.62 and 1.0.102 wrote.
//
// A session is the file session-state/ID/events.jsonl below ~/.copilot, on Windows below %USERPROFILE%\.copilot, and
// below WSL in the Linux home; COPILOT_HOME names another directory. Versions of 2025 wrote session-state/ID.jsonl. The
// file workspace.yaml beside the events has the title. A session belongs to a project by the working directory in its
// first event. It grows by whole lines; the program rewrites the file when its user goes back to an earlier message.
//
// The events of a sub-agent are in the file of the session that started it, and stay a part of that. Its
// prompt is left out: the call that started it has the same text. A fork is a file that begins with a
// copy of the events of another session, with the ids and the times of these.
//
// The program adds messages in the name of the user, with their source: skills, and the prompts of
// sub-agents and of the autopilot. They are left out, as are the texts of the system.
package copilot

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "copilot"

// Store has the conversations of a project. It implements [store.Store].
type Store struct{ history.Store }

// Open returns the store, and false if Copilot CLI has recorded nothing.
func Open(o store.Options) (*Store, bool) {
	s, ok := history.Open(o, Name, Home(o.Env()), "session-state", IDs())
	return &Store{s}, ok
}

// Home returns the home directory of Copilot CLI, or "" if the environment does not name it.
func Home(getenv func(string) string) string {
	return cmp.Or(getenv("COPILOT_HOME"), history.InHome(getenv, ".copilot"))
}

// IDs returns the form of ids: the name of the directory of a session, a uuid.
func IDs() *history.IDs {
	return &history.IDs{Prefix: "copilot-", Session: history.IsName, Example: "copilot-7cf44517-55ca-435c-893a-3fde1973a44e"}
}

const (
	eventsFile, extension = "events.jsonl", ".jsonl"
	aboutFile, maxAbout   = "workspace.yaml", 64 << 10
)

// entry is the file of a session.
type entry struct {
	history.Entry[metadata]
	copies bool // it begins with events of a session that is listed too
}

// entries returns the files of all sessions, and problems for the directories that cannot be read.
func (s *Store) entries(root *history.Root) (all []*entry, problems []store.Problem) {
	return history.Entries(&s.Store, root, ".", history.IsName, func(e *entry) bool {
		dir, name := path.Split(e.File)
		session, isLog := strings.CutSuffix(name, extension)
		if dir != "" { // versions of 2025 wrote SESSION.jsonl, without a directory of the session
			session, isLog, e.About = path.Clean(dir), name == eventsFile, dir+aboutFile
		}
		e.ID = s.ID(session, "")
		return isLog && history.IsName(session)
	})
}

// List implements [store.Store]. A fork has copies of events if the session that it was forked from is listed too.
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	return history.ListFiles(ctx, &s.Store, scope, s.entries, nil, func(all map[transcript.ID]*entry) {
		for _, e := range all {
			if history.IsName(e.Meta.Parent) {
				e.Parent = s.ID(e.Meta.Parent, "")
			}
			e.copies = e.Meta.IsFork && all[e.Parent] != nil
		}
	})
}

// metadata is the metadata of a session, from the beginning and the end of its file.
type metadata struct {
	history.Session
	Parent string // the session that it was forked from, or that started it; may be empty
	IsFork bool   // it begins with a copy of events of another session
}

// Peek implements [history.Listed]: it sets the metadata of the session, and returns the working directory. It reads
// lines until it has the first request and, in a fork, the parent, which follows the copies; then the last lines.
func (e *entry) Peek(ctx context.Context, root *history.Root, f *os.File, size int64) (dir string, err error) {
	m, to := &e.Meta, newDecoder(&history.Recorder{})
	needsMore := func() bool { return to.Request == "" || m.IsFork && m.Parent == "" }
	_, err = jsonl.Peek(ctx, f, size, needsMore, func(line []byte) {
		r, _ := jsontext.Parse[record](line)
		m.addRecord(&r) // sets the directory, the parent and the times
		to.record(&r)   // finds the request
	})
	m.Note(to.Recorder)
	if e.About != "" && err == nil {
		m.Title, err = title(root, e.About)
	}
	return m.Dir, err
}

// addRecord adds what an event says of its session to the metadata. A fork has copies of events from before its start.
func (m *metadata) addRecord(r *record) {
	d := &r.Data
	switch r.Type {
	case "session.start":
		m.Created, m.Dir, m.Parent = cmp.Or(d.Start, r.At), d.Context.Dir, strings.ToLower(d.Spawner)
	case "session.info":
		if from := d.origin(); from != "" {
			m.Parent = from
		}
	default:
		m.Created = cmp.Or(m.Created, r.At)
		m.IsFork = m.IsFork || !r.At.IsZero() && r.At.Before(m.Created.Add(-startup)) // so much older than the session, r is a copy
	}
}

// startup is longer than the program takes from the time of a session's start to its first event.
const startup = time.Second

// title returns the name of a session from the file beside its events; "" if there is no file or no name.
func title(root *history.Root, about string) (string, error) {
	data, err := root.ReadFile(about, maxAbout)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	name := scalar(data, "name")
	if name == "" {
		name = scalar(data, "summary") // of versions of 2025
	}
	return strings.ToValidUTF8(name, "\ufffd"), err
}

// scalar returns the text of a member of a YAML mapping, on one line; "" for a list or a mapping. The mapping is
// not nested, as the program writes it.
func scalar(mapping []byte, key string) string {
	_, rest, _ := strings.Cut("\n"+string(mapping), "\n"+key+": ")
	first, rest, _ := strings.Cut(rest, "\n")
	switch value := strings.TrimSpace(first); {
	case value == "" || value[0] == '[' || value[0] == '{':
		return ""
	case value[0] == '"':
		return jsontext.String(jsontext.Raw(value))
	case value[0] == '\'':
		return strings.ReplaceAll(strings.TrimSuffix(value[1:], "'"), "''", "'")
	case value[0] == '|' || value[0] == '>': // the text is on the next lines, which are blank or indented
		var lines []string
		for line := range strings.Lines(rest) {
			if strings.Trim(line, " \n") != "" && line[0] != ' ' {
				break
			}
			lines = append(lines, line)
		}
		return strings.Join(strings.Fields(strings.Join(lines, "")), " ")
	default:
		return value
	}
}

// Decode implements [history.File]: it adds the events to a recorder. If the session begins with copies of events of
// another listed session, Decode marks the events that are older than the session as copies.
func (e *entry) Decode(ctx context.Context, root *history.Root, to *history.Recorder) error {
	d := newDecoder(to)
	return to.Lines(ctx, root, e.File, func(line []byte, _ int64) bool {
		r, ok := jsontext.Parse[record](line)
		to.Copied = e.copies && r.At.Before(e.Meta.Created.Add(-startup)) // the session's own events are later than that
		return ok && d.record(&r)
	})
}

// Caller implements [store.Recognizer]. Copilot CLI names the session in the environment of its shells and servers. It
// starts its servers again for another session.
func (s *Store) Caller(_ context.Context, from caller.Caller) store.Caller {
	c := store.Caller{Evidence: s.Evidence(from, from.Client == "copilot-cli", "COPILOT_CLI")}
	session := strings.ToLower(s.Getenv("COPILOT_AGENT_SESSION_ID"))
	if c.Evidence != store.NoEvidence && from.Process != caller.Foreign && history.IsName(session) {
		c.IDs = []transcript.ID{s.ID(session, "")}
	}
	return c
}
