package toolcall_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store/toolcall"
	"github.com/convtools/convtools/runtime/transcript"
)

// call returns a call with arguments, or with a text that is no JSON.
func call(name, arguments string) *transcript.Event {
	e := &transcript.Event{Kind: transcript.KindToolCall, Name: name}
	if strings.HasPrefix(arguments, "{") {
		e.Arguments = []byte(arguments)
	} else {
		e.Text = []byte(arguments)
	}
	return e
}

const codexPatch = `*** Begin Patch
*** Update File: feed/retry.go
@@ func wait
 a
-b
+c

 d
@@
+e
*** Add File: new.txt
+first
+second
*** Delete File: old.txt
*** End Patch
`

// codexEdits are the changes of codexPatch.
var codexEdits = []toolcall.Edit{
	{"feed/retry.go", "a\nb\n\nd\n", "a\nc\n\nd\n"},
	{"feed/retry.go", "", "e\n"},
	{"new.txt", "", "first\nsecond\n"},
}

func TestEdits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		call *transcript.Event
		want []toolcall.Edit
	}{
		"Claude Code": {
			call("Edit", `{"replace_all":false,"file_path":"/p/a.go","old_string":"x\n","new_string":"y \"z\"\n"}`),
			[]toolcall.Edit{{"/p/a.go", "x\n", "y \"z\"\n"}},
		},
		"Claude Code, a file":     {call("Write", `{"file_path":"/p/a.go","content":"all"}`), []toolcall.Edit{{"/p/a.go", "", "all"}}},
		"Claude Code, removal":    {call("Edit", `{"file_path":"a","old_string":"x","new_string":""}`), []toolcall.Edit{{"a", "x", ""}}},
		"Claude Code, several":    {call("MultiEdit", `{"file_path":"a","edits":[{"old_string":"1","new_string":"2"},{"old_string":"3","new_string":"4"}]}`), []toolcall.Edit{{"a", "1", "2"}, {"a", "3", "4"}}},
		"Claude Code, a notebook": {call("NotebookEdit", `{"notebook_path":"n.ipynb","new_source":"s"}`), []toolcall.Edit{{"n.ipynb", "", "s"}}},
		"opencode":                {call("edit", `{"filePath":"/p/a","oldString":"1","newString":"2"}`), []toolcall.Edit{{"/p/a", "1", "2"}}},
		"Gemini CLI":              {call("replace", `{"instruction":"…","file_path":"a","old_string":"1","new_string":"2"}`), []toolcall.Edit{{"a", "1", "2"}}},
		"JP":                      {call("fs_modify_file", `{"path":"a","patterns":[{"old":"1","new":"2"}]}`), []toolcall.Edit{{"a", "1", "2"}}},
		"pi":                      {call("edit", `{"path":"a","edits":[{"oldText":"1","newText":"2"}]}`), []toolcall.Edit{{"a", "1", "2"}}},
		"Goose":                   {call("developer__text_editor", `{"command":"str_replace","path":"a","old_str":"1","new_str":"2"}`), []toolcall.Edit{{"a", "1", "2"}}},
		"files with changes each": {call("apply", `{"files":[{"path":"a","edits":[{"old":"1","new":"2"}]}]}`), []toolcall.Edit{{"a", "1", "2"}}},
		"Codex":                   {call("apply_patch", codexPatch), codexEdits},
		"Codex, as an argument":   {call("apply_patch", `{"input":`+quoted(codexPatch)+`}`), codexEdits},
		"Codex, in a shell":       {call("shell", `{"command":["apply_patch",`+quoted(codexPatch)+`]}`), codexEdits},
		"a unified diff": {
			call("apply_diff", quotedIn("diff", "diff --git a/x b/x\n--- a/x\n+++ b/x\t2026-01-01\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n")),
			[]toolcall.Edit{{"x", "1\n2\n", "1\n3\n"}},
		},
		"Cline": {
			call("replace_in_file", `{"path":"a","diff":`+quoted("------- SEARCH\n1\n=======\n2\n+++++++ REPLACE\n\n<<<<<<< SEARCH\n3\n=======\n>>>>>>> REPLACE\n")+`}`),
			[]toolcall.Edit{{"a", "1\n", "2\n"}, {"a", "3\n", ""}},
		},
		"a read":          {call("Read", `{"file_path":"a"}`), nil},
		"a search":        {call("grep", `{"path":"a","pattern":"x"}`), nil},
		"a command":       {call("Bash", `{"command":"cat a"}`), nil},
		"not a call":      {&transcript.Event{Kind: transcript.KindToolResult, Text: []byte(codexPatch)}, nil},
		"too deep":        {call("x", `{"path":"a","l":[{"l":[{"l":[{"new":"1"}]}]}]}`), nil},
		"without a path":  {call("x", `{"content":"1"}`), nil},
		"arguments cut":   {call("x", `{"path":"a","content":"1`), nil},
		"another program": {call("mcp__files__write", `{"Path":"a","Contents":"1"}`), []toolcall.Edit{{"a", "", "1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, toolcall.Edits(test.call)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func quoted(text string) string { return string(transcript.AppendQuoted(nil, []byte(text))) }

func quotedIn(name, text string) string { return `{"` + name + `":` + quoted(text) + `}` }

func TestCommand(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		`{"command":" make test\n","description":"Run the tests"}`: "make test",
		`{"cmd":"go vet ./..."}`:                                   "go vet ./...",
		`{"command":["bash","-lc","make \"test\""]}`:               `make "test"`,
		`{"command":["git","status"]}`:                             "git status",
		`{"command":"view","path":"a"}`:                            "",
		`{"command":"apply_patch <<'E'\n*** Begin Patch\nE"}`:      "",
		`{"query":"make"}`:                                         "",
		`make`:                                                     "",
		`{"command":{"x":1}}`:                                      "",
	} {
		if got := toolcall.Command(call("Bash", arguments)); got != want {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
}

func FuzzEdits(f *testing.F) {
	f.Add(codexPatch)
	f.Add(`{"path":"a","edits":[{"old":"1","new":"2"}],"diff":"--- SEARCH\n=======\n"}`)
	f.Fuzz(func(t *testing.T, arguments string) {
		e := call("x", arguments)
		for _, edit := range toolcall.Edits(e) {
			if edit.Path == "" {
				t.Error("a change without a file")
			}
		}
		if command := toolcall.Command(e); command != strings.TrimSpace(command) {
			t.Errorf("%q has white space around it", command)
		}
	})
}
