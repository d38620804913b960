package goose_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/goose"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
)

const dir = "/home/mina/harbour" // of the project; there need not be one

// The tables of version 1.10, and the columns that later versions added.
const (
	sessionTable = `CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT NOT NULL DEFAULT '', working_dir TEXT NOT NULL,
		created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, extension_data TEXT DEFAULT '{}')`
	messageTable = `CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
		role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER)`
)

func later() [][]any {
	return [][]any{
		{"ALTER TABLE messages ADD COLUMN metadata_json TEXT"},
		{"ALTER TABLE sessions ADD COLUMN name TEXT DEFAULT ''"},
		{"ALTER TABLE sessions ADD COLUMN user_set_name BOOLEAN DEFAULT FALSE"},
		{"ALTER TABLE sessions ADD COLUMN session_type TEXT NOT NULL DEFAULT 'user'"},
		{"ALTER TABLE sessions ADD COLUMN archived_at TIMESTAMP"},
	}
}

func session(id, name, kind, in string) []any {
	return []any{`INSERT INTO sessions (id, name, session_type, working_dir, created_at, updated_at) VALUES (?, ?, ?, ?, '2026-05-01 10:00:00', '2026-05-01 11:00:00')`, id, name, kind, in}
}

type object map[string]any

// message is a message at a second; metadata is "" for none.
func message(session, role string, second int, metadata string, content ...object) []any {
	return []any{
		"INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES (?, ?, ?, ?, nullif(?, ''))",
		session, role, storetest.Object(content), 1_777_629_600 + second, metadata,
	}
}

func text(said string) object { return object{"type": "text", "text": said} }

func open(t testing.TB, statements ...[]any) store.Store {
	t.Helper()
	home := t.TempDir()
	storetest.Database(t, filepath.Join(home, "sessions", "sessions.db"), append([][]any{{sessionTable}, {messageTable}}, statements...)...)
	return openIn(t, home)
}

func openIn(t testing.TB, home string) store.Store {
	t.Helper()
	s, ok := goose.Open(store.Options{Home: home, Project: project.New(project.Options{Dir: dir})})
	if !ok {
		t.Fatal("there is no store")
	}
	return s
}

func TestListing(t *testing.T) {
	t.Parallel()
	s := open(t, append(
		later(),
		session("20260501_1", "Stations", "user", dir), message("20260501_1", "user", 0, "", text("Which stations?")), message("20260501_1", "assistant", 1, "", text("Two.")),
		session("20260501_2", "CLI Session", "user", dir), message("20260501_2", "user", 0, "", text("# Ports")),
		session("20260501_3", "Count", "sub_agent", dir), message("20260501_3", "user", 0, "", text("Count them")), message("20260501_3", "assistant", 1, "", text("Two.")),
		session("20260501_4", "Empty", "user", dir),
		session("20260501_5", "Of the program", "hidden", dir), message("20260501_5", "user", 0, "", text("Hi")),
		session("20260501_6", "Elsewhere", "user", "/elsewhere"), message("20260501_6", "user", 0, "", text("Hi")),
		session("../../x", "No id", "user", dir), message("../../x", "user", 0, "", text("Hi")),
		session("20260501_7", "Old", "user", dir), message("20260501_7", "user", 0, "", text("Hi")), []any{"UPDATE sessions SET archived_at = created_at WHERE id = '20260501_7'"},
	)...)
	const want = `goose-20260501_1 "Stations" ua
goose-20260501_2 "Ports" u
goose-20260501_3 "Count" aa
goose-20260501_7 "Old" archived u
`
	if diff := cmp.Diff(want, storetest.Listing(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestSaid(t *testing.T) {
	t.Parallel()
	const id, hidden = "20260501_1", `{"userVisible":false,"agentVisible":true}`
	called := object{"type": "toolRequest", "id": "c1", "toolCall": object{"status": "success", "value": object{"name": "developer__shell", "arguments": object{"command": "ls"}}}}
	returned := func(result object) object { return object{"type": "toolResponse", "id": "c1", "toolResult": result} }
	listed := []object{text("a.txt"), {"type": "image", "data": "x"}, text("b.txt")}
	for name, test := range map[string]struct {
		messages [][]any
		want     string
	}{
		"a call": {
			[][]any{message(id, "user", 0, "", text("List")), message(id, "assistant", 1, "", object{"type": "thinking", "thinking": "I list."}, text("Look:"), called), message(id, "user", 2, "", returned(object{"status": "success", "value": object{"content": listed, "isError": false}}))},
			"1 user: List\n1 reasoning: I list.\n1 assistant: Look:\n1 tool_call developer__shell: { \"command\": \"ls\" }\n1 tool_result: a.txt b.txt\n",
		},
		"a list of contents, of an old version": {
			[][]any{message(id, "user", 0, "", returned(object{"status": "success", "value": listed}))},
			"1 tool_result: a.txt b.txt\n",
		},
		"failures": {
			[][]any{message(id, "user", 0, "", returned(object{"status": "error", "error": "No such tool"}), returned(object{"status": "success", "value": object{"content": listed[:1], "isError": true}}))},
			"1 tool_result failed: No such tool\n1 tool_result failed: a.txt\n",
		},
		"no call": {
			[][]any{message(id, "assistant", 0, "", object{"type": "toolRequest", "id": "c1", "toolCall": object{"status": "error", "error": "Bad JSON"}})},
			"1 tool_call: Bad JSON\n",
		},
		"a picture, and a message for the model": {
			[][]any{message(id, "user", 0, "", object{"type": "image", "data": "x", "mimeType": "image/png"}), message(id, "user", 1, hidden, text("Summary")), message(id, "assistant", 2, hidden, text("Going on"))},
			"1 user\n",
		},
		"a compaction, and what is unknown": {
			[][]any{message(id, "user", 0, "", text("Hi")), message(id, "assistant", 1, "", object{"type": "conversationCompacted", "msg": "x"}, object{"type": "new"}, object{"type": "systemNotification", "msg": "x"})},
			"1 user: Hi\n0 compaction\n",
		},
		"damaged JSON": {
			[][]any{message(id, "user", 0, "", text("Hi")), {"INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?, 'assistant', '[{\"type\":\"text\",\"text\":\"a\"},{', 'x')", id}},
			"1 user: Hi\n1 assistant: a\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, append(append(later(), session(id, "Stations", "user", dir)), test.messages...)...)
			c := storetest.Only(t, s)
			if diff := cmp.Diff(test.want, storetest.Said(t, c)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Times are texts in columns of a type that drivers convert.
func TestTimes(t *testing.T) {
	t.Parallel()
	c := storetest.Only(t, open(t, append(later(), session("20260501_1", "Stations", "user", dir), message("20260501_1", "user", 5, "", text("Hi")))...))
	begin := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	totals, err := c.Read(t.Context(), nil)
	if !c.CreatedAt.Equal(begin) || !c.LastActivatedAt.Equal(begin.Add(time.Hour)) || !totals.LastAt.Equal(begin.Add(5*time.Second)) || err != nil {
		t.Errorf("from %v to %v, last event %v; %v", c.CreatedAt, c.LastActivatedAt, totals.LastAt, err)
	}
}

// The first version with a database has fewer columns.
func TestFirstVersion(t *testing.T) {
	t.Parallel()
	s := open(
		t,
		[]any{"INSERT INTO sessions (id, description, working_dir) VALUES ('20251001_1', 'Stations', ?)", dir},
		[]any{"INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES ('20251001_1', 'user', '[{\"type\":\"text\",\"text\":\"Hi\"}]', 1777629600)"},
	)
	if got := storetest.Listing(t, s); got != "goose-20251001_1 \"Stations\" u\n" {
		t.Error(got)
	}
}

// Versions before 1.10 wrote files. They are read where there is no database, which has them.
func TestFiles(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write := func(name, first string) string {
		t.Helper()
		path := filepath.Join(home, "sessions", name)
		lines := first + "\n" + `{"role":"user","created":1777629600,"content":[{"type":"text","text":"Which stations?"}]}` + "\n" +
			`{"role":"assistant","created":1777629601,"content":[{"type":"text","text":"Two."}]}` + "\n" + `{"role":"assistant","created":1777629602,"content":[{"type":"te`
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(lines), 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("20250724_1.jsonl", storetest.Object(object{"working_dir": dir, "description": "Stations", "message_count": 2}))
	if got, want := storetest.Listing(t, openIn(t, home)), "goose-20250724_1 \"Stations\" ua\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	write("20250724_2.jsonl", storetest.Object(object{"working_dir": "/elsewhere", "description": "Elsewhere"}))
	write("a b.jsonl", storetest.Object(object{"working_dir": dir}))
	if err := os.WriteFile(file, []byte(storetest.Object(object{"working_dir": dir})+"\n"+`{"role":"user","created":1777629600,"content":"Hi"}`+"\n{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := storetest.Only(t, openIn(t, home))
	if totals, err := c.Read(t.Context(), nil); totals.Skipped != 1 || totals.Events != 1 || err != nil || c.Request != "Hi" {
		t.Errorf("%+v, %v, %q", totals, err, c.Request)
	}
	storetest.Database(t, filepath.Join(home, "sessions", "sessions.db"), []any{sessionTable}, []any{messageTable})
	if got := storetest.Listing(t, openIn(t, home)); got != "" {
		t.Error(got)
	}
}

// Any content of a message is read without a panic, twice the same.
func FuzzMessage(f *testing.F) {
	f.Add("user", storetest.Object([]object{text("Hi")}), "{}")
	f.Add("assistant", `[{"type":"toolRequest","toolCall":{"value":{"name":"x","arguments":[]}}},{"type":"toolResponse","toolResult":{"value":{"content":"x"}}}]`, "x")
	s := open(f, append(later(), session("20260501_1", "Stations", "user", dir))...)
	db := storetest.Database(f, filepath.Join(s.Place(), "sessions.db"))
	f.Fuzz(func(t *testing.T, role, content, metadata string) {
		for _, query := range [][]any{{"DELETE FROM messages"}, {"INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20260501_1', ?, ?, 0, ?)", role, content, metadata}} {
			if _, err := db.Exec(query[0].(string), query[1:]...); err != nil {
				t.Fatal(err)
			}
		}
		storetest.CheckReading(t, storetest.Only(t, s))
	})
}
