package crush_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/crush"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
)

// The tables as the migrations of the program leave them.
func tables() [][]any {
	return [][]any{
		{`CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0,
			updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL, summary_message_id TEXT, todos TEXT)`},
		{`CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]', model TEXT,
			created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER, provider TEXT, is_summary_message INTEGER DEFAULT 0 NOT NULL)`},
	}
}

const at = 1_777_629_600 // in seconds, as the program records times

const first, second = "2c154aa7-742d-46ce-af44-de020dbaa17b", "83112a12-3b74-4f73-8ca0-10d3fce13c2b"

func session(id, parent, title string) []any {
	return []any{"INSERT INTO sessions (id, parent_session_id, title, updated_at, created_at) VALUES (?, nullif(?, ''), ?, ?, ?)", id, parent, title, at, at}
}

type object map[string]any

func message(session, role string, parts ...object) []any {
	return []any{"INSERT INTO messages (id, session_id, role, parts, created_at, updated_at) VALUES (hex(randomblob(8)), ?, ?, ?, ?, ?)", session, role, storetest.Object(parts), at, at}
}

func part(kind string, data object) object { return object{"type": kind, "data": data} }

func text(said string) object { return part("text", object{"text": said}) }

// lab is a home of Crush, and a project in which it has a database.
type lab struct{ home, project string }

func newLab(t testing.TB, statements ...[]any) lab {
	t.Helper()
	l := lab{t.TempDir(), t.TempDir()}
	storetest.Database(t, l.database(), append(tables(), statements...)...)
	l.note(t, l.project)
	return l
}

func (l lab) database() string { return filepath.Join(l.project, ".crush", "crush.db") }

// note notes a project, as Crush does.
func (l lab) note(t testing.TB, dir string) {
	t.Helper()
	list := object{"projects": []object{{"path": dir, "data_dir": filepath.Join(dir, ".crush"), "last_accessed": "2026-05-01T10:00:00Z"}}}
	if err := os.WriteFile(filepath.Join(l.home, "projects.json"), []byte(storetest.Object(list)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (l lab) open(t testing.TB) *messagedb.Store {
	t.Helper()
	s, ok := crush.Open(store.Options{Home: l.home, Project: project.New(project.Options{Dir: l.project})})
	if !ok {
		t.Fatal("there is no store")
	}
	return s
}

func TestListing(t *testing.T) {
	t.Parallel()
	l := newLab(
		t,
		session(first, "", "Stations"), message(first, "user", text("Which stations?")), message(first, "assistant", text("Two.")),
		session(second, "", "Untitled Session"), message(second, "user", text("Which ports?")),
		session(second+"$$functions.agent:0", first, "Count"), message(second+"$$functions.agent:0", "user", text("Count them")), message(second+"$$functions.agent:0", "assistant", text("Two.")),
		session("title-"+first, first, "Generate a title"), message("title-"+first, "user", text("Hi")),
		session("b511b9e9-2c67-4959-97a0-c85ed96fb6f6", "", "Empty"),
	)
	const want = `crush-2c154aa7-742d-46ce-af44-de020dbaa17b "Stations" ua
crush-83112a12-3b74-4f73-8ca0-10d3fce13c2b "Which ports?" u
crush-83112a12-3b74-4f73-8ca0-10d3fce13c2b.functions-agent-0 "Count" of crush-2c154aa7-742d-46ce-af44-de020dbaa17b aa
`
	if diff := cmp.Diff(want, storetest.Listing(t, l.open(t))); diff != "" {
		t.Error(diff)
	}
}

// A database that is not noted, that is a link, or that another project has is not read.
func TestDatabases(t *testing.T) {
	t.Parallel()
	l := newLab(t, session(first, "", "Stations"), message(first, "user", text("Hi")))
	other := lab{l.home, t.TempDir()}
	if err := os.Symlink(filepath.Dir(l.database()), filepath.Join(other.project, ".crush")); err != nil {
		t.Skip(err)
	}
	if s, ok := crush.Open(store.Options{Home: l.home, Project: project.New(project.Options{Dir: other.project})}); ok {
		t.Error("the database of another project is read: ", s.Place())
	}
	other.note(t, other.project)
	if s, ok := crush.Open(store.Options{Home: l.home, Project: project.New(project.Options{Dir: other.project})}); ok {
		t.Error("a link is read: ", s.Place())
	}
	if s, ok := crush.Open(store.Options{Home: l.home, Project: project.New(project.Options{Dir: l.project})}); ok {
		t.Error("a database that is not noted is read: ", s.Place())
	}
	if s, ok := crush.Open(store.Options{Home: filepath.Dir(l.database()), Project: project.New(project.Options{Dir: l.project})}); !ok || storetest.Only(t, s).Dir != l.project {
		t.Error("a database that the user names is not read")
	}
}

func TestSaid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		messages [][]any
		want     string
	}{
		"calls": {
			[][]any{
				message(first, "user", text("Add Oban")),
				message(first, "assistant", part("reasoning", object{"thinking": "I edit."}), text("So:"), part("tool_call", object{"id": "c1", "name": "edit", "input": `{"old_string":"","new_string":"Oban"}`, "finished": true}),
					part("tool_call", object{"id": "c2", "name": "bash", "input": `{"comm`, "finished": false}), part("finish", object{"reason": "tool_use", "time": at})),
				message(first, "tool", part("tool_result", object{"tool_call_id": "c1", "name": "edit", "content": "Edited"}), part("tool_result", object{"tool_call_id": "c2", "content": "Canceled", "is_error": true})),
			},
			"1 user: Add Oban\n1 reasoning: I edit.\n1 assistant: So:\n1 tool_call edit: { \"old_string\": \"\", \"new_string\": \"Oban\" }\n1 tool_call bash: {\"comm\n1 tool_result: Edited\n1 tool_result failed: Canceled\n",
		},
		"a picture, and a command of the user": {
			[][]any{message(first, "user", part("binary", object{"Path": "a.png", "MIMEType": "image/png", "Data": "eA=="})), message(first, "user", part("shell_command", object{"command": "ls \"a\"", "output": "no", "exit_code": 2}))},
			"1 user\n1 tool_call shell_command: { \"command\": \"ls \\\"a\\\"\" }\n1 tool_result failed: no\n",
		},
		"a summary, and what is unknown": {
			[][]any{message(first, "user", text("Hi"), part("new", object{})), message(first, "assistant", text("All before")), {"UPDATE messages SET is_summary_message = 1 WHERE role = 'assistant'"}},
			"1 user: Hi\n0 compaction\n",
		},
		"damaged JSON": {
			[][]any{message(first, "user", text("Hi")), message(first, "assistant"), {`UPDATE messages SET parts = '[{"type":"text","data":{"text":"a"}},{"type"' WHERE role = 'assistant'`}},
			"1 user: Hi\n1 assistant: a\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, append([][]any{session(first, "", "Stations")}, test.messages...)...)
			if diff := cmp.Diff(test.want, storetest.Said(t, storetest.Only(t, l.open(t)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Any parts of a message are read without a panic, twice the same.
func FuzzMessage(f *testing.F) {
	f.Add("user", storetest.Object([]object{text("Hi"), part("shell_command", object{"command": "ls"})}))
	f.Add("tool", `[{"type":"tool_call","data":{"input":"[]"}},{"type":"tool_result","data":[]}]`)
	l := newLab(f, session(first, "", "Stations"))
	db := storetest.Database(f, l.database())
	f.Fuzz(func(t *testing.T, role, parts string) {
		if _, err := db.Exec("INSERT OR REPLACE INTO messages (id, session_id, role, parts, created_at, updated_at) VALUES ('m', ?, ?, ?, 0, 0)", first, role, parts); err != nil {
			t.Fatal(err)
		}
		storetest.CheckReading(t, storetest.Only(t, l.open(t)))
	})
}
