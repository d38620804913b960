package gemini_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/gemini"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
)

// Each case is a record form that the program writes.
func TestEvents(t *testing.T) {
	t.Parallel()
	context := user(1, "<session_context>\nfolders\n</session_context>")
	readCall := line{"file_path": "a"}
	for name, test := range map[string]struct {
		lines []line
		want  string
	}{
		"a prompt and its answer": {
			lines: []line{list(context), user(2, "Go"), {"$set": line{"lastUpdated": stamp(2)}}, answer(3, "Done.").with("thoughts", []line{{"subject": "Think", "description": "hm"}})},
			want:  "1 user: Go\n1 reasoning: Think hm\n1 assistant: Done.\n",
		},
		"content that is a string": {lines: []line{message("user", 2, "Go"), answer(3, "Done.")}, want: "1 user: Go\n1 assistant: Done.\n"},
		"a message that is replaced": {
			lines: []line{user(2, "Go"), answer(3, "I look."), answer(3, "I look.").with("toolCalls", []line{tool("c1", "read_file", "success", readCall, line{"output": "one\ntwo"})})},
			want:  "1 user: Go\n1 assistant: I look.\n1 tool_call read_file: { \"file_path\": \"a\" }\n1 tool_result: one two\n",
		},
		"results come again in the name of the user": {
			lines: []line{
				user(2, "Go"),
				answer(3, "").with("toolCalls", []line{tool("c1", "read_file", "success", readCall, line{"output": "one"}), tool("c2", "read_file", "error", readCall, line{"error": "no b"}), tool("c3", "read_file", "executing", readCall, nil)}),
				message("user", 4, []line{returned("c1", "read_file", line{"output": "one"}), returned("c2", "read_file", line{"error": "no b"}), returned("c3", "read_file", line{"output": "three"})}),
				answer(5, "Done."),
			},
			want: "1 user: Go\n1 tool_call read_file: { \"file_path\": \"a\" }\n1 tool_result: one\n1 tool_call read_file: { \"file_path\": \"a\" }\n1 tool_result failed: no b\n" +
				"1 tool_call read_file: { \"file_path\": \"a\" }\n1 tool_result: three\n1 assistant: Done.\n",
		},
		"what comes from outside is marked": {
			lines: []line{user(2, "Go"), answer(3, "").with("toolCalls", []line{tool("c1", "mcp_convtools_conversation_grep", "success", line{}, line{"output": "<untrusted_context>\na\nb\n</untrusted_context>"})})},
			want:  "1 user: Go\n1 tool_call mcp_convtools_conversation_grep: {}\n1 tool_result: a b\n",
		},
		"a session that goes on": {
			lines: []line{
				list(context), user(2, "Go"), answer(3, "I look.").with("thoughts", []line{{"subject": "Think"}}).with("toolCalls", []line{tool("c1", "read_file", "success", readCall, line{"output": "one"})}),
				message("user", 4, []line{returned("c1", "read_file", line{"output": "one"})}), answer(5, "Done."),
				header(1), list(context),
				list(context, user(2, "Go"),
					message("gemini", 3, []line{{"text": "**Think**", "thought": true}, {"text": "I look."}, called("c1", "read_file", readCall)}),
					line{"id": "m3_response", "type": "user", "timestamp": stamp(9), "content": []line{returned("c1", "read_file", line{"output": "one"})}},
					message("user", 4, []line{returned("c1", "read_file", line{"output": "one"})}), message("gemini", 5, parts("Done."))),
				user(6, "And?"),
			},
			want: "1 user: Go\n1 reasoning: Think\n1 assistant: I look.\n1 tool_call read_file: { \"file_path\": \"a\" }\n1 tool_result: one\n1 assistant: Done.\n2 user: And?\n",
		},
		"what only a list has": {
			lines: []line{
				list(user(2, "Go"), message("gemini", 3, []line{{"text": "**Think**", "thought": true}, {"text": "I look."}, called("c1", "read_file", readCall)}),
					message("user", 4, []line{returned("c1", "read_file", line{"output": "one"})}), message("gemini", 5, parts("Done."))),
				user(6, "And?"),
			},
			want: "1 user: Go\n1 reasoning: **Think**\n1 assistant: I look.\n1 tool_call read_file: { \"file_path\": \"a\" }\n1 tool_result: one\n1 assistant: Done.\n2 user: And?\n",
		},
		"a compression": {
			lines: []line{
				list(context), user(2, "a"), answer(3, "to a"), user(4, "b"), answer(5, "to b"),
				list(context, user(10, "<state_snapshot>summary</state_snapshot>"), answer(11, "Got it."), user(12, "b"), message("gemini", 13, parts("to b"))),
				message("info", 14, ""), user(15, "c"), answer(16, "to c"),
				list(context, user(10, "<state_snapshot>summary</state_snapshot>"), answer(11, "Got it."), user(12, "b"), message("gemini", 13, parts("to b")), user(15, "c"), answer(16, "to c")),
			},
			want: "1 user: a\n1 assistant: to a\n2 user: b\n2 assistant: to b\n0 compaction\n3 user: c\n3 assistant: to c\n",
		},
		"a second compression": {
			lines: []line{
				user(2, "go on"), answer(3, "to a"), user(4, "go on"), answer(5, "to b"),
				list(user(10, "<state_snapshot>1</state_snapshot>"), answer(11, "Got it."), user(12, "go on"), answer(13, "to b")),
				user(15, "go on"), answer(16, "to c"),
				list(user(20, "<state_snapshot>2</state_snapshot>"), answer(21, "Got it."), user(22, "go on"), answer(23, "to c")),
				user(25, "go on"),
			},
			want: "1 user: go on\n1 assistant: to a\n2 user: go on\n2 assistant: to b\n0 compaction\n3 user: go on\n3 assistant: to c\n0 compaction\n4 user: go on\n",
		},
		"a list that forgets": {
			lines: []line{user(2, "a"), answer(3, "to a"), user(4, "wait"), message("info", 5, "Request cancelled."), list(user(2, "a"), answer(3, "to a"))},
			want:  "1 user: a\n1 assistant: to a\n2 user: wait\n",
		},
		"a rewind": {
			lines: []line{user(2, "a"), answer(3, "to a"), user(4, "b"), answer(5, "to b"), {"$rewindTo": "m4"}, user(6, "c")},
			want:  "1 user: a\n1 assistant: to a\n2 user: c\n",
		},
		"a rewind to what is not there": {lines: []line{user(2, "a"), answer(3, "to a"), {"$rewindTo": "m99"}, user(4, "b")}, want: "1 user: b\n"},
		"a rewind to a copy": {
			lines: []line{
				user(2, "a"), user(4, "b"), list(user(10, "<state_snapshot>1</state_snapshot>"), answer(11, "Got it."), user(12, "b")), user(15, "c"), {"$rewindTo": "m12"}, user(16, "d"),
			},
			want: "1 user: a\n2 user: d\n",
		},
		"noise in the name of the user": {
			lines: []line{
				user(1, "This is the Gemini CLI. We are setting up the context for our chat."), user(2, "<hook_context>x"), user(3, "/chat save x"), user(4, "?"), user(5, "Go"),
				message("info", 6, "no"), message("warning", 7, "no"), message("error", 8, "no"), user(9, "<session_context>x", "And?"),
			},
			want: "1 user: Go\n2 user: And?\n",
		},
		"files that a prompt mentions": {
			lines: []line{user(2, "Look at @a.txt", "\n--- Content from referenced files ---", "\nContent from @a.txt:\n", "one", "\n--- End of content ---"), message("user", 3, []line{{"text": "Look at "}, {"text": "this"}})},
			want:  "1 user: Look at @a.txt\n2 user: Look at this\n",
		},
		"a picture alone": {lines: []line{message("user", 2, []line{{"inlineData": line{"mimeType": "image/png", "data": "AAAA"}}}), answer(3, "A dot.")}, want: "1 user\n1 assistant: A dot.\n"},
		"a question to the user": {
			lines: []line{user(2, "Ask me"), answer(3, "").with("toolCalls", []line{tool("c1", "ask_user", "success", line{"questions": []line{{"question": "Which size?", "options": []line{{"label": "100"}}}}}, line{"output": "100"})})},
			want:  "1 user: Ask me\n1 inquiry: Which size? - 100\n1 inquiry_response: 100\n",
		},
		"unknown records and types": {lines: []line{user(2, "Go"), message("invented", 3, "no"), {"$invented": "no"}, message("user", 4, []line{{"invented": "no"}})}, want: "1 user: Go\n"},
		"messages without an id":    {lines: []line{list(line{"type": "user", "content": "a"}, line{"type": "user", "content": "b"})}, want: "1 user: a\n2 user: b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.log(1, test.lines...)
			if diff := cmp.Diff(test.want, h.said()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Versions before the logs wrote one object, which is written again each time.
func TestObject(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.object(1, user(1, "This is the Gemini CLI. We are setting up the context for our chat."), message("user", 2, "Go"),
		answer(3, "I look.").with("thoughts", []line{{"subject": "Think", "description": "hm", "timestamp": stamp(2)}}).with("toolCalls", []line{tool("c1", "read_file", "success", line{}, line{"output": "one"})}), answer(4, "Done."))
	want := "1 user: Go\n1 reasoning: Think hm\n1 assistant: I look.\n1 tool_call read_file: {}\n1 tool_result: one\n1 assistant: Done.\n"
	c := storetest.Only(t, h.open())
	if diff := cmp.Diff(want, storetest.Said(t, c)); diff != "" {
		t.Error(diff)
	}
	if storetest.Called(c) != "Go" || !c.LastAt.Equal(time.Date(2026, 5, 1, 0, 0, 4, 0, time.UTC)) {
		t.Errorf("%+v", c)
	}
	long := h.object(2, user(1, "First"), answer(2, strings.Repeat("word ", 50_000)), user(3, "Last"))
	c, err := storetest.Find(t, h.open(), convID(2))
	if err != nil || storetest.Called(c) != "First" || !c.LastAt.Equal(time.Date(2026, 5, 1, 0, 0, 3, 0, time.UTC)) {
		t.Errorf("%+v, %v", c, err)
	}
	if got := storetest.Turns(t, c); got != " ua u" {
		t.Error(got)
	}
	data, err := os.ReadFile(long)
	if err != nil {
		t.Fatal(err)
	}
	h.write(strings.TrimSuffix(logFile(3), "l"), strings.ReplaceAll(string(data[:len(data)/2]), uuid(2), uuid(3)))
	c, err = storetest.Find(t, h.open(), convID(3))
	if err != nil {
		t.Fatal(err)
	}
	if got := storetest.Said(t, c); got != "1 user: First\n" {
		t.Errorf("half an object: %q", got)
	}
}

func TestTotals(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.log(1, user(2, "Go"), message("invented", 3, "no"), answer(4, "a").with("toolCalls", []line{tool("c1", "T", "success", line{}, line{"output": "b"})}))
	c := storetest.Only(t, h.open())
	totals, err := c.Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	last := time.Date(2026, 5, 1, 0, 0, 50, 0, time.UTC)
	if diff := cmp.Diff(store.Totals{Turns: 1, Events: 4, LastAt: last, Skipped: 1}, totals); diff != "" {
		t.Error(diff)
	}
	if !c.LastAt.Equal(last) || !c.CreatedAt.Equal(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)) || c.Dir != h.project || c.Source != gemini.Name {
		t.Errorf("%+v", c)
	}
}

func TestListing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	context := list(user(1, "<session_context>"+strings.Repeat("word ", 50_000)))
	h.log(1, list(user(1, "<session_context>")), user(2, "\nFirst line\nsecond"), answer(3, "Well."), line{"$set": line{"summary": "The first lines"}})
	h.log(2, context, user(2, "Behind much context"), answer(3, strings.Repeat("word ", 50_000)), answer(4, "Well."))
	h.log(3, context) // nothing is said
	h.log(4, user(2, "/quit"))
	// A session that goes on in a later minute leaves another file, as a rule an empty one.
	h.write("tide-import-v2/chats/session-2026-05-01T00-01-"+uuid(1)[:8]+".jsonl", text(header(1), list(user(1, "<session_context>"))))
	h.object(5, user(2, "Before the logs"))
	h.log(5, user(2, "Before the logs"), user(3, "Since"))
	h.write("tide-import-v2/chats/"+uuid(1)+"/agent-7.jsonl", text(line{"sessionId": "agent-7", "kind": "subagent", "directories": []string{h.project}}, user(2, "Count them"), answer(3, "Three.")))
	h.write("tide-import-v2/chats/"+uuid(1)+"/.jsonl", "")
	h.write("tide-import-v2/chats/notes.jsonl", text(user(1, "no")))
	h.write("tide-import-v2/chats/session-x.jsonl", text(user(1, "no")))
	h.write("tide-import-v2/logs.json", "[]")
	h.write("tide-import-v2/checkpoint-x.json", `{"history":[]}`)
	h.write("bin/rg", "")
	h.write("another/.project_root", h.project+"-elsewhere\n")
	h.write("another/chats/"+filepath.Base(logFile(6)), text(header(6), user(2, "another project")))
	want := string(convID(1)) + " \"The first lines\" ua\n" +
		string(convID(2)) + " \"Behind much context\" uaa\n" +
		string(convID(5)) + " \"Before the logs\" u u\n" +
		string(convID(1)) + ".agent-7 \"Count them\" of " + string(convID(1)) + " aa\n"
	if diff := cmp.Diff(want, storetest.Listing(t, h.open())); diff != "" {
		t.Error(diff)
	}
	if found, _ := storetest.List(t, h.open(), store.Archived); len(found) > 0 {
		t.Error(found)
	}
	var missing *store.NotFoundError
	for _, n := range []int{3, 4, 6, 99} {
		if _, err := storetest.Find(t, h.open(), convID(n)); !errors.As(err, &missing) {
			t.Errorf("Find %d: %v", n, err)
		}
	}
	if _, err := storetest.Find(t, h.open(), convID(0)); !errors.As(err, &missing) || len(missing.Nearest) == 0 || missing.Nearest[0] != convID(1) {
		t.Errorf("%+v", missing)
	}
	if _, err := storetest.Find(t, h.open(), "gemini-x"); !errors.As(err, &missing) {
		t.Error(err)
	}
}

// The folder of a project is named after a hash of its directory, or has a name that is
// listed, or that is noted in the folder.
func TestFolders(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if err := os.Remove(filepath.Join(h.dir, "tmp", "tide-import-v2", ".project_root")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(h.project, "sub", "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(h.project, ".jp"), 0o755); err != nil {
		t.Fatal(err)
	}
	hash := func(dir string) string {
		sum := sha256.Sum256([]byte(dir))
		return hex.EncodeToString(sum[:])
	}
	slugs, err := json.Marshal(line{"projects": line{h.project: "named", h.project + "-elsewhere": "named-1"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "projects.json"), slugs, 0o600); err != nil {
		t.Fatal(err)
	}
	file := func(n int) string { return "/chats/" + filepath.Base(logFile(n)) }
	h.write(hash(h.project)+file(1), text(header(1), user(2, "by a hash")))
	h.write(hash(filepath.Join(h.project, "sub"))+file(2), text(header(2), user(2, "by the hash of a directory above")))
	h.write("named"+file(3), text(header(3), user(2, "by its name")))
	h.write("named-1"+file(4), text(header(4), user(2, "another project")))
	h.write(hash("/elsewhere")+file(5), text(header(5), user(2, "a hash of another one")))
	h.write("noted/.project_root", filepath.Join(h.project, "sub"))
	h.write("noted"+file(6), text(header(6), user(2, "by what is noted")))
	want := string(convID(1)) + " \"by a hash\" u\n" + string(convID(2)) + " \"by the hash of a directory above\" u\n" +
		string(convID(3)) + " \"by its name\" u\n" + string(convID(6)) + " \"by what is noted\" u\n"
	below := *h
	below.project = filepath.Join(h.project, "sub", "below")
	if diff := cmp.Diff(want, storetest.Listing(t, below.open())); diff != "" {
		t.Error(diff)
	}
	all, ok := gemini.Open(store.Options{Home: h.dir, Project: project.New(project.Options{Dir: h.project, All: true})})
	if !ok {
		t.Fatal("there is no store")
	}
	if found, problems := storetest.List(t, all, store.Live); len(found) != 6 || len(problems) > 0 {
		t.Errorf("of all projects: %v, %v", found, problems)
	}
}

func TestDamage(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	good := text(header(1), user(2, "Go"), answer(3, "Well."))
	for name, test := range map[string]struct{ text, want string }{
		"the last line is not written yet": {good + text(user(4, "torn"))[:40], "1 user: Go\n1 assistant: Well.\n"},
		"no line feed at its end":          {good + strings.TrimSuffix(text(user(4, "torn")), "\n"), "1 user: Go\n1 assistant: Well.\n"},
		"half a line before whole ones":    {good + `{"id":"m9","type` + "\n" + text(user(4, "And?")), "1 user: Go\n1 assistant: Well.\n2 user: And?\n"},
		"lines that are no records":        {good + "[]\n7\n\n{}\n" + `{"$set":[1]}` + "\n" + `{"$set":{"messages":7}}` + "\n" + text(user(4, "And?")), "1 user: Go\n1 assistant: Well.\n2 user: And?\n"},
		"not UTF-8":                        {strings.Replace(good, "Well.", "W\xffll\\ud83d.", 1), "1 user: Go\n1 assistant: W\ufffdll\ufffd.\n"},
		"line separators":                  {strings.Replace(good, "Well.", "W\u2028ll", 1), "1 user: Go\n1 assistant: W ll\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &home{t: t, dir: t.TempDir(), project: h.project}
			h.write("tide-import-v2/.project_root", h.project)
			h.write(logFile(1), test.text)
			if diff := cmp.Diff(test.want, h.said()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := h.log(1, user(2, "Go"))
	c := storetest.Only(t, h.open())
	before, err := c.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h.log(1, user(2, "Go"), answer(3, "Well."))
	c = storetest.Only(t, h.open())
	if after, err := c.Version(t.Context()); err != nil || before == after {
		t.Errorf("%q, then %q, %v", before, after, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	var missing *store.NotFoundError
	if _, err := c.Read(t.Context(), nil); !errors.As(err, &missing) {
		t.Errorf("of a deleted file: %v", err)
	}
}

func TestWhere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.log(1, user(2, "Go"))
	user := t.TempDir()
	if err := os.Symlink(h.dir, filepath.Join(user, ".gemini")); err != nil {
		t.Skip(err)
	}
	empty := t.TempDir()
	for name, test := range map[string]struct {
		env map[string]string
		ok  bool
	}{
		"the home directory": {map[string]string{"HOME": user, "USERPROFILE": user}, true},
		"GEMINI_CLI_HOME":    {map[string]string{"HOME": empty, "USERPROFILE": empty, "GEMINI_CLI_HOME": user}, true},
		"nothing":            {map[string]string{}, false},
		"an empty home":      {map[string]string{"HOME": empty, "USERPROFILE": empty}, false},
	} {
		s, ok := gemini.Open(store.Options{Project: project.New(project.Options{Dir: h.project}), Getenv: storetest.Env(test.env)})
		if ok != test.ok {
			t.Errorf("%s: %v", name, ok)
		}
		if !ok {
			continue
		}
		if found, problems := storetest.List(t, s, store.Live); len(found) != 1 || len(problems) > 0 {
			t.Errorf("%s: %v, %v", name, found, problems)
		}
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	const id = "2c154aa7-742d-46ce-af44-de020dbaa17b"
	for text, want := range map[string]string{
		"gemini-" + id:                       "gemini-" + id,
		"Gemini-" + strings.ToUpper(id):      "gemini-" + id,
		"gemini-" + id + ".agent_7-x":        "gemini-" + id + ".agent_7-x",
		id:                                   "",
		"":                                   "",
		"gemini-":                            "",
		"gemini-" + id + ".":                 "",
		"gemini-" + id + "./../x":            "",
		"gemini-../../" + id[len("../../"):]: "",
	} {
		got, err := gemini.IDs().ParseID(text)
		var bad *store.BadIDError
		if string(got) != want || (want == "") != errors.As(err, &bad) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	if !gemini.IDs().Claims("gemini-x") || gemini.IDs().Claims(id) {
		t.Error("another store's id is claimed")
	}
}

// A store can be used concurrently.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for n := range 20 {
		h.log(n+1, user(2, "Go"))
	}
	s := h.open()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if found, err := s.List(t.Context(), store.Scope{Set: store.Live}); err != nil || len(found.Conversations) != 20 {
				t.Error(found, err)
			}
			if _, err := storetest.Find(t, s, convID(7)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestLongLine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := h.log(1, user(2, "Go"), answer(3, "Went."))
	storetest.CheckLongLine(t, h.open(), file)
}
