package cursor_test

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/cursor"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	first, second, third = "2c154aa7-742d-46ce-af44-de020dbaa17b", "83112a12-3b74-4f73-8ca0-10d3fce13c2b", "b511b9e9-2c67-4959-97a0-c85ed96fb6f6"
	item, disk           = "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)", "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
)

type object map[string]any

func tables(statements ...[]any) [][]any { return append([][]any{{item}, {disk}}, statements...) }

func row(table, key string, value any) []any {
	return []any{"INSERT INTO " + table + " VALUES (?, ?)", key, []byte(storetest.Object(value))}
}

// composer is a conversation with messages, which have the numbers of their places as ids. As in other lists here, a text
// stands before them, where the program writes objects.
func composer(id, name string, more object, bubbles ...object) (rows [][]any) {
	var headers []any
	for i, b := range bubbles {
		bubble := string(rune('a' + i))
		headers = append(headers, "a text", object{"bubbleId": bubble, "type": b["type"]})
		rows = append(rows, row("cursorDiskKV", "bubbleId:"+id+":"+bubble, b))
	}
	data := object{"composerId": id, "name": name, "createdAt": 1_777_629_600_000, "lastUpdatedAt": 1_777_629_700_000, "fullConversationHeadersOnly": headers}
	for key, value := range more {
		data[key] = value
	}
	return append(rows, row("cursorDiskKV", "composerData:"+id, data))
}

func user(said string) object {
	return object{"type": 1, "text": said, "createdAt": "2026-05-01T10:00:00.000Z"}
}

func answer(said string) object {
	return object{"type": 2, "text": said, "timingInfo": object{"clientStartTime": 1_777_629_600_000.5}}
}

// headers notes the folders of conversations, as version 3 does.
func headers(folders map[string]string) []any {
	list := []any{"a text"}
	for id, dir := range folders {
		list = append(list, object{"composerId": id, "workspaceIdentifier": object{"id": "a1", "uri": object{"fsPath": dir, "scheme": "file"}}})
	}
	return row("ItemTable", "composer.composerHeaders", object{"allComposers": list})
}

// lab is a home with a database of the editor, and a project.
type lab struct{ home, project string }

func newLab(t testing.TB, rows ...[][]any) lab {
	t.Helper()
	l := lab{t.TempDir(), t.TempDir()}
	statements := tables()
	for _, some := range rows {
		statements = append(statements, some...)
	}
	storetest.Database(t, filepath.Join(l.home, "globalStorage", "state.vscdb"), statements...)
	return l
}

func (l lab) open(t testing.TB, all bool) *messagedb.Store {
	t.Helper()
	s, ok := cursor.Open(store.Options{Home: l.home, Project: project.New(project.Options{Dir: l.project, All: all})})
	if !ok {
		t.Fatal("there is no store")
	}
	return s
}

func (l lab) write(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(l.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEditor(t *testing.T) {
	t.Parallel()
	l := newLab(
		t,
		composer(first, "Stations", object{"subagentComposerIds": []string{second}}, user("Which stations?"), answer("Two.")),
		composer(second, "", nil, user("Count them"), answer("Two.")),
		composer(third, "Old", object{"isArchived": true, "fullConversationHeadersOnly": nil, "conversation": []object{user("Before"), answer("That.")}}),
		composer("f745fe8f-30dd-4d93-8e16-fd47171f3519", "Elsewhere", nil, user("Hi")),
		composer("27f76a9f-a215-48d3-89b7-9ffbabe28a5f", "Empty", nil),
		composer("../x", "No id", nil, user("Hi")),
		[][]any{
			{"INSERT INTO cursorDiskKV VALUES ('composerData:47e39a22-7130-4c11-a909-9dcb3ee3cb5d', '{'), ('composerData:1c24d903-0df2-405a-b7c6-dabc1bcf5b77', NULL)"},
			row("ItemTable", "cursorAuth/accessToken", "secret"),
		},
	)
	db := storetest.Database(t, filepath.Join(l.home, "globalStorage", "state.vscdb"))
	note := headers(map[string]string{first: l.project, second: l.project, "f745fe8f-30dd-4d93-8e16-fd47171f3519": "/elsewhere"})
	if _, err := db.Exec(note[0].(string), note[1:]...); err != nil {
		t.Fatal(err)
	}
	// The folder of the third is noted as version 2 does.
	l.write(t, "workspaceStorage/a1/workspace.json", storetest.Object(object{"folder": "file://" + filepath.ToSlash(l.project)}))
	storetest.Database(t, filepath.Join(l.home, "workspaceStorage", "a1", "state.vscdb"), tables(row("ItemTable", "composer.composerData", object{"allComposers": []any{"a text", object{"composerId": third}, object{}}}))...)
	l.write(t, "workspaceStorage/b2/workspace.json", "{")
	const want = `cursor-2c154aa7-742d-46ce-af44-de020dbaa17b "Stations" ua
cursor-83112a12-3b74-4f73-8ca0-10d3fce13c2b "Count them" of cursor-2c154aa7-742d-46ce-af44-de020dbaa17b aa
cursor-b511b9e9-2c67-4959-97a0-c85ed96fb6f6 "Old" archived ua
`
	if diff := cmp.Diff(want, storetest.Listing(t, l.open(t, false))); diff != "" {
		t.Error(diff)
	}
}

func TestBubbles(t *testing.T) {
	t.Parallel()
	tool := func(name, status, arguments, result string) object {
		return object{"type": 2, "text": "", "toolFormerData": object{"toolCallId": "c1", "name": name, "status": status, "rawArgs": arguments, "result": result}}
	}
	l := newLab(t, composer(
		first, "Stations", nil,
		user("Edit"), object{"type": 1, "text": "", "images": []any{object{"dimension": object{}}}},
		object{"type": 2, "text": "So:", "thinking": object{"text": "I edit."}},
		tool("search_replace", "completed", `{"file_path":"a","old_string":"x","new_string":"y"}`, `{"diff":{}}`),
		tool("run_terminal_cmd", "completed", `{"command":"make"}`, `{"output":"FAIL\n","exitCodeV2":2}`),
		tool("read_file", "error", "{", ""), tool("read_file", "loading", "{}", ""),
		object{"type": 3}, object{"type": 2, "text": "Done."},
	))
	const want = `1 user: Edit
2 user
2 reasoning: I edit.
2 assistant: So:
2 tool_call search_replace: { "file_path": "a", "old_string": "x", "new_string": "y" }
2 tool_result: {"diff":{}}
2 tool_call run_terminal_cmd: { "command": "make" }
2 tool_result failed: FAIL
2 tool_call read_file: {
2 tool_result failed
2 tool_call read_file: {}
2 assistant: Done.
`
	if diff := cmp.Diff(want, storetest.Said(t, storetest.Only(t, l.open(t, true)))); diff != "" {
		t.Error(diff)
	}
}

// A message is one record: it is counted once, also if its JSON ends before its type.
func TestSkipped(t *testing.T) {
	t.Parallel()
	damaged := func(id string) []any {
		return []any{"UPDATE cursorDiskKV SET value = '{\"text\":\"Hi\",' WHERE key = 'bubbleId:" + first + ":" + id + "'"}
	}
	l := newLab(t, composer(first, "Stations", nil, user("Hi"), object{"type": 3}, user("Bye")), [][]any{damaged("a")})
	c := storetest.Only(t, l.open(t, true))
	totals, err := c.Read(t.Context(), func(*transcript.Event) bool { return true })
	if err != nil || totals.Skipped != 2 || totals.Events != 1 {
		t.Errorf("%d skipped, %d events, %v; want 2, 1", totals.Skipped, totals.Events, err)
	}
}

// chat is the database of a conversation with cursor-agent: its messages by their hashes, a root with these
// hashes in order, and the metadata.
func chat(id, name string, messages ...string) [][]any {
	statements := [][]any{{"CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)"}, {"CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)"}}
	add := func(data []byte) (sum [sha256.Size]byte) {
		sum = sha256.Sum256(data)
		statements = append(statements, []any{"INSERT OR IGNORE INTO blobs VALUES (?, ?)", hex.EncodeToString(sum[:]), data})
		return sum
	}
	var root []byte
	for _, m := range messages {
		sum := add([]byte(m))
		root = append(append(root, 0x0a, sha256.Size), sum[:]...)
	}
	sum := add(append(root, "\x12\x01x"...))
	about := storetest.Object(object{"agentId": id, "name": name, "createdAt": 1_777_629_600_000, "latestRootBlobId": hex.EncodeToString(sum[:])})
	return append(statements, []any{"INSERT INTO meta VALUES ('0', ?)", hex.EncodeToString([]byte(about))})
}

func TestAgent(t *testing.T) {
	t.Parallel()
	l := lab{t.TempDir(), t.TempDir()}
	sum := md5.Sum([]byte(l.project))
	hash := hex.EncodeToString(sum[:])
	storetest.Database(t, filepath.Join(l.home, "chats", hash, first, "store.db"), chat(
		first, "Stations",
		`{"role":"system","content":"You are"}`,
		`{"role":"user","content":[{"type":"text","text":"<user_info>\nOS: linux\n</user_info>"}]}`,
		`{"role":"user","content":[{"type":"text","text":"<timestamp>x</timestamp>\n<user_query>\nTest it\n</user_query>"}]}`,
		`{"role":"assistant","content":[{"type":"reasoning","text":"I run it."},{"type":"text","text":"So:"},{"type":"tool-call","toolCallId":"c1","toolName":"Shell","args":{"command":"make"}}]}`,
		`{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"Shell","result":"FAIL\n"},{"type":"tool-result","result":{"a":1}},{"type":"new"}]}`,
		`{"role":"user","content":"Again"}`, `{"role":"assistant","content":"So:"}`, `{"role":"assistant","content":"So:"}`, "\x0a\x01x",
	)...)
	storetest.Database(t, filepath.Join(l.home, "chats", "other", second, "store.db"), chat(second, "New Agent", `{"role":"user","content":"Hi"}`)...)
	storetest.Database(t, filepath.Join(l.home, "chats", "other", third, "store.db"), chat(third, "Elsewhere", `{"role":"user","content":"Hi"}`)...)
	_ = os.Symlink("..", filepath.Join(l.home, "chats", "up")) // without links there is no circle
	l.write(t, "chats/other/"+second+"/meta.json", storetest.Object(object{"cwd": l.project}))
	s := l.open(t, false)
	const list = `cursor-2c154aa7-742d-46ce-af44-de020dbaa17b "Stations" uractt uaa
cursor-83112a12-3b74-4f73-8ca0-10d3fce13c2b "Hi" u
`
	if diff := cmp.Diff(list, storetest.Listing(t, s)); diff != "" {
		t.Error(diff)
	}
	const said = `1 user: Test it
1 reasoning: I run it.
1 assistant: So:
1 tool_call Shell: { "command": "make" }
1 tool_result: FAIL
1 tool_result: {"a":1}
2 user: Again
2 assistant: So:
2 assistant: So:
`
	c, err := storetest.Find(t, s, "cursor-"+first)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(said, storetest.Said(t, c)); diff != "" || c.Dir != l.project {
		t.Error(diff, c.Dir)
	}
}

// Any conversation and message of the editor is read without a panic, twice the same.
func FuzzEditor(f *testing.F) {
	f.Add([]byte(storetest.Object(object{"name": "x", "fullConversationHeadersOnly": []object{{"bubbleId": "a"}}})), []byte(storetest.Object(user("Hi"))))
	f.Add([]byte(`{"conversation":[{"type":2,"toolFormerData":{"name":"x","result":"{}"}}],"subComposerIds":3}`), []byte("{"))
	l := newLab(f)
	db := storetest.Database(f, filepath.Join(l.home, "globalStorage", "state.vscdb"))
	s := l.open(f, true)
	f.Fuzz(func(t *testing.T, data, bubble []byte) {
		if _, err := db.Exec("INSERT INTO cursorDiskKV VALUES (?, ?), (?, ?)", "composerData:"+first, append([]byte{}, data...), "bubbleId:"+first+":a", append([]byte{}, bubble...)); err != nil {
			t.Fatal(err)
		}
		found, _ := storetest.List(t, s, store.Live|store.Archived)
		for _, c := range found {
			storetest.CheckReading(t, c)
		}
	})
}

// Any root and message of cursor-agent is read without a panic, twice the same.
func FuzzAgent(f *testing.F) {
	f.Add([]byte(`{"role":"user","content":"Hi"}`), []byte("\x0a\x20"), []byte(`{"agentId":"`+first+`"}`))
	l := lab{f.TempDir(), f.TempDir()}
	db := storetest.Database(f, filepath.Join(l.home, "chats", "a1", first, "store.db"), chat(first, "Stations", `{"role":"user","content":"Hi"}`)...)
	s := l.open(f, true)
	f.Fuzz(func(t *testing.T, message, root, about []byte) {
		sum := sha256.Sum256(message)
		root = append(append([]byte("\x0a\x20"), sum[:]...), root...)
		about = append(append([]byte{}, about[:max(0, len(about)-1)]...), `,"latestRootBlobId":"root"}`...)
		if _, err := db.Exec("INSERT OR REPLACE INTO blobs VALUES ('root', ?), (?, ?)", root, hex.EncodeToString(sum[:]), append([]byte{}, message...)); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("UPDATE meta SET value = ?", hex.EncodeToString(about)); err != nil {
			t.Fatal(err)
		}
		found, _ := storetest.List(t, s, store.Live)
		for _, c := range found {
			storetest.CheckReading(t, c)
		}
	})
}
