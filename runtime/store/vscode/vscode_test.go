package vscode_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/store/vscode"
)

const (
	dir           = "/home/mina/harbour bay" // of the project; there need not be one
	first, second = "2c154aa7-742d-46ce-af44-de020dbaa17b", "83112a12-3b74-4f73-8ca0-10d3fce13c2b"
	about         = `{"folder":"file:///home/mina/harbour%20bay"}`
	chats         = "workspaceStorage/a1/chatSessions/"
)

type object map[string]any

// request is a request as VS Code records one, with an answer.
func request(second int, said string, parts ...any) object {
	return object{
		"requestId": "r", "timestamp": 1_777_629_600_000 + 1000*second, "message": object{"text": said, "parts": []object{{"text": said, "kind": "text"}}},
		"variableData": object{"variables": []object{{"kind": "file", "name": "a.txt"}}}, "response": parts, "isCanceled": false,
	}
}

// answered adds the rounds and the results that Copilot records.
func (o object) answered(results object, rounds ...object) object {
	o["result"] = object{"metadata": object{"toolCallRounds": rounds, "toolCallResults": results}}
	return o
}

func markdown(said string) object { return object{"value": said, "supportThemeIcons": false} }

func chat(title string, requests ...object) string {
	c := object{"version": 3, "sessionId": "s", "creationDate": 1_777_629_600_000, "requests": requests}
	if title != "" {
		c["customTitle"] = title
	}
	return storetest.Object(c)
}

func log(lines ...object) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(storetest.Object(l) + "\n")
	}
	return b.String()
}

func open(t testing.TB, home string, all bool) *vscode.Store {
	t.Helper()
	s, ok := vscode.Open(store.Options{Home: home, Project: project.New(project.Options{Dir: dir, All: all})})
	if !ok {
		t.Fatal("there is no store")
	}
	return s
}

func TestListing(t *testing.T) {
	t.Parallel()
	hi := chat("", request(0, "Hi", markdown("Hello")))
	home := storetest.Home(t, map[string]string{
		"workspaceStorage/a1/workspace.json":                about,
		"workspaceStorage/a1/state.vscdb":                   "x",
		chats + first + ".json":                             chat("Old", request(0, "Before")),
		chats + first + ".jsonl":                            log(object{"kind": 0, "v": object{"customTitle": "Stations", "requests": []any{}}}, object{"kind": 2, "k": []any{"requests"}, "v": []any{request(0, "Which stations?", markdown("Two."))}}),
		chats + second + ".json":                            hi,
		chats + "b511b9e9-2c67-4959-97a0-c85ed96fb6f6.json": chat("Empty"),
		chats + "a b.json":                                  hi,
		"workspaceStorage/b2/workspace.json":                `{"folder":"vscode-remote://ssh-remote%2Bhost/home/mina/harbour%20bay"}`,
		"workspaceStorage/b2/chatSessions/" + "f745fe8f-30dd-4d93-8e16-fd47171f3519.json":      hi,
		"globalStorage/emptyWindowChatSessions/" + first + ".json":                             hi,
		"globalStorage/emptyWindowChatSessions/" + "27f76a9f-a215-48d3-89b7-9ffbabe28a5f.json": hi,
	})
	const mine = `vscode-2c154aa7-742d-46ce-af44-de020dbaa17b "Stations" ua
vscode-83112a12-3b74-4f73-8ca0-10d3fce13c2b "Hi" ua
`
	if diff := cmp.Diff(mine, storetest.Listing(t, open(t, home, false))); diff != "" {
		t.Error(diff)
	}
	const all = `vscode-27f76a9f-a215-48d3-89b7-9ffbabe28a5f "Hi" ua
` + mine + `vscode-f745fe8f-30dd-4d93-8e16-fd47171f3519 "Hi" ua
`
	if diff := cmp.Diff(all, storetest.Listing(t, open(t, home, true))); diff != "" {
		t.Error(diff)
	}
}

func TestSaid(t *testing.T) {
	t.Parallel()
	command := object{
		"kind": "toolInvocationSerialized", "toolId": "run_in_terminal", "toolCallId": "c1", "isComplete": true, "pastTenseMessage": markdown("Ran"),
		"toolSpecificData": object{"kind": "terminal", "commandLine": object{"original": "make test"}, "terminalCommandOutput": object{"text": "FAIL"}, "terminalCommandState": object{"exitCode": 2}},
	}
	read := object{"kind": "toolInvocationSerialized", "toolId": "copilot_readFile", "toolCallId": "c2", "isComplete": true, "pastTenseMessage": markdown("Read a.txt")}
	asked := object{
		"kind": "toolInvocationSerialized", "toolId": "lab_probe", "toolCallId": "c3", "isComplete": true,
		"resultDetails": object{"input": `{"n":1}`, "isError": true, "output": []object{{"type": "embed", "value": "No"}}},
	}
	for name, test := range map[string]struct {
		requests []object
		want     string
	}{
		"parts": {
			[]object{request(0, "Test it", object{"kind": "thinking", "value": "I run it."}, markdown("See "), object{"kind": "inlineReference", "inlineReference": object{"path": "/x/a.go"}}, markdown(":"), command, read, asked, "Done.")},
			`1 user: Test it
1 reasoning: I run it.
1 assistant: See a.go:
1 tool_call run_in_terminal: { "command": "make test" }
1 tool_result failed: FAIL
1 tool_call copilot_readFile
1 tool_result: Read a.txt
1 tool_call lab_probe: { "n": 1 }
1 tool_result failed: No
1 assistant: Done.
`,
		},
		"edits": {
			[]object{request(0, "Edit", object{"kind": "textEditGroup", "uri": object{"path": "/x/a.go"}, "edits": [][]object{{{"text": "one", "range": object{"startLineNumber": 1}}, {"text": "two"}}}, "done": true})},
			"1 user: Edit\n1 tool_call textEditGroup: { \"new_text\": \"one\\ntwo\", \"path\": \"/x/a.go\" }\n",
		},
		"rounds": {
			[]object{request(0, "Test it", markdown("What is shown"), command).answered(
				object{"c1": object{"$mid": 20, "content": []object{{"$mid": 21, "value": "FAIL"}, {"value": object{"node": object{"type": 1, "children": []object{{"type": 2, "text": "exit 2"}}}}}}}},
				object{"response": "I run it.", "thinking": object{"text": "Hm"}, "toolCalls": []object{{"id": "c1", "name": "run_in_terminal", "arguments": `{"command":"make test"}`}, {"id": "c2", "name": "x", "arguments": "{"}}},
				object{"response": "It fails.", "toolCalls": []object{}},
			)},
			`1 user: Test it
1 reasoning: Hm
1 assistant: I run it.
1 tool_call run_in_terminal: { "command": "make test" }
1 tool_result: FAIL exit 2
1 tool_call x: {
1 assistant: It fails.
`,
		},
		"a request that was taken back": {
			[]object{request(0, "One", markdown("1")), {"message": "Two", "response": []any{markdown("2")}, "shouldBeRemovedOnSend": object{"requestId": "r"}}, {"message": "Three", "shouldBeRemovedOnSend": nil}},
			"1 user: One\n1 assistant: 1\n2 user: Three\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := storetest.Only(t, open(t, storetest.Home(t, map[string]string{"workspaceStorage/a1/workspace.json": about, chats + first + ".json": chat("", test.requests...)}), false))
			if diff := cmp.Diff(test.want, storetest.Said(t, c)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A log is what its lines make of the first one. A line that does not apply is left out alone.
func TestLog(t *testing.T) {
	t.Parallel()
	at := func(steps ...any) []any { return steps }
	begin := object{"kind": 0, "v": object{"requests": []object{request(0, "One")}}}
	two := object{"kind": 2, "k": at("requests"), "v": []object{request(1, "Two")}}
	for name, test := range map[string]struct {
		lines   string
		want    string
		skipped int
	}{
		"additions":                 {log(begin, two, object{"kind": 2, "k": at("requests", 1, "response"), "v": []any{markdown("2")}}), "1 user: One\n2 user: Two\n2 assistant: 2\n", 0},
		"an array that ends before": {log(begin, two, object{"kind": 2, "k": at("requests"), "i": 1, "v": []object{request(2, "Three")}}), "1 user: One\n2 user: Three\n", 0},
		"elements that are removed": {log(begin, two, object{"kind": 2, "k": at("requests"), "i": 0}), "", 0},
		"another value":             {log(begin, object{"kind": 1, "k": at("requests", 0, "message"), "v": object{"text": "Uno"}}, object{"kind": 1, "k": at("requests", 1), "v": request(1, "Due")}), "1 user: Uno\n2 user: Due\n", 0},
		"no value":                  {log(begin, two, object{"kind": 1, "k": at("requests", 0, "shouldBeRemovedOnSend"), "v": object{}}, object{"kind": 3, "k": at("requests", 0, "shouldBeRemovedOnSend")}), "1 user: One\n2 user: Two\n", 0},
		"a later whole":             {log(begin, two, begin), "1 user: One\n", 0},
		"places that are not there": {log(begin, object{"kind": 1, "k": at("requests", 1e9, "x"), "v": 1}, object{"kind": 1, "k": at("requests", -1), "v": 1}, object{"kind": 1, "k": at(3), "v": 1}, object{"kind": 2, "k": at("a", "b"), "v": []any{1}}, object{"kind": 9}), "1 user: One\n", 5},
		"a damaged line":            {log(begin) + "{\n" + log(two), "1 user: One\n2 user: Two\n", 1},
		"an unfinished line":        {log(begin) + strings.TrimSuffix(log(two), "\n"), "1 user: One\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, storetest.Home(t, map[string]string{"workspaceStorage/a1/workspace.json": about, chats + first + ".jsonl": test.lines}), false)
			found, problems := storetest.List(t, s, store.Live)
			got := ""
			for _, c := range found {
				got = storetest.Said(t, c)
				if totals, err := c.Read(t.Context(), nil); totals.Skipped != test.skipped || err != nil {
					t.Errorf("%+v, %v", totals, err)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" || len(problems) > 0 {
				t.Error(diff, problems)
			}
		})
	}
}

// Any file is read without a panic, twice the same.
func FuzzChat(f *testing.F) {
	f.Add(true, log(object{"kind": 0, "v": object{"requests": []object{request(0, "One")}}}, object{"kind": 2, "k": []any{"requests"}, "v": []object{request(1, "Two")}}))
	f.Add(false, chat("Title", request(0, "One", markdown("1")).answered(object{"c": "x"}, object{"toolCalls": []object{{"id": "c"}}})))
	f.Fuzz(func(t *testing.T, isLog bool, data string) {
		name := chats + first + ".json"
		if isLog {
			name += "l"
		}
		found, _ := storetest.List(t, open(t, storetest.Home(t, map[string]string{"workspaceStorage/a1/workspace.json": about, name: data}), false), store.Live)
		for _, c := range found {
			storetest.CheckReading(t, c)
		}
	})
}
