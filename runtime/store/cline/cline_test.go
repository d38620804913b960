package cline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/cline"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
)

const dir = "/home/mina/tides"

func open(t testing.TB, home string) *cline.Store {
	t.Helper()
	s, ok := cline.Open(store.Options{Home: home, Project: project.New(project.Options{Dir: dir})})
	if !ok {
		t.Fatal("there is no store")
	}
	return s
}

// What the real program wrote: "make clients" with -keep recorded it, in the task cline.toml.
func TestRecorded(t *testing.T) {
	t.Parallel()
	const want = `
cline-1795885680886_476m0 "Correct station 2 to 4.2" uctct!cta
cline-1795885706775_0dcc5 "Have somebody count the lines" ucta
cline-1795885706775_0dcc5.agent_1795885708888_96r7e2 "Count the lines of notes.txt." of cline-1795885706775_0dcc5 aa
`
	s := open(t, "testdata")
	if diff := cmp.Diff(want, "\n"+storetest.Listing(t, s)); diff != "" {
		t.Error(diff)
	}
	c, err := storetest.Find(t, s, "cline-1795885680886_476m0")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"1 user: Correct station 2 to 4.2\n", `1 tool_call run_commands: { "commands": [ "cat notes.txt" ] }`, "1 tool_result: station 1: 3.2 station 2: 4.1\n",
		"1 tool_result failed: [Command exited with code 1] [stderr] cat: gone.txt: No such file or directory\n", `"new_text": "4.2", "old_text": "4.1"`,
	} {
		if said := storetest.Said(t, c); !strings.Contains(said, part) {
			t.Errorf("%s\nhas no %q", said, part)
		}
	}
}

const (
	messages = "tasks/1777593600000/api_conversation_history.json"
	said     = `[{"role":"user","ts":1777593600000,"content":[{"type":"text","text":"<task>\nFix it\n</task>"},` +
		`{"type":"text","text":"<environment_details>\n# Current Working Directory (/home/mina/tides) Files\n<task>no</task>\n</environment_details>"}]},`
	fixed = `{"role":"assistant","ts":1777593601000,"content":[{"type":"text","text":"Fixed."}]}]`
)

// A task belongs to the directory that is recorded beside it, in the list of tasks, or in its first message.
func TestTasks(t *testing.T) {
	t.Parallel()
	for name, about := range map[string]map[string]string{
		"of Roo Code":        {"tasks/1777593600000/history_item.json": `{"id":"1777593600000","task":"Fix it","workspace":"/home/mina/tides"}`},
		"of Cline":           {"state/taskHistory.json": `[{"id":"1"},{"id":"1777593600000","task":"Fix it","cwdOnTaskInitialization":"/home/mina/tides"}]`},
		"with messages only": {},
	} {
		about[messages] = said + fixed
		c := storetest.Only(t, open(t, storetest.Home(t, about)))
		if c.ID != "cline-1777593600000" || c.Dir != dir || storetest.Called(c) != "Fix it" || c.CreatedAt.Format("2006-01-02") != "2026-05-01" || !c.LastAt.After(c.CreatedAt) {
			t.Errorf("%s: %+v", name, c)
		}
		if got := storetest.Said(t, c); got != "1 user: Fix it\n1 assistant: Fixed.\n" {
			t.Errorf("%s: %s", name, got)
		}
	}
	elsewhere := map[string]string{messages: said + fixed, "tasks/1777593600000/history_item.json": `{"workspace":"/home/mina/other"}`, "tasks/x/ui_messages.json": "[]"}
	if found, problems := storetest.List(t, open(t, storetest.Home(t, elsewhere)), store.Live); len(found)+len(problems) > 0 {
		t.Errorf("of another project: %v, %v", found, problems)
	}
}

// Each case is a form of messages that the programs write after the first request.
func TestMessages(t *testing.T) {
	t.Parallel()
	const first = "1 user: Fix it\n"
	for name, test := range map[string]struct{ more, want string }{
		"a call as text": {
			`{"role":"assistant","content":[{"type":"text","text":"<read_file><path>a</path></read_file>"}]},
			{"role":"user","content":[{"type":"text","text":"[read_file for 'a'] Result:"},{"type":"text","text":"one"},{"type":"text","text":"<environment_details>no"}]},
			{"role":"user","content":[{"type":"text","text":"[read_file for 'b'] Result:\n\ntwo"}]}]`,
			"1 assistant: <read_file><path>a</path></read_file>\n1 tool_result: one\n1 tool_result: two\n",
		},
		"a call": {
			`{"role":"assistant","content":[{"type":"reasoning","text":"Hm"},{"type":"tool_use","id":"c","name":"read_file","input":{"path":"a"}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"gone","is_error":true},{"type":"text","text":"<environment_details>no"}]}]`,
			"1 reasoning: Hm\n1 tool_call read_file: { \"path\": \"a\" }\n1 tool_result failed: gone\n",
		},
		"a question": {
			`{"role":"assistant","content":[{"type":"tool_use","id":"q","name":"ask_followup_question","input":{"question":"Which?","options":["This"]}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"q","content":[{"type":"text","text":"This"}]}]}]`,
			"1 inquiry: Which? - This\n1 inquiry_response: This\n",
		},
		"later requests": {
			`{"role":"user","content":[{"type":"text","text":"[TASK RESUMPTION] no\n<user_message>\nGo on\n</user_message>"}]},
			{"role":"user","content":[{"type":"text","text":"[attempt_completion] Result:"},{"type":"text","text":"They said:\n<feedback>\nMore\n</feedback>"}]},
			{"role":"user","content":"And plainly"},{"role":"user","content":[{"type":"text","text":"[ERROR] no"}]}]`,
			"2 user: Go on\n3 user: More\n4 user: And plainly\n",
		},
		"unknown parts":              {`{"role":"narrator","content":"no"},{"role":"assistant","content":[{"type":"hologram"}]},` + fixed, "1 assistant: Fixed.\n"},
		"a file that ends too early": {`{"role":"assistant","content":[{"type":"text","text":"Fix`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(first+test.want, storetest.Said(t, storetest.Only(t, open(t, storetest.Home(t, map[string]string{messages: said + test.more}))))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHomes(t *testing.T) {
	t.Parallel()
	if homes := cline.Homes(storetest.Env(map[string]string{"CLINE_DATA_DIR": "/data"})); homes[0] != "/data" {
		t.Error(homes)
	}
	homes := cline.Homes(storetest.Env(map[string]string{"HOME": "/h", "USERPROFILE": "/h", "APPDATA": "/h/a"}))
	if homes[0] != filepath.FromSlash("/h/.cline/data") {
		t.Error(homes[0])
	}
	for _, end := range []string{"Code/User/globalStorage/saoudrizwan.claude-dev", "Cursor/User/globalStorage/rooveterinaryinc.roo-cline", ".vscode-server/data/User/globalStorage/kilocode.kilo-code"} {
		if !strings.Contains(strings.Join(homes, "\n")+"\n", filepath.FromSlash(end)+"\n") {
			t.Errorf("%v has no %s", homes, end)
		}
	}
	if _, ok := cline.Open(store.Options{Home: t.TempDir(), Project: project.New(project.Options{Dir: dir})}); ok {
		t.Error("an empty home is a store")
	}
}

// Whatever is in the files: reading them twice gives the same, in valid UTF-8, and never panics.
func FuzzMessages(f *testing.F) {
	recorded, err := filepath.Glob("testdata/sessions/*/*.messages.json")
	if err != nil || len(recorded) == 0 {
		f.Fatal(recorded, err)
	}
	for _, name := range recorded {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), said+fixed)
	}
	f.Add(`{"messages":[{"role":"user","content":"<user_input mode=\"act\">a"}]}`, `[{"role":"user","content":"[a] Result:"}]`)
	f.Fuzz(func(t *testing.T, session, task string) {
		found, _ := storetest.List(t, open(t, storetest.Home(t, map[string]string{
			"sessions/s/s.messages.json": session, "sessions/s/s.json": `{"cwd":"` + dir + `"}`, messages: task, "tasks/1777593600000/history_item.json": `{"workspace":"` + dir + `"}`,
		})), store.Live)
		for _, c := range found {
			storetest.CheckReading(t, c)
		}
	})
}
