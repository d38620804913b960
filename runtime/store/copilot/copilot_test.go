package copilot_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/copilot"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

const dir = "/home/mina/tides" // of the project; there need not be one

func open(t testing.TB, home string) *copilot.Store {
	t.Helper()
	s, ok := copilot.Open(store.Options{Home: home, Project: project.New(project.Options{Dir: dir})})
	if !ok {
		t.Fatal("there is no store")
	}
	return s
}

// recorded is a session that the step copilot/recorded of make clients kept.
const recorded = "596c8bea-f4b3-47dc-ab1d-eec248c0e993"

// What the real program wrote, as a person reads the file.
func TestRecorded(t *testing.T) {
	t.Parallel()
	s := open(t, "testdata")
	const list = "copilot-" + recorded + ` "Correct station 2 to 4.2" uct!ct!cta ua ucata` + "\n"
	if diff := cmp.Diff(list, storetest.Listing(t, s)); diff != "" {
		t.Error(diff)
	}
	const said = `1 user: Correct station 2 to 4.2
1 tool_call bash: { "command": "cat notes.txt; exit 3", "description": "Read the notes" }
1 tool_result failed: station 1: 3.2 station 2: 4.1 <shellId: 0 completed with exit code 3>
1 tool_call view: { "path": "/home/mina/tides/gone.txt" }
1 tool_result failed: Path does not exist
1 tool_call edit: { "new_str": "4.2", "old_str": "4.1", "path": "/home/mina/tides/notes.txt" }
1 tool_result: File /home/mina/tides/notes.txt updated with changes.
1 assistant: Station 2 reads 4.2 now.
2 user: How many stations?
2 assistant: Two stations.
3 user: Have somebody count the lines
3 tool_call task: { "agent_type": "general-purpose", "description": "Count the lines", "mode": "sync", "name": "count", "prompt": "Count the lines of notes.txt." }
3 assistant: There are two lines.
3 tool_result: There are two lines.
3 assistant: Somebody counted them.
`
	c := storetest.Only(t, s)
	if diff := cmp.Diff(said, storetest.Said(t, c)); diff != "" {
		t.Error(diff)
	}
	if totals, err := c.Read(t.Context(), nil); err != nil || totals.Skipped != 0 || c.Dir != dir {
		t.Errorf("%+v, %v, %q", totals, err, c.Dir)
	}
}

type object map[string]any

// event is a line of a session, at a second.
func event(kind string, second int, data object) string {
	line, err := json.Marshal(object{"type": kind, "id": fmt.Sprint(kind, second), "timestamp": at(second), "data": data})
	if err != nil {
		panic(err)
	}
	return string(line) + "\n"
}

func at(second int) string {
	return time.Date(2026, 5, 1, 0, 0, second, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
}

func uuid(n int) string { return fmt.Sprintf("%08x-1111-4222-8333-444455556666", n) }

func start(n, second int) string {
	return event("session.start", second, object{"sessionId": uuid(n), "startTime": at(second), "context": object{"cwd": dir}})
}

func user(second int, said string) string {
	return event("user.message", second, object{"content": said, "attachments": []any{}})
}

func answer(second int, said string) string {
	return event("assistant.message", second, object{"content": said, "toolRequests": []any{}})
}

// write writes files of sessions below a new home, and returns the home.
func write(t testing.TB, files map[string]string) (home string) {
	t.Helper()
	below := map[string]string{}
	for name, text := range files {
		below["session-state/"+name] = text
	}
	return storetest.Home(t, below)
}

func TestSaid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ lines, want string }{
		"an unfinished line": {
			user(1, "Hi") + strings.TrimSuffix(answer(2, "Hello"), "\n"),
			"1 user: Hi\n",
		},
		"a damaged line": {
			user(1, "Hi") + `{"type":"user.message","data":{` + "\n" + answer(2, "Hello"),
			"1 user: Hi\n1 assistant: Hello\n",
		},
		"messages that nobody typed": {
			event("user.message", 1, object{"content": "Use the skill", "source": "skill-pdf"}) + user(2, "Hi") +
				event("user.message", 3, object{"content": "Go on", "isAutopilotContinuation": true}) + event("system.message", 4, object{"content": "You are"}),
			"1 user: Hi\n",
		},
		"a picture alone": {
			event("user.message", 1, object{"content": "", "attachments": []any{object{"type": "blob"}}}),
			"1 user\n",
		},
		"a question": {
			user(1, "Hi") + event("tool.execution_start", 2, object{"toolCallId": "c1", "toolName": "ask_user", "arguments": object{"question": "Which?", "choices": []string{"Wick", "Oban"}}}) +
				event("tool.execution_complete", 3, object{"toolCallId": "c1", "success": true, "result": object{"content": "Wick"}}),
			"1 user: Hi\n1 inquiry: Which? - Wick - Oban\n1 inquiry_response: Wick\n",
		},
		"a call and reasoning that are recorded twice, or once": {
			user(1, "Hi") + event("assistant.reasoning", 2, object{"content": "Hm"}) +
				event("assistant.message", 2, object{"content": "", "reasoningText": "Hm", "toolRequests": []object{{"toolCallId": "c1", "name": "ls", "arguments": object{}}, {"toolCallId": "c2", "name": "cat", "arguments": "x"}}}) +
				event("tool.execution_start", 3, object{"toolCallId": "c1", "toolName": "ls", "arguments": object{}}) +
				event("tool.execution_complete", 4, object{"toolCallId": "c1", "success": true, "result": "a.txt"}),
			"1 user: Hi\n1 reasoning: Hm\n1 tool_call ls: {}\n1 tool_call cat: x\n1 tool_result: a.txt\n",
		},
		"a command that fails, as before version 1.0.100": {
			user(1, "Hi") + event("tool.execution_complete", 2, object{"toolCallId": "c1", "success": true, "result": object{"content": "no\n<exited with exit code 3>"}}) +
				event("tool.execution_complete", 3, object{"toolCallId": "c2", "success": true, "result": object{"content": "yes\n<exited with exit code 0>"}}),
			"1 user: Hi\n1 tool_result failed: no <exited with exit code 3>\n1 tool_result: yes <exited with exit code 0>\n",
		},
		"a call with a text": {
			user(1, "Hi") + event("tool.execution_start", 2, object{"toolCallId": "c1", "toolName": "apply_patch", "arguments": "*** Begin"}),
			"1 user: Hi\n1 tool_call apply_patch: *** Begin\n",
		},
		"a command of the user, and a compaction": {
			user(1, "Hi") + event("tool.user_requested", 2, object{"toolCallId": "c1", "toolName": "local_shell", "arguments": object{"command": "ls"}}) +
				event("session.compaction_complete", 3, object{"success": true, "summaryContent": "All"}) + event("session.compaction_complete", 4, object{"success": false}),
			"1 user: Hi\n1 tool_call local_shell: { \"command\": \"ls\" }\n0 compaction\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := write(t, map[string]string{uuid(1) + "/events.jsonl": start(1, 0) + test.lines})
			c := storetest.Only(t, open(t, home))
			if diff := cmp.Diff(test.want, storetest.Said(t, c)); diff != "" {
				t.Error(diff)
			}
			storetest.CheckReading(t, c)
		})
	}
}

// A fork repeats the events of its origin, with their ids and times, and says that only in a message.
func TestListing(t *testing.T) {
	t.Parallel()
	forked := event("session.info", 20, object{"infoType": "fork", "message": fmt.Sprintf(`Forked from "A" (%s) as "A (fork)" (%s).`, uuid(1), uuid(2))})
	begin := user(1, "Count") + answer(2, "Two")
	home := write(t, map[string]string{
		uuid(1) + "/events.jsonl":   start(1, 0) + begin + user(30, "More") + answer(31, "Three"),
		uuid(1) + "/workspace.yaml": "id: x\nname: 'Count: ''stations'''\nsummary_count: 0\n",
		uuid(2) + "/events.jsonl":   start(2, 20) + begin + forked + user(21, "And ports?") + answer(22, "One"),
		uuid(2) + "/workspace.yaml": "name: [",
		uuid(7) + "/events.jsonl":   start(7, 0) + user(1, "Hi"),
		uuid(7) + "/workspace.yaml": "cwd: /x\nname: >-\n  A long\n  name\nuser_named: true\n",
		uuid(8) + "/events.jsonl":   start(8, 0) + user(1, "Hi"),
		uuid(8) + "/workspace.yaml": "summary: \"\\u201cQuoted\\\"\\n\"\n",
		uuid(3) + ".jsonl":          start(3, 0) + user(1, "Of an old version"),
		uuid(4) + "/events.jsonl":   start(4, 0),
		uuid(5) + "/events.jsonl":   strings.ReplaceAll(start(5, 0)+user(1, "Elsewhere"), dir, "/elsewhere"),
		uuid(6) + "/rewind/x.jsonl": user(1, "No session"),
		"../config.json":            "{}",
		"no id/events.jsonl":        start(7, 0) + user(1, "No id"),
	})
	want := fmt.Sprintf(`copilot-%s "Count: 'stations'" ua ua
copilot-%s "Count" of copilot-%s [ua] ua
copilot-%s "Of an old version" u
copilot-%s "A long name" u
copilot-%s "“Quoted\"\n" u
`, uuid(1), uuid(2), uuid(1), uuid(3), uuid(7), uuid(8))
	if diff := cmp.Diff(want, storetest.Listing(t, open(t, home))); diff != "" {
		t.Error(diff)
	}
}

// What is appended is read, a line over the limit is left out alone, and a link out of the store is not followed.
func TestGrowth(t *testing.T) {
	t.Parallel()
	home := write(t, map[string]string{uuid(1) + "/events.jsonl": start(1, 0) + user(1, "Hi")})
	file := filepath.Join(home, "session-state", uuid(1), "events.jsonl")
	storetest.CheckLongLine(t, open(t, home), file)
	if err := os.WriteFile(file, []byte(start(1, 0)+user(1, "Hi")+answer(2, "Hello")), 0o600); err != nil {
		t.Fatal(err)
	}
	outside := write(t, map[string]string{"events.jsonl": start(2, 0) + user(1, "Outside")})
	if err := os.Symlink(filepath.Join(outside, "session-state"), filepath.Join(home, "session-state", uuid(2))); err != nil {
		t.Skip(err)
	}
	found, _ := storetest.List(t, open(t, home), store.Live)
	if len(found) != 1 || storetest.Said(t, found[0]) != "1 user: Hi\n1 assistant: Hello\n" {
		t.Errorf("%+v", found)
	}
}

func TestCaller(t *testing.T) {
	t.Parallel()
	env := storetest.Env(map[string]string{"COPILOT_CLI": "1", "COPILOT_AGENT_SESSION_ID": strings.ToUpper(uuid(1))})
	s, _ := copilot.Open(store.Options{Home: "testdata", Project: project.New(project.Options{Dir: dir}), Getenv: env})
	session := []transcript.ID{"copilot-" + transcript.ID(uuid(1))}
	for name, test := range map[string]struct {
		from caller.Caller
		by   store.Evidence
		want []transcript.ID
	}{
		"a command":                   {caller.Caller{Process: caller.Shell}, store.ByEnvironment, session},
		"a server":                    {caller.Caller{Client: "copilot-cli", Process: caller.Server}, store.ByCall, session},
		"a server that all may reach": {caller.Caller{Client: "copilot-cli"}, store.ByCall, nil},
		"another client":              {caller.Caller{Client: "claude-code", Process: caller.Server}, store.NoEvidence, nil},
	} {
		if got := s.Caller(t.Context(), test.from); got.Evidence != test.by || !slices.Equal(got.IDs, test.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Any bytes are read without a panic, twice the same.
func FuzzLog(f *testing.F) {
	f.Add([]byte(start(1, 9) + user(1, "Hi") + answer(2, "Hello")))
	log, err := os.ReadFile("testdata/session-state/" + recorded + "/events.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(log)
	f.Fuzz(func(t *testing.T, data []byte) {
		home := write(t, map[string]string{uuid(1) + "/events.jsonl": start(1, 0) + string(data), uuid(1) + "/workspace.yaml": string(data)})
		found, _ := storetest.List(t, open(t, home), store.Live|store.Archived)
		for _, c := range found {
			storetest.CheckReading(t, c)
		}
	})
}
