package pi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/pi"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	dir     = "/home/mina/tides"
	session = "01a222da-0370-71dd-8a38-87fed5ea4df5"
)

func open(t testing.TB, home string) *pi.Store {
	t.Helper()
	s, ok := pi.Open(store.Options{Home: home, Project: project.New(project.Options{Dir: dir})})
	if !ok {
		t.Fatal("there is no store")
	}
	return s
}

// What the real program wrote: "make clients" with -keep recorded it, in the task pi.toml.
func TestRecorded(t *testing.T) {
	t.Parallel()
	const want = `
pi-01a222da-0370-71dd-8a38-87fed5ea4df5 "The gauges" uctct!cta ua
pi-01a22304-7010-7791-8451-eea6402d3463 "The gauges" of pi-01a222da-0370-71dd-8a38-87fed5ea4df5 [uctct!cta] [ua] ua
`
	s := open(t, "testdata")
	if diff := cmp.Diff(want, "\n"+storetest.Listing(t, s)); diff != "" {
		t.Error(diff)
	}
	c, err := storetest.Find(t, s, "pi-"+session)
	if err != nil {
		t.Fatal(err)
	}
	const said = `1 user: Correct station 2 to 4.2
1 tool_call bash: { "command": "cat notes.txt" }
1 tool_result: station 1: 3.2 station 2: 4.1
1 tool_call bash: { "command": "cat gone.txt" }
1 tool_result failed: cat: gone.txt: No such file or directory Command exited with code 1
1 tool_call edit: { "edits": [ { "newText": "4.2", "oldText": "4.1" } ], "path": "notes.txt" }
1 tool_result: Successfully replaced 1 block(s) in notes.txt.
1 assistant: Station 2 reads 4.2 now.
2 user: How many stations?
2 assistant: Two stations.
`
	if diff := cmp.Diff(said, storetest.Said(t, c)); diff != "" {
		t.Error(diff)
	}
	if c.Dir != dir || c.Request != "Correct station 2 to 4.2" {
		t.Errorf("%+v", c)
	}
}

// home returns a home with a session of some lines, each after the one before it unless it names another one.
func home(t testing.TB, file string, lines ...string) string {
	t.Helper()
	text := fmt.Sprintf(`{"type":"session","version":3,"id":"x","timestamp":"2026-05-01T09:00:00.000Z","cwd":%q}`+"\n", dir)
	for i, line := range lines {
		base := fmt.Sprintf(`{"id":"e%d","parentId":"e%d","timestamp":"2026-05-01T10:00:%02d.000Z",`, i, i-1, i)
		if i == 0 {
			base = strings.Replace(base, `"e-1"`, "null", 1)
		}
		text += strings.Replace(line, "{", base, 1) + "\n"
	}
	return storetest.Home(t, map[string]string{"sessions/" + file: strings.TrimSuffix(text, "\n\n")})
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const log = "--home-mina-tides--/2026-05-01T09-00-00-000Z_" + session + ".jsonl"

func message(role, rest string) string {
	return fmt.Sprintf(`{"type":"message","message":{"role":%q,%s}}`, role, rest)
}

func user(said string) string { return message("user", fmt.Sprintf(`"content":%q`, said)) }

func answer(said string) string {
	return message("assistant", fmt.Sprintf(`"content":[{"type":"text","text":%q}]`, said))
}

// Each case is a form of records that the program writes.
func TestEvents(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lines []string
		want  string
	}{
		"thoughts, and a picture alone": {
			[]string{message("user", `"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]`), message("assistant", `"content":[{"type":"thinking","thinking":"Hm"},{"type":"text","text":"A dot."}]`)},
			"1 user\n1 reasoning: Hm\n1 assistant: A dot.\n",
		},
		"a command of the user": {
			[]string{user("Go"), message("bashExecution", `"command":"make","output":"no rule","exitCode":2`)},
			"1 user: Go\n1 tool_call bash: { \"command\": \"make\" }\n1 tool_result failed: no rule\n",
		},
		"what a person has not said": {
			[]string{
				message("system", `"content":"no"`), user("Go"), message("custom", `"content":"no"`), message("hookMessage", `"content":"no"`), `{"type":"custom_message","content":"no"}`,
				`{"type":"branch_summary","summary":"no"}`, `{"type":"model_change"}`, `{"type":"label","label":"no"}`,
			}, "1 user: Go\n",
		},
		"a compaction": {[]string{user("Go"), `{"type":"compaction","summary":"no"}`, answer("Gone.")}, "1 user: Go\n0 compaction\n1 assistant: Gone.\n"},
		"a branch that the user left": {
			[]string{user("a"), answer("to a"), user("b"), answer("to b"), `{"type":"label","parentId":"e1"}`, user("c")}, "1 user: a\n1 assistant: to a\n2 user: c\n",
		},
		"unknown and damaged records": {[]string{user("Go"), `{"type":"hologram"}`, `{"type":"message","message":`, answer("Gone.")}, "1 user: Go\n1 assistant: Gone.\n"},
		"no content":                  {[]string{user("Go"), message("assistant", `"content":null`), message("user", `"content":[]`)}, "1 user: Go\n2 user\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, storetest.Said(t, storetest.Only(t, open(t, home(t, log, test.lines...))))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Versions before the trees wrote lines without ids.
func TestWithoutIDs(t *testing.T) {
	t.Parallel()
	h := t.TempDir()
	write(t, filepath.Join(h, "sessions", log), fmt.Sprintf(`{"type":"session","id":"x","timestamp":"2025-11-01T09:00:00Z","cwd":%q}`, dir)+"\n"+user("a")+"\n"+answer("to a")+"\n"+user("b")+"\n")
	if got := storetest.Said(t, storetest.Only(t, open(t, h))); got != "1 user: a\n1 assistant: to a\n2 user: b\n" {
		t.Error(got)
	}
}

// The name that was given last is the title; an empty one takes it back.
func TestTitle(t *testing.T) {
	t.Parallel()
	name := func(s string) string { return fmt.Sprintf(`{"type":"session_info","name":%q}`, s) }
	for want, lines := range map[string][]string{"Last": {name("First"), user("Go"), name("Last")}, "": {name("First"), user("Go"), name("")}} {
		if c := storetest.Only(t, open(t, home(t, log, lines...))); c.Title != want {
			t.Errorf("%q, want %q", c.Title, want)
		}
	}
}

// Files of OpenClaw have the id alone; traces and copies beside them are no sessions.
func TestFiles(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]int{
		session + ".jsonl": 1, session + "-topic-42.jsonl": 1, session + ".trajectory.jsonl": 0, session + ".checkpoint.1.jsonl": 0, session + ".jsonl.deleted.2026": 0,
		session + ".json": 0, "a/b/" + session + ".jsonl": 0,
	} {
		if found, problems := storetest.List(t, open(t, home(t, file, user("Go"))), store.Live); len(found) != want || len(problems) > 0 {
			t.Errorf("%s: %v, %v", file, found, problems)
		}
	}
}

// A line that is not whole yet is none, and what is appended is read.
func TestGrowth(t *testing.T) {
	t.Parallel()
	at := home(t, log, user("Go"), answer("Gone."))
	file := filepath.Join(at, "sessions", filepath.FromSlash(log))
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for cut, want := range map[int]string{1: "1 user: Go\n", 0: "1 user: Go\n1 assistant: Gone.\n"} {
		write(t, file, string(data[:len(data)-cut]))
		if got := storetest.Said(t, storetest.Only(t, open(t, at))); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	write(t, file, string(data))
	storetest.CheckLongLine(t, open(t, at), file)
}

func TestHomesAndCaller(t *testing.T) {
	t.Parallel()
	h := t.TempDir()
	for _, agent := range []string{"main", "work"} {
		write(t, filepath.Join(h, ".openclaw", "agents", agent, "sessions", session+".jsonl"), "")
	}
	agents := filepath.Join(h, ".openclaw", "agents")
	for name, test := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"usual":   {map[string]string{"HOME": h, "USERPROFILE": h}, []string{filepath.Join(h, ".pi", "agent"), filepath.Join(agents, "main"), filepath.Join(agents, "work")}},
		"moved":   {map[string]string{"PI_CODING_AGENT_DIR": "/pi", "OPENCLAW_STATE_DIR": filepath.Join(h, ".openclaw")}, []string{"/pi", filepath.Join(agents, "main"), filepath.Join(agents, "work")}},
		"no home": {nil, []string{""}},
	} {
		if diff := cmp.Diff(test.want, pi.Homes(storetest.Env(test.env))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	s, _ := pi.Open(store.Options{Home: "testdata", Project: project.New(project.Options{Dir: dir}), Getenv: storetest.Env(map[string]string{"PI_SESSION_ID": session})})
	want := store.Caller{Evidence: store.ByEnvironment, IDs: []transcript.ID{"pi-" + session}}
	if diff := cmp.Diff(want, s.Caller(t.Context(), caller.Caller{Process: caller.Shell})); diff != "" {
		t.Error(diff)
	}
}

// Whatever is in the file: reading it twice gives the same, in valid UTF-8, and never panics.
func FuzzLog(f *testing.F) {
	recorded, err := filepath.Glob("testdata/sessions/*/*.jsonl")
	if err != nil || len(recorded) == 0 {
		f.Fatal(recorded, err)
	}
	for _, name := range recorded {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add(user("a") + "\n" + `{"id":"x","parentId":"x","type":"compaction"}`)
	f.Fuzz(func(t *testing.T, data string) {
		found, _ := storetest.List(t, open(t, home(t, log, user("first"), data)), store.Live)
		for _, c := range found {
			storetest.CheckReading(t, c)
		}
	})
}
