package qwen_test

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
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/store/qwen"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	dir     = "/home/mina/tides"
	session = "698bf473-c5eb-4442-85cb-31fdc426f7ec"
)

func open(t testing.TB, home string) *qwen.Store {
	t.Helper()
	s, ok := qwen.Open(store.Options{Home: home, Project: project.New(project.Options{Dir: dir})})
	if !ok {
		t.Fatal("there is no store")
	}
	return s
}

// What the real program wrote: "make clients" with -keep recorded it, in the task qwen.toml.
func TestRecorded(t *testing.T) {
	t.Parallel()
	const want = `
qwen-0139d95e-424f-43b3-91b4-eb605b027ad5 "Correct station 2 to 4.2" of qwen-631cf6b2-cbbd-41ef-ae45-2cffb676d1c9 [uctct!ctcta] [ua] [uctaa] ua
qwen-631cf6b2-cbbd-41ef-ae45-2cffb676d1c9 "Correct station 2 to 4.2" uctct!ctcta ua uctaa
qwen-631cf6b2-cbbd-41ef-ae45-2cffb676d1c9.general-purpose-call_5 "Count the lines" of qwen-631cf6b2-cbbd-41ef-ae45-2cffb676d1c9 aa
`
	s := open(t, "testdata")
	if diff := cmp.Diff(want, "\n"+storetest.Listing(t, s)); diff != "" {
		t.Error(diff)
	}
	c, err := storetest.Find(t, s, "qwen-631cf6b2-cbbd-41ef-ae45-2cffb676d1c9")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"1 user: Correct station 2 to 4.2\n", `1 tool_call edit: { "file_path": "/home/mina/tides/notes.txt", "new_string": "4.2", "old_string": "4.1" }`,
		"1 tool_result failed: Command: cat gone.txt",
	} {
		if said := storetest.Said(t, c); !strings.Contains(said, part) {
			t.Errorf("%s\nhas no %q", said, part)
		}
	}
	if c.Dir != dir {
		t.Errorf("directory %q", c.Dir)
	}
}

// home returns a home with a session of some lines. In them ID and FROM are the ids of a record and of the one
// before it.
func home(t testing.TB, file string, lines ...string) string {
	t.Helper()
	var text strings.Builder
	for i, line := range lines {
		from := "null"
		if i > 0 {
			from = fmt.Sprintf(`"u%d"`, i-1)
		}
		base := fmt.Sprintf(`{"uuid":"u%d","parentUuid":%s,"sessionId":"%s","timestamp":"2026-05-01T10:00:%02d.000Z","cwd":"%s",`, i, from, session, i, dir)
		text.WriteString(strings.Replace(line, "{", base, 1) + "\n")
	}
	return storetest.Home(t, map[string]string{"projects/-home-mina-tides/" + file: strings.TrimSuffix(text.String(), "\n\n")})
}

const chat = "chats/" + session + ".jsonl"

func user(said string) string {
	return fmt.Sprintf(`{"type":"user","provenance":"real_user","message":{"role":"user","parts":[{"text":%q}]}}`, said)
}

func answer(said string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"role":"model","parts":[{"text":%q}]}}`, said)
}

func TestBranch(t *testing.T) {
	t.Parallel()
	on := func(record, branch string) string {
		return strings.Replace(record, "{", fmt.Sprintf(`{"gitBranch":%q,`, branch), 1)
	}
	c, err := storetest.Find(t, open(t, home(t, chat, on(user("Go"), "main"), on(answer("Going."), "tides/fix"))), "qwen-"+session)
	if err != nil || c.Branch != "tides/fix" {
		t.Errorf("%v; the branch is %q", err, c.Branch)
	}
}

// Each case is a form of records that the program writes.
func TestEvents(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lines []string
		want  string
	}{
		"a request before and while the assistant works": {
			[]string{user("Go"), answer("Going."), `{"type":"user","subtype":"mid_turn_user_message","message":{"parts":[{"text":"Faster"}]}}`},
			"1 user: Go\n1 assistant: Going.\n2 user: Faster\n",
		},
		"what a person has not said": {
			[]string{
				user("Go"), `{"type":"user","subtype":"notification","message":{"parts":[{"text":"no"}]}}`, `{"type":"user","subtype":"cron","message":{"parts":[{"text":"no"}]}}`,
				`{"type":"user","provenance":"goal_runtime","message":{"parts":[{"text":"no"}]}}`, `{"type":"system","subtype":"slash_command","systemPayload":{"rawCommand":"/no"}}`,
				user("<system-reminder>no"),
			}, "1 user: Go\n",
		},
		"a compression": {[]string{user("Go"), `{"type":"system","subtype":"chat_compression","systemPayload":{}}`, answer("Gone.")}, "1 user: Go\n0 compaction\n1 assistant: Gone.\n"},
		"a rewind": {
			[]string{user("a"), answer("to a"), user("b"), `{"type":"system","subtype":"rewind","parentUuid":"u1"}`, user("c")},
			"1 user: a\n1 assistant: to a\n2 user: c\n",
		},
		"a question": {
			[]string{
				user("Ask"), `{"type":"assistant","message":{"parts":[{"functionCall":{"id":"q","name":"ask_user_question","args":{"questions":[{"question":"Which?"}]}}}]}}`,
				`{"type":"tool_result","message":{"parts":[{"functionResponse":{"id":"q","response":{"output":"This"}}}]}}`,
			}, "1 user: Ask\n1 inquiry: Which?\n1 inquiry_response: This\n",
		},
		"a cancelled call": {
			[]string{
				user("Go"), `{"type":"assistant","message":{"parts":[{"functionCall":{"id":"c","name":"edit","args":{}}}]}}`,
				`{"type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c","response":{"error":"cancelled"}}}]},"toolCallResult":{"callId":"c","status":"cancelled"}}`,
			}, "1 user: Go\n1 tool_call edit: {}\n1 tool_result failed: cancelled\n",
		},
		"unknown and damaged records": {[]string{user("Go"), `{"type":"hologram"}`, `{"type":"user","message":`, answer("Gone.")}, "1 user: Go\n1 assistant: Gone.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, storetest.Said(t, storetest.Only(t, open(t, home(t, chat, test.lines...))))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The title is the one that was given last, and an archived session has moved.
func TestArchived(t *testing.T) {
	t.Parallel()
	title := `{"type":"system","subtype":"custom_title","systemPayload":{"customTitle":"%s"}}`
	s := open(t, home(t, "chats/archive/"+session+".jsonl", user("Go"), fmt.Sprintf(title, "First"), answer("Gone."), fmt.Sprintf(title, "Last")))
	if c := storetest.Only(t, s); c.Title != "Last" || !c.Archived || c.Request != "Go" {
		t.Errorf("%+v", c)
	}
}

// A line that is not whole yet is none, and what is appended is read.
func TestGrowth(t *testing.T) {
	t.Parallel()
	at := home(t, chat, user("Go"), answer("Gone."))
	file := filepath.Join(at, "projects", "-home-mina-tides", filepath.FromSlash(chat))
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{len(data) - 1, len(data)} {
		if err := os.WriteFile(file, data[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		want := "1 user: Go\n"
		if size == len(data) {
			want += "1 assistant: Gone.\n"
		}
		if got := storetest.Said(t, storetest.Only(t, open(t, at))); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	storetest.CheckLongLine(t, open(t, at), file)
}

// Other files, and sessions of other projects, are none of this project.
func TestOthers(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"chats/notes.jsonl", "chats/" + session + ".json", "chats/x/" + session + ".jsonl", "subagents/x/agent-a.jsonl", "subagents/" + session + "/a.jsonl"} {
		if found, problems := storetest.List(t, open(t, home(t, file, user("Go"))), store.Live|store.Archived); len(found)+len(problems) != 0 {
			t.Errorf("%s: %v, %v", file, found, problems)
		}
	}
	other, ok := qwen.Open(store.Options{Home: "testdata", Project: project.New(project.Options{Dir: "/home/mina/other"})})
	if found, problems := storetest.List(t, other, store.Live); !ok || len(found)+len(problems) != 0 {
		t.Errorf("of another project: %v, %v", found, problems)
	}
}

func TestHomeAndCaller(t *testing.T) {
	t.Parallel()
	for want, env := range map[string]map[string]string{
		"/run": {"QWEN_RUNTIME_DIR": "/run", "QWEN_HOME": "/q", "HOME": "/h", "USERPROFILE": "/h"}, "/q": {"QWEN_HOME": "/q", "HOME": "/h", "USERPROFILE": "/h"}, "": {},
		filepath.FromSlash("/h/.qwen"): {"HOME": "/h", "USERPROFILE": "/h"},
	} {
		if got := qwen.Home(storetest.Env(env)); got != want {
			t.Errorf("%v: %q, want %q", env, got, want)
		}
	}
	s, _ := qwen.Open(store.Options{
		Home: "testdata", Project: project.New(project.Options{Dir: dir}), Getenv: storetest.Env(map[string]string{"QWEN_CODE": "1", "QWEN_CODE_SESSION_ID": session}),
	})
	want := store.Caller{Evidence: store.ByEnvironment, IDs: []transcript.ID{"qwen-" + session}}
	if diff := cmp.Diff(want, s.Caller(t.Context(), caller.Caller{Process: caller.Shell})); diff != "" {
		t.Error(diff)
	}
}

// Whatever is in the file: reading it twice gives the same, in valid UTF-8, and never panics.
func FuzzLog(f *testing.F) {
	recorded, err := filepath.Glob("testdata/projects/*/chats/*.jsonl")
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
	f.Add(user("a") + "\n" + `{"uuid":"x","parentUuid":"x","type":"system","subtype":"rewind"}`)
	f.Fuzz(func(t *testing.T, data string) {
		found, _ := storetest.List(t, open(t, home(t, chat, user("first"), data)), store.Live)
		for _, c := range found {
			storetest.CheckReading(t, c)
		}
	})
}
