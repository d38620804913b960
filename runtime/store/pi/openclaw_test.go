package pi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/pi"
)

// The tables of version 2026.9.6, with the columns that matter here.
const openclawTables = `
CREATE TABLE session_nodes (session_key TEXT NOT NULL PRIMARY KEY, current_session_id TEXT NOT NULL, updated_at INTEGER NOT NULL,
	label TEXT, display_name TEXT, archived_at INTEGER, spawned_by TEXT, fork_source_session_id TEXT) STRICT;
CREATE TABLE session_windows (session_id TEXT NOT NULL PRIMARY KEY, session_key TEXT NOT NULL,
	created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, transcript_updated_at INTEGER DEFAULT NULL) STRICT;
CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, created_at INTEGER NOT NULL, event_zstd BLOB, PRIMARY KEY (session_id, seq)) STRICT;
CREATE TABLE transcript_event_identities (session_id TEXT NOT NULL, event_id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (session_id, event_id)) STRICT;
CREATE TABLE session_transcript_index_state (session_id TEXT NOT NULL PRIMARY KEY, indexed_seq INTEGER NOT NULL, needs_rebuild INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE session_transcript_active_events (session_id TEXT NOT NULL, active_position INTEGER NOT NULL, event_seq INTEGER NOT NULL, PRIMARY KEY (session_id, active_position)) STRICT`

// row returns the statement that inserts a row into a table; each column has its value after it.
func row(table string, pairs ...any) []any {
	statement := []any{""}
	var columns []string
	for pair := range slices.Chunk(pairs, 2) {
		columns, statement = append(columns, pair[0].(string)), append(statement, pair[1])
	}
	statement[0] = fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", table, strings.Join(columns, ", "), strings.Repeat(", ?", len(columns)-1))
	return statement
}

// node returns the row of a node with a current session, and the values of more columns.
func node(key, current string, more ...any) []any {
	return row("session_nodes", append([]any{"session_key", key, "current_session_id", current, "updated_at", begun}, more...)...)
}

const begun = 1_777_629_600_000 // 2026-05-01T10:00:00Z, in milliseconds

// window returns the rows of a session of a node that began at a second, with events that are each a second later. The id
// of an event is its second.
func window(key, session string, second int, events ...string) [][]any {
	at := begun + 1000*second
	rows := [][]any{row("session_windows", "session_id", session, "session_key", key, "created_at", at, "updated_at", at)}
	header := fmt.Sprintf(`{"type":"session","version":4,"id":%q,"cwd":%q}`, session, dir)
	for seq, event := range append([]string{header}, events...) {
		rows = append(rows, row("transcript_events", "session_id", session, "seq", seq, "event_json", event, "created_at", at+1000*seq),
			row("transcript_event_identities", "session_id", session, "event_id", fmt.Sprint(second+seq), "seq", seq))
	}
	return rows
}

// agent returns the home of an agent with a database of some rows.
func agent(t testing.TB, rows ...[][]any) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "agents", "main")
	storetest.Database(t, databaseIn(home), slices.Concat(append([][][]any{{{openclawTables}}}, rows...)...)...)
	return home
}

func databaseIn(home string) string { return filepath.Join(home, "agent", "openclaw-agent.sqlite") }

// What the real program wrote: "make clients" with -keep recorded it, in the task openclaw.toml.
func TestOpenClawRecorded(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/openclaw/rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	for line := range bytes.Lines(data) {
		var columns map[string]json.RawMessage
		if err := json.Unmarshal(line, &columns); err != nil {
			t.Fatal(err)
		}
		var table string
		var pairs []any
		for name, column := range columns {
			var value any = string(column) // the JSON of an event
			if column[0] != '{' {
				if err := json.Unmarshal(column, &value); err != nil {
					t.Fatal(err)
				}
			}
			if name == "table" {
				table = value.(string)
			} else {
				pairs = append(pairs, name, value)
			}
		}
		rows = append(rows, row(table, pairs...))
	}
	c := storetest.Only(t, open(t, agent(t, rows)))
	const said = `1 user: Correct station 2 to 4.2
1 tool_call exec: { "command": "cat notes.txt" }
1 tool_result: station 1: 3.2 station 2: 4.1
1 tool_call exec: { "command": "cat gone.txt" }
1 tool_result failed: cat: gone.txt: No such file or directory (Command exited with code 1)
1 tool_call edit: { "edits": [ { "newText": "4.2", "oldText": "4.1" } ], "path": "/home/mina/tides/notes.txt" }
1 tool_result: Successfully replaced 1 block(s) in /home/mina/tides/notes.txt.
1 assistant: Station 2 reads 4.2 now.
2 user: How many stations?
2 assistant: Two stations.
`
	if diff := cmp.Diff(said, storetest.Said(t, c)); diff != "" {
		t.Error(diff)
	}
	if c.Labels[pi.AgentLabel] != "main" || c.Dir != dir || c.Request != "Correct station 2 to 4.2" || c.CreatedAt.IsZero() || c.Archived {
		t.Errorf("%+v", c)
	}
}

func TestOpenClawListing(t *testing.T) {
	t.Parallel()
	const early = "main" // has the events that copies have
	first := window(early, "first", 0, user("a"), answer("to a"))
	copies := func(key, session string) [][]any { // of first, at its times
		rows := append(window(key, session, 100), window(early, session, 0, user("a"), answer("to a"))[3:]...)
		return append(rows, row("transcript_events", "session_id", session, "seq", 3, "event_json", user("b"), "created_at", begun+101_000))
	}
	for name, test := range map[string]struct {
		rows []([][]any)
		want string
	}{
		"titles": {
			[][][]any{
				{node("a", "a1", "label", "Gauges", "display_name", "Other"), node("b", "b1", "label", "", "display_name", "Tides"), node("c", "c1")},
				window("a", "a1", 0, user("a")), window("b", "b1", 0, user("b")), window("c", "c1", 0, user("c")),
			},
			"pi-a1 \"Gauges\" u\npi-b1 \"Tides\" u\npi-c1 \"c\" u\n",
		},
		"an archived session": {[][][]any{{node("a", "a1", "archived_at", begun)}, window("a", "a1", 0, user("a"))}, "pi-a1 \"a\" archived u\n"},
		"a reset": {
			[][][]any{
				{node(early, "second")},
				first, window(early, "second", 50, user("b"), `{"type":"reset","reason":"new"}`, user("c")),
			},
			"pi-first \"a\" ua\npi-second \"b\" u u\n",
		},
		"a fork": {
			[][][]any{{node(early, "first"), node("fork", "copy", "fork_source_session_id", "first")}, first, copies("fork", "copy")},
			"pi-copy \"a\" of pi-first [ua] u\npi-first \"a\" ua\n",
		},
		"a fork of a session that is gone": {
			[][][]any{{node("fork", "copy", "fork_source_session_id", "first")}, copies("fork", "copy")}, "pi-copy \"a\" ua u\n",
		},
		"a rewind": {
			[][][]any{
				{node(early, "copy")},
				first, copies(early, "copy"),
			},
			"pi-copy \"a\" of pi-first [ua] u\npi-first \"a\" ua\n",
		},
		"a sub-agent": {
			[][][]any{
				{node(early, "second"), node("sub", "sub1", "spawned_by", early)},
				first, window(early, "second", 50, user("b")),
				window("sub", "sub1", 10, user("[Subagent Context] You are running as a subagent. Complete the current [Subagent Task].\n\n[Subagent Task]\n\nCount\n\nBegin. Execute the assigned task to completion."), answer("Two.")),
			},
			"pi-sub1 \"Count\" of pi-first aa\npi-first \"a\" ua\npi-second \"b\" u\n",
		},
		"no session of this project": {
			[][][]any{
				{node("empty", "e1"), node("bad", "b1"), node("elsewhere", "w1"), node("id", "../x")},
				window("empty", "e1", 0),
				window("bad", "b1", 0, user("a")), window("elsewhere", "w1", 0, user("a")), window("id", "../x", 0, user("a")),
				{{`UPDATE transcript_events SET event_json = '{"cwd":' WHERE session_id = 'b1' AND seq = 0`}, {`UPDATE transcript_events SET event_json = '{"cwd":"/elsewhere"}' WHERE session_id = 'w1' AND seq = 0`}},
			}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, storetest.Listing(t, open(t, agent(t, test.rows...)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func compress(text string) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll([]byte(text), nil)
}

// Each case is rows after a prompt, its answer, and another prompt.
func TestOpenClawEvents(t *testing.T) {
	t.Parallel()
	const block = "Conversation info: ⟦openclaw:ctx⟧\\n```json\\n{\\\"a\\\": 1}\\n```\\n\\nSender: ⟦openclaw:ctx⟧\\nMina\\n\\n"
	index := func(indexed, rebuild int) []any {
		return row("session_transcript_index_state", "session_id", "a1", "indexed_seq", indexed, "needs_rebuild", rebuild)
	}
	live := row("session_transcript_active_events", "session_id", "a1", "active_position", 0, "event_seq", 3)
	event := func(json string) []any {
		return row("transcript_events", "session_id", "a1", "seq", 4, "event_json", json, "created_at", begun)
	}
	compressed := func(data []byte) []any {
		return row("transcript_events", "session_id", "a1", "seq", 4, "event_zstd", data, "created_at", begun)
	}
	const all = "1 user: a\n1 assistant: to a\n2 user: b\n"
	for name, test := range map[string]struct {
		rows [][]any
		want string
	}{
		"a branch that the user left":        {[][]any{index(3, 0), live}, "1 user: b\n"},
		"an event after the index":           {[][]any{index(3, 0), live, event(answer("to b"))}, "1 user: b\n1 assistant: to b\n"},
		"an index that has to be made again": {[][]any{index(3, 1), live}, all},
		"a compressed event":                 {[][]any{compressed(compress(answer("to b")))}, all + "2 assistant: to b\n"},
		"a damaged event":                    {[][]any{compressed(compress(answer("to b"))[:20])}, all},
		"a large event":                      {[][]any{compressed(compress(answer(strings.Repeat(" ", 4<<20))))}, all},
		"records without a text":             {[][]any{event(`{"type":"leaf","targetId":null}`)}, all},
		"a message of the program":           {[][]any{event(message("user", `"content":"no","provenance":{"kind":"internal_system"}`))}, all},
		"a message of another session":       {[][]any{event(message("user", `"content":"no","provenance":{"kind":"inter_session"}`))}, all},
		"a message from a channel":           {[][]any{event(message("user", `"content":"c","provenance":{"kind":"external_user"}`))}, all + "3 user: c\n"},
		"a time before the text":             {[][]any{event(user("[Sat 2026-05-01 10:11 UTC] c"))}, all + "3 user: c\n"},
		"brackets of the user":               {[][]any{event(user("[a] c"))}, all + "3 user: [a] c\n"},
		"blocks about the sender":            {[][]any{event(message("user", `"content":"`+block+`c\n\nd"`))}, all + "3 user: c d\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := agent(t, [][]any{node("a", "a1")}, window("a", "a1", 0, user("a"), answer("to a"), user("b")), test.rows)
			if diff := cmp.Diff(test.want, storetest.Said(t, storetest.Only(t, open(t, home)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A session that is in a file too is read from the database, and is archived if it is there; others are read from files.
func TestOpenClawMigrated(t *testing.T) {
	t.Parallel()
	home := home(t, "a1.jsonl", user("old"))
	data, err := os.ReadFile(filepath.Join(home, "sessions", "a1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b1", "c1"} {
		write(t, filepath.Join(home, "sessions", name+".jsonl"), string(data))
	}
	rows := slices.Concat([][]any{{openclawTables}, node("a", "a1"), node("b", "b1", "archived_at", begun)}, window("a", "a1", 0, user("new")), window("b", "b1", 0, user("new")))
	db := storetest.Database(t, databaseIn(home), rows...)
	const want = "pi-a1 \"new\" u\npi-b1 \"new\" archived u\npi-c1 \"old\" u\n"
	if diff := cmp.Diff(want, storetest.Listing(t, open(t, home))); diff != "" {
		t.Error(diff)
	}
	if live, _ := storetest.List(t, open(t, home), store.Live); len(live) != 2 {
		t.Errorf("%d live sessions", len(live))
	}
	if err := db.Close(); err != nil { // which merges the log into the database
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, storetest.Listing(t, open(t, home))); diff != "" {
		t.Error(diff)
	}
	write(t, databaseIn(home), "no database")
	found, problems := storetest.List(t, open(t, home), store.Live)
	if len(found) != 3 || len(problems) != 1 || problems[0].Path != databaseIn(home) || problems[0].Err.Error() != "it is no SQLite database" {
		t.Errorf("%d sessions, %v", len(found), problems)
	}
}

// The version of a session changes with each event, with its title, and with the live branch.
func TestOpenClawGrowth(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	db := storetest.Database(t, databaseIn(home), slices.Concat([][]any{{openclawTables}, node("a", "a1")}, window("a", "a1", 0, user("a")))...)
	seen := map[string]bool{}
	for _, change := range []string{
		"INSERT INTO transcript_events VALUES ('a1', 2, '" + answer("to a") + "', 1777629602000, NULL)",
		"UPDATE session_nodes SET label = 'Tides', updated_at = updated_at + 1",
		"INSERT INTO session_transcript_index_state VALUES ('a1', 2, 0)", "SELECT 1",
	} {
		version, err := storetest.Only(t, open(t, home)).Version(t.Context())
		if err != nil || seen[version] {
			t.Errorf("before %s: %q again, %v", change, version, err)
		}
		seen[version] = true
		if _, err := db.Exec(change); err != nil {
			t.Fatal(err)
		}
	}
}

// The directories of all profiles have agents; a database alone makes a store.
func TestOpenClawHomes(t *testing.T) {
	t.Parallel()
	h := t.TempDir()
	var want []string
	for _, state := range []string{".openclaw", ".openclaw-dev"} {
		agent := filepath.Join(h, state, "agents", "main")
		write(t, databaseIn(agent), "")
		want = append(want, agent)
	}
	write(t, filepath.Join(h, ".openclawed", "agents", "main", "x"), "")
	got := pi.Homes(storetest.Env(map[string]string{"HOME": "/nobody", "USERPROFILE": "/nobody", "OPENCLAW_HOME": h, "PI_CODING_AGENT_DIR": "/pi"}))
	if diff := cmp.Diff(append([]string{"/pi"}, want...), got); diff != "" {
		t.Error(diff)
	}
	for home, want := range map[string]bool{want[0]: true, h: false} {
		s, ok := pi.Open(store.Options{Home: home})
		if ok != want || ok && s.Place() != databaseIn(home) {
			t.Errorf("%s: a store %t, in %s", home, ok, s.Place())
		}
	}
}

// Whatever is in the database: reading it twice gives the same, in valid UTF-8, and never panics.
func FuzzRow(f *testing.F) {
	f.Add(user("a"), []byte(nil))
	f.Add(`{"type":"message","message":{"role":"user","content":"[Sat 2026-05-01 10:11] ⟦openclaw:ctx⟧\n"}}`, compress(answer("b")))
	home := f.TempDir()
	db := storetest.Database(f, databaseIn(home), slices.Concat([][]any{{openclawTables}, node("a", "a1")}, window("a", "a1", 0, user("a"), ""))...)
	f.Fuzz(func(t *testing.T, event string, data []byte) {
		for _, change := range [][]any{
			{"UPDATE transcript_events SET event_json = ? WHERE seq = 2", event},
			{"INSERT OR REPLACE INTO transcript_events VALUES ('a1', 3, NULL, 0, ?)", data},
		} {
			if _, err := db.Exec(change[0].(string), change[1:]...); err != nil {
				t.Fatal(err)
			}
		}
		storetest.CheckReading(t, storetest.Only(t, open(t, home)))
	})
}
