package zed_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/store/zed"
)

const (
	dir           = "/home/mina/harbour" // of the project; there need not be one
	first, second = "2c154aa7-742d-46ce-af44-de020dbaa17b", "83112a12-3b74-4f73-8ca0-10d3fce13c2b"
	table         = "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL, data_type TEXT NOT NULL, data BLOB NOT NULL)"
)

// tables returns the table as Zed makes it, and changes it when it starts.
func tables() [][]any {
	return [][]any{
		{table},
		{"ALTER TABLE threads ADD COLUMN parent_id TEXT"},
		{"ALTER TABLE threads ADD COLUMN folder_paths TEXT"},
		{"ALTER TABLE threads ADD COLUMN folder_paths_order TEXT"},
		{"ALTER TABLE threads ADD COLUMN created_at TEXT"},
	}
}

type object map[string]any

func compress(text string) []byte {
	e, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return e.EncodeAll([]byte(text), nil)
}

// thread is a row with a document of version 0.3.0.
func thread(id, parent, title, folders string, messages ...any) []any {
	data := compress(storetest.Object(object{"version": "0.3.0", "title": title, "updated_at": "2026-05-01T11:00:00Z", "messages": messages}))
	return []any{
		"INSERT INTO threads (id, parent_id, folder_paths, summary, created_at, updated_at, data_type, data) VALUES (?, nullif(?, ''), nullif(?, ''), ?, '2026-05-01T10:00:00+00:00', '2026-05-01T11:00:00.5+00:00', 'zstd', ?)",
		id, parent, folders, title, data,
	}
}

func user(said string) object {
	return object{"User": object{"id": "u1", "content": []object{{"Text": said}}}}
}

func agent(content ...object) object {
	return object{"Agent": object{"content": content, "tool_results": object{}}}
}

func open(t testing.TB, statements ...[]any) *messagedb.Store {
	t.Helper()
	home := t.TempDir()
	storetest.Database(t, filepath.Join(home, "threads", "threads.db"), statements...)
	s, ok := zed.Open(store.Options{Home: home, Project: project.New(project.Options{Dir: dir})})
	if !ok {
		t.Fatal("there is no store")
	}
	return s
}

func TestListing(t *testing.T) {
	t.Parallel()
	s := open(t, append(
		tables(),
		thread(first, "", "Stations", "/elsewhere\n"+dir, user("Which stations?"), agent(object{"Text": "Two."}), "Resume", agent(object{"Text": "More."})),
		thread(second, first, "Count", dir, user("Count them"), agent(object{"Text": "Two."})),
		thread("f745fe8f-30dd-4d93-8e16-fd47171f3519", "", "Elsewhere", "/elsewhere", user("Hi")),
		thread("b511b9e9-2c67-4959-97a0-c85ed96fb6f6", "", "No folders", "", user("Hi")),
		thread("../x", "", "No id", dir, user("Hi")),
	)...)
	const want = `zed-2c154aa7-742d-46ce-af44-de020dbaa17b "Stations" uaa
zed-83112a12-3b74-4f73-8ca0-10d3fce13c2b "Count" of zed-2c154aa7-742d-46ce-af44-de020dbaa17b aa
`
	if diff := cmp.Diff(want, storetest.Listing(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestSaid(t *testing.T) {
	t.Parallel()
	call := object{"ToolUse": object{"id": "c1", "name": "edit_file", "raw_input": "{}", "input": object{"path": "a.txt"}, "is_input_complete": true}}
	answered := func(content any, failed bool) object {
		return object{"Agent": object{"content": []object{call}, "tool_results": object{"c1": object{"tool_use_id": "c1", "tool_name": "edit_file", "is_error": failed, "content": content}}}}
	}
	for name, test := range map[string]struct {
		messages []any
		want     string
	}{
		"a text with a mention": {
			[]any{object{"User": object{"content": []object{{"Text": "Read "}, {"Mention": object{"uri": object{"File": object{"abs_path": "/a"}}, "content": "the file"}}, {"Text": " now"}}}}},
			"1 user: Read now\n",
		},
		"an answer": {
			[]any{user("Hi"), agent(object{"Thinking": object{"text": "Hm", "signature": "x"}}, object{"RedactedThinking": "x"}, object{"Text": "Hello"}, object{"New": "x"})},
			"1 user: Hi\n1 reasoning: Hm\n1 assistant: Hello\n",
		},
		"results": {
			[]any{answered(object{"Text": "Edited"}, false), answered([]any{object{"text": "a"}, "b"}, false), answered("No", true), agent(call)},
			"1 tool_call edit_file: { \"path\": \"a.txt\" }\n1 tool_result: Edited\n1 tool_call edit_file: { \"path\": \"a.txt\" }\n1 tool_result: a b\n" +
				"1 tool_call edit_file: { \"path\": \"a.txt\" }\n1 tool_result failed: No\n1 tool_call edit_file: { \"path\": \"a.txt\" }\n",
		},
		"versions before 0.3.0": {
			[]any{
				object{"id": 1, "role": "system", "segments": []object{{"type": "text", "text": "You are"}}},
				object{"id": 2, "role": "user", "segments": []object{{"type": "text", "text": "Hi"}}, "context": "<files>"},
				object{
					"id": 3, "role": "assistant", "segments": []object{{"type": "thinking", "text": "Hm"}, {"type": "text", "text": "Hello"}},
					"tool_uses": []object{{"id": "c1", "name": "ls", "input": object{}}}, "tool_results": []object{{"tool_use_id": "c1", "is_error": false, "content": object{"Text": "a.txt"}}},
				},
				object{"id": 4, "role": "new"},
			},
			"1 user: Hi\n1 reasoning: Hm\n1 assistant: Hello\n1 tool_call ls: {}\n1 tool_result: a.txt\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, append(tables(), thread(first, "", "Stations", dir, test.messages...))...)
			if diff := cmp.Diff(test.want, storetest.Said(t, storetest.Only(t, s))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A document that cannot be read is counted, and hides no other thread. The first version has five columns.
func TestDocuments(t *testing.T) {
	t.Parallel()
	json := storetest.Object(object{"version": "0.2.0", "summary": "Stations", "messages": []any{object{"role": "user", "segments": []object{{"type": "text", "text": "Hi"}}}}})
	const insert = "INSERT INTO threads (id, summary, updated_at, data_type, data) VALUES (?, 'Stations', '2026-05-01T11:00:00Z', ?, ?)"
	home := t.TempDir()
	storetest.Database(t, filepath.Join(home, "threads", "threads.db"), []any{table}, []any{insert, first, "json", json}, []any{insert, second, "zstd", compress(json)[:20]})
	s, _ := zed.Open(store.Options{Home: home, Project: project.New(project.Options{All: true})})
	const want = `zed-2c154aa7-742d-46ce-af44-de020dbaa17b "Stations" u
zed-83112a12-3b74-4f73-8ca0-10d3fce13c2b "Stations"
`
	if diff := cmp.Diff(want, storetest.Listing(t, s)); diff != "" {
		t.Error(diff)
	}
	found, _ := storetest.List(t, s, store.Live)
	if totals, err := found[1].Read(t.Context(), nil); totals.Skipped != 1 || err != nil {
		t.Errorf("%+v, %v", totals, err)
	}
}

// Any document is read without a panic, twice the same.
func FuzzDocument(f *testing.F) {
	f.Add("json", []byte(storetest.Object(object{"messages": []any{user("Hi"), agent(object{"Text": "Hello"}), "Resume"}})))
	f.Add("zstd", compress(`{"messages":[{"Agent":{"content":[{"ToolUse":{"id":"c"}}],"tool_results":{"c":{"content":[[]]}}}}]}`))
	s := open(f, append(tables(), thread(first, "", "Stations", dir, user("Hi")))...)
	db := storetest.Database(f, filepath.Join(s.Dir, "threads.db"))
	f.Fuzz(func(t *testing.T, form string, data []byte) {
		if _, err := db.Exec("UPDATE threads SET data_type = ?, data = ?", form, append([]byte{}, data...)); err != nil {
			t.Fatal(err)
		}
		storetest.CheckReading(t, storetest.Only(t, s))
	})
}
