package opencode_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/opencode"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// home is a home directory of opencode in the making, with sessions of one project.
type home struct {
	t       testing.TB
	dir     string
	project string // working directory; there need not be one
}

func newHome(t testing.TB) *home {
	t.Helper()
	return &home{t: t, dir: t.TempDir(), project: filepath.Join(t.TempDir(), "tide_import.v2")}
}

func (h *home) open() *opencode.Store {
	h.t.Helper()
	s, ok := opencode.OpenCode.Open(store.Options{Home: h.dir, Project: project.New(project.Options{Dir: h.project})})
	if !ok {
		h.t.Fatal("there is no store")
	}
	return s
}

func (h *home) write(name, text string) string {
	h.t.Helper()
	name = filepath.Join(h.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return name
}

// object is a JSON object.
type object map[string]any

func (o object) String() string {
	data, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// sessionID and the like return ids that are in the order of their numbers.
func sessionID(n int) string       { return fmt.Sprintf("ses_%012dAbC", n) }
func messageID(n int) string       { return fmt.Sprintf("msg_%012dAbC", n) }
func partID(message, n int) string { return fmt.Sprintf("prt_%06d%06dAbC", message, n) }

func convID(n int) transcript.ID { return transcript.ID("opencode-" + sessionID(n)) }

// at is a time in milliseconds, from a number of seconds.
func at(n int) int { return 1_777_593_600_000 + 1000*n }

// sess is a session, which begins at a second of its number where created is 0.
type sess struct {
	n          int
	parent     int
	dir, title string
	revert     object
	created    int
	archived   int
	messages   []msg
}

// msg is a message, at a second of its number where created is 0.
type msg struct {
	n       int
	created int
	data    object
	parts   []object
}

func (m msg) at() int {
	if m.created > 0 {
		return m.created
	}
	return at(m.n)
}

func prompt(n int, parts ...object) msg {
	return msg{n: n, data: object{"role": "user"}, parts: parts}
}

func answer(n, parent int, parts ...object) msg {
	return msg{n: n, data: object{"role": "assistant", "parentID": messageID(parent)}, parts: parts}
}

func (m msg) with(key string, value any) msg { m.data[key] = value; return m }

func text(s string) object { return object{"type": "text", "text": s} }

func (o object) and(key string, value any) object { o[key] = value; return o }

func tool(name, id, status string, input any, state object) object {
	state["status"], state["input"] = status, input
	return object{"type": "tool", "tool": name, "callID": id, "state": state}
}

// recorder records sessions: in a database, or in a tree of files.
type recorder func(h *home, sessions ...sess)

var recorders = map[string]recorder{"database": (*home).database, "tree": (*home).tree}

const schema = `
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text, directory text NOT NULL, title text NOT NULL, version text,
	revert text, time_created integer NOT NULL, time_updated integer NOT NULL, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE TABLE account (id text PRIMARY KEY, access_token text NOT NULL);
`

// own opens the database as opencode does, which goes on writing it until the test ends.
func (h *home) own(name string) *owner {
	h.t.Helper()
	file := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(filepath.Join(h.dir, name)), RawQuery: "_pragma=journal_mode(wal)&_pragma=wal_autocheckpoint(0)&_pragma=synchronous(off)"}
	db, err := sql.Open("sqlite", file.String())
	if err != nil {
		h.t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	h.t.Cleanup(func() { db.Close() })
	return &owner{h, db}
}

// owner is opencode itself.
type owner struct {
	*home
	db *sql.DB
}

func (o *owner) exec(query string, args ...any) {
	o.t.Helper()
	if _, err := o.db.ExecContext(context.Background(), query, args...); err != nil {
		o.t.Fatal(err)
	}
}

func (h *home) database(sessions ...sess) {
	h.t.Helper()
	o := h.own("opencode.db")
	o.exec(schema)
	o.record(sessions...)
}

func (o *owner) record(sessions ...sess) {
	o.t.Helper()
	for _, s := range sessions {
		s = o.complete(s)
		var parent, revert, archived any
		if s.parent > 0 {
			parent = sessionID(s.parent)
		}
		if s.revert != nil {
			revert = s.revert.String()
		}
		if s.archived > 0 {
			archived = s.archived
		}
		o.exec("INSERT INTO session (id, project_id, parent_id, directory, title, revert, time_created, time_updated, time_archived) VALUES (?, 'p', ?, ?, ?, ?, ?, ?, ?)",
			sessionID(s.n), parent, s.dir, s.title, revert, s.created, s.created, archived)
		for _, m := range s.messages {
			o.exec("INSERT INTO message VALUES (?, ?, ?, ?, ?)", messageID(m.n), sessionID(s.n), m.at(), m.at(), m.data.String())
			for n, p := range m.parts {
				o.exec("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", partID(m.n, n), messageID(m.n), sessionID(s.n), m.at(), m.at(), p.String())
			}
		}
	}
}

func (h *home) complete(s sess) sess {
	if s.dir == "" {
		s.dir = h.project
	}
	if s.created == 0 {
		s.created = at(s.n)
	}
	return s
}

func (h *home) tree(sessions ...sess) {
	h.t.Helper()
	for _, s := range sessions {
		s = h.complete(s)
		times := object{"created": s.created, "updated": s.created}
		o := object{"id": sessionID(s.n), "projectID": "p", "directory": s.dir, "title": s.title, "time": times}
		if s.parent > 0 {
			o["parentID"] = sessionID(s.parent)
		}
		if s.revert != nil {
			o["revert"] = s.revert
		}
		if s.archived > 0 {
			times["archived"] = s.archived
		}
		h.write("storage/session/p/"+sessionID(s.n)+".json", o.String())
		for _, m := range s.messages {
			data := object{"id": messageID(m.n), "sessionID": sessionID(s.n), "time": object{"created": m.at()}}
			for k, v := range m.data {
				data[k] = v
			}
			h.write("storage/message/"+sessionID(s.n)+"/"+messageID(m.n)+".json", data.String())
			for n, p := range m.parts {
				data := object{"id": partID(m.n, n), "messageID": messageID(m.n), "sessionID": sessionID(s.n)}
				for k, v := range p {
					data[k] = v
				}
				h.write("storage/part/"+messageID(m.n)+"/"+partID(m.n, n)+".json", data.String())
			}
		}
	}
}

// said returns the events of the only conversation.
func (h *home) said() string {
	h.t.Helper()
	return storetest.Said(h.t, storetest.Only(h.t, h.open()))
}
