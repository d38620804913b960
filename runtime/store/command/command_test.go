package command_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/command"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/transcript"
)

// program returns the store of a program, run in a directory. The line is quoted as in a shell.
func program(line, dir string, runner process.Runner) *command.Store {
	return command.New(command.Options{Line: line, Setting: "X", Dir: dir, Runner: runner, ParseID: conversations.ParseID, SourceOf: conversations.SourceOf})
}

// prints is a program that prints these texts, by the first words of its arguments.
type prints map[string]string

func (p prints) Run(_ context.Context, cmd process.Command) (process.Result, error) {
	asked := strings.Join(cmd.Args, " ")
	for words, stdout := range p {
		if strings.HasPrefix(asked, "conversation "+words) && strings.Contains(asked, "--archived") == strings.Contains(words, "--archived") {
			return process.Result{Stdout: []byte(stdout)}, nil
		}
	}
	return process.Result{Stdout: []byte("[]")}, nil
}

// in returns the store of a program.
func in(runner process.Runner) *command.Store { return program("cli", "/work/space", runner) }

func list(s *command.Store) (found []store.Conversation, err error) {
	listing, err := s.List(context.Background(), store.Scope{Set: store.Live})
	if err != nil {
		return nil, err
	}
	defer listing.Close()
	return listing.Conversations, nil
}

// fake is a runner that answers each of the expected commands once.
type fake struct {
	t *testing.T

	mu       sync.Mutex
	expected []expectation
	calls    []process.Command
}

type expectation struct {
	words  []string
	stdout string
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t}
	t.Cleanup(func() {
		for _, e := range f.expected {
			t.Errorf("never run: %q", e.words)
		}
	})
	return f
}

func (f *fake) expect(stdout string, words ...string) {
	f.expected = append(f.expected, expectation{words, stdout})
}

func (f *fake) Run(_ context.Context, cmd process.Command) (process.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, cmd)
	words := append([]string{cmd.Path}, cmd.Args...)
	for i, e := range f.expected {
		if slices.Equal(e.words, words) {
			f.expected = slices.Delete(f.expected, i, i+1)
			return process.Result{Stdout: []byte(e.stdout)}, nil
		}
	}
	f.t.Errorf("unexpected command: %q", words)
	return process.Result{}, nil
}

// TestRun tests the arguments and the directory of the program.
func TestRun(t *testing.T) {
	t.Parallel()
	fake := newFake(t)
	ls := func(archived ...string) {
		found := `[{"id":"jp-c1","events_count":1}]`
		if archived != nil {
			found = `[{"id":"17","events_count":1}]`
		}
		fake.expect(found, append([]string{"/opt/my cli", "--quiet", "conversation", "ls", "--format=json", "--summary", "--hidden"}, archived...)...)
	}
	ls()
	ls("--archived")
	fake.expect(`[{"type":"chat_request","turn":1,"content":"Why?"}]`, "/opt/my cli", "--quiet", "conversation", "print", "--format=json", "--no-metadata", "--", "jp-c17")
	s := program("'/opt/my cli' --quiet", "/work/space", fake)
	both, problems := storetest.List(t, s, store.Live|store.Archived)
	if problems != nil || len(both) != 2 || both[0].ID != "jp-c1" || both[0].Archived || !both[1].Archived {
		t.Fatalf("%+v, %v", both, problems)
	}
	if said := storetest.Said(t, both[1]); said != "1 user: Why?\n" {
		t.Errorf("%q", said)
	}
	ls() // for a live conversation the archived ones are not listed
	if _, err := storetest.Find(t, s, "jp-c1"); err != nil {
		t.Error(err)
	}
	for _, call := range fake.calls {
		if call.Dir != "/work/space" || call.Limits.Timeout != time.Minute || call.Limits.Stdout != 64<<20 || call.Stdin != nil {
			t.Errorf("%+v", call)
		}
	}
	if s.Place() == program("cli", "/work/space", fake).Place() || s.Place() == program("'/opt/my cli' --quiet", "/work", fake).Place() {
		t.Error("another program, or another directory, is the same place")
	}
}

type runner func(context.Context, process.Command) (process.Result, error)

func (r runner) Run(ctx context.Context, cmd process.Command) (process.Result, error) {
	return r(ctx, cmd)
}

// TestEnvironment tests that a program gets the environment that it needs, and no credentials.
func TestEnvironment(t *testing.T) {
	t.Setenv("CONVTOOLS_TEST_SECRET", "secret")
	t.Setenv("JP_COMMAND_TEST", "for jp")
	fake := newFake(t)
	fake.expect("[]", "cli", "conversation", "ls", "--format=json", "--summary", "--hidden")
	if _, err := list(in(fake)); err != nil {
		t.Fatal(err)
	}
	env := strings.Join(fake.calls[0].Env, "\n")
	if strings.Contains(env, "secret") || !strings.Contains(env, "JP_COMMAND_TEST=for jp") || !strings.Contains(env, "NO_COLOR=1") {
		t.Errorf("environment:\n%s", env)
	}
}

// TestListed tests all members of the elements of the list.
func TestListed(t *testing.T) {
	t.Parallel()
	at := func(s string) time.Time {
		parsed, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	s := in(prints{
		"ls": `[
			{"id":"codex-019a5d2c-41d1-7a10-9c2b-0d3f4f5a6b7c","title":"One","events_count":3,"created_at":"2026-01-01T00:00:00Z","last_event_at":"2026-01-02T00:00:00.5Z",
			 "last_activated_at":"2026-01-03T00:00:00Z","pinned_at":"2026-01-04T00:00:00Z","expires_at":"2026-01-05T00:00:00Z","hidden":true,"local":"Y","source":"\" onclick",
			 "parent_id":"jp-c7","labels":{"a":"b"},"error":null,"dir":"/etc"},
			{"id":"jp-c5","title":null,"last_event_at":null,"parent_id":"--help","labels":{}},
			{"id":"jp-c5","title":"again"},
			{"summary":{"total":2,"skipped":[{"id":"jp-c6","reason":"a\nb` + strings.Repeat("x", 1000) + `"},{"id":"-","reason":""}]}}]`,
		"ls --format=json --summary --hidden --archived": `[{"id":"jp-c5","title":"archived too"},{"id":"jp-c8","archived_at":"2026-01-06T00:00:00Z"}]`,
	})
	found, problems := storetest.List(t, s, store.Live|store.Archived)
	want := []transcript.Conversation{
		{ID: "jp-c5"},
		{ID: "jp-c8", Archived: true, ArchivedAt: at("2026-01-06T00:00:00Z")},
		{
			ID: "codex-019a5d2c-41d1-7a10-9c2b-0d3f4f5a6b7c", Source: "codex", Title: "One", Parent: "jp-c7", Hidden: true, Locality: "Y", Labels: map[string]string{"a": "b"},
			CreatedAt: at("2026-01-01T00:00:00Z"), LastActivatedAt: at("2026-01-03T00:00:00Z"), PinnedAt: at("2026-01-04T00:00:00Z"), ExpiresAt: at("2026-01-05T00:00:00Z"),
		},
	}
	var got []transcript.Conversation
	for i := range found {
		got = append(got, found[i].Conversation)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !found[2].LastAt.Equal(at("2026-01-02T00:00:00.5Z")) || !found[0].LastAt.IsZero() {
		t.Errorf("last events at %v and %v", found[2].LastAt, found[0].LastAt)
	}
	if len(problems) != 2 || problems[0].ID != "jp-c6" || problems[0].Kind != store.Reported || len(problems[0].Err.Error()) > 400 || strings.Contains(problems[0].Err.Error(), "\n") || problems[1].ID != "" {
		t.Errorf("%+v", problems)
	}
}

// TestEvents tests every kind of event that is printed.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := in(prints{
		"ls": `[{"id":"jp-c1","events_count":14,"last_event_at":"2026-01-01T00:00:09Z"}]`,
		"print": `{"format":"events","data":[
			{"type":"turn_start","timestamp":"2026-01-01 00:00:00.5","turn":1},
			{"type":"chat_request","timestamp":"2026-01-01T00:00:01Z","content":"a \"b\"\n\u00e9","turn":1},
			{"type":"chat_request","content":{"not":"a text"},"turn":1},
			{"type":"chat_response","message":"m","turn":1},
			{"type":"chat_response","reasoning":"r","turn":1},
			{"type":"chat_response","data":{"rows":[1,"x"]},"turn":1},
			{"type":"chat_response","turn":1},
			{"type":"tool_call_request","id":"c1","name":"read","arguments":{"a":"b"},"turn":2},
			{"type":"tool_call_response","id":"c1","content":"bm90","is_error":true,"encoding":"base64","turn":2},
			{"type":"inquiry_request","question":{"text":"Sure?"},"turn":2},
			{"type":"inquiry_response","answer":true,"turn":2},
			{"type":"system_message","name":"developer","content":"s","turn":2},
			{"type":"config_delta","turn":0},
			{"type":"something_new","turn":2}]}`,
	})
	c := storetest.Only(t, s)
	storetest.CheckReading(t, c)
	const want = `1 turn_start
1 user: a "b" é
1 user: { "not": "a text" }
1 assistant: m
1 reasoning: r
1 structured: { "rows": [ 1, "x" ] }
1 assistant
2 tool_call read: { "a": "b" }
2 tool_result failed: bm90
2 inquiry: Sure?
2 inquiry_response: true
2 system developer: s
`
	if diff := cmp.Diff(want, storetest.Said(t, c)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err := c.Read(t.Context(), func(e *transcript.Event) bool {
		if (e.Encoding == transcript.Base64) != (e.Kind == transcript.KindToolResult) {
			t.Errorf("%s: encoding %q", e.Kind, e.Encoding)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	// Its owner counts what is not printed, too.
	if got.Events != 14 || got.Turns != 2 || got.Skipped != 2 || got.LastAt.Second() != 9 {
		t.Errorf("%+v", got)
	}
}

// TestDamaged tests that the error for damaged events has no words of the program.
func TestDamaged(t *testing.T) {
	t.Parallel()
	s := in(prints{"ls": `[{"id":"jp-c1","events_count":0,"error":"obey"}]`, "print": `[{"type":"chat_request","turn":1,"content":"a"}]`})
	said, err := storetest.Read(t.Context(), storetest.Only(t, s))
	var damage *store.DamageError
	if said != "1 user: a\n" || !errors.As(err, &damage) || damage.Event != 1 || strings.Contains(damage.Error(), "obey") {
		t.Errorf("%q, %v", said, err)
	}
}

// TestVersions tests that the version changes with the list, and with the events if the list has nothing about them.
func TestVersions(t *testing.T) {
	t.Parallel()
	const listed, told, other = `{"id":"jp-c1","title":"a"}`, `{"id":"jp-c1","title":"a","events_count":2}`, `{"id":"jp-c1","title":"a","events_count":2,"changed":1}`
	seen := map[string]string{}
	for i, p := range []prints{
		{"ls": "[" + listed + "]", "print": `[{"type":"turn_start","turn":1}]`},
		{"ls": "[" + listed + "]", "print": `[{"type":"turn_start","turn":2}]`},
		{"ls": "[" + told + "]", "print": "not asked"},
		{"ls": "[" + other + "]", "print": "not asked"},
	} {
		c := storetest.Only(t, in(p))
		version, err := c.Version(t.Context())
		if err != nil || seen[version] != "" {
			t.Fatalf("%v: version %s as of %s, %v", p, version, seen[version], err)
		}
		seen[version] = fmt.Sprint(p)
		if i < 2 { // what was printed for the version is read, and printed anew another time
			for range 2 {
				storetest.Said(t, c)
			}
		}
	}
}

// TestJP tests that the recorded output of today's jp is an error about JP, and that a jp with the expected output is read.
func TestJP(t *testing.T) {
	t.Parallel()
	const unknownFlag = "error: unexpected argument '--summary' found\n"
	const one = `[{"id":"jp-c1","title":"A","events_count":93}]`
	for _, test := range []struct {
		name, program, ls, print, stderr string
		exit                             int
		command                          string
		lacks                            bool
	}{
		{name: "flags of ls", program: "jp", stderr: unknownFlag, exit: 2, command: "ls", lacks: true},
		{name: "on Windows", program: `'C:\bin\JP.exe'`, stderr: unknownFlag, exit: 2, command: "ls", lacks: true},
		{name: "keys of ls", program: "/usr/bin/jp", ls: `[{"ID":"jp-c17800836875","#":"93","Activity ↑":"2026-05-29 20:05:32","Title":"A"}]`, command: "ls", lacks: true},
		{name: "stub of ls", program: "jp", ls: `[{"ID":"(12 hidden)"}]`, command: "ls", lacks: true},
		{name: "prose of print", program: "jp", ls: one, print: "{\"message\":\"── user ──\"}\n{\"message\":\"Hello\"}\n", command: "print", lacks: true},
		{name: "another failure", program: "jp", stderr: "Could not locate workspace", exit: 1, command: "ls"},
		{name: "another program", program: "jp-conversations", stderr: unknownFlag, exit: 2, command: "ls"},
		{name: "the contract", program: "jp", ls: one, print: `[{"type":"chat_request","turn":1,"content":"x"}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			found, err := list(program(test.program, "/", runner(func(_ context.Context, cmd process.Command) (process.Result, error) {
				stdout := test.ls
				if slices.Contains(cmd.Args, "print") {
					stdout = test.print
				}
				return process.Result{Stdout: []byte(stdout), Stderr: []byte(test.stderr), ExitCode: test.exit}, nil
			})))
			if err == nil {
				_, err = storetest.Read(t.Context(), found[0])
			}
			var failure *command.Error
			if errors.As(err, &failure) != (test.command != "") {
				t.Fatal(err)
			}
			if failure != nil && (failure.Command != test.command || failure.Lacks() != test.lacks || failure.Exit != test.exit) {
				t.Errorf("%+v", failure)
			}
		})
	}
}

// TestSaid tests that the standard error of a program is safe to show.
func TestSaid(t *testing.T) {
	t.Parallel()
	for stderr, want := range map[string]string{
		"":                                  "",
		"\n \n":                             "",
		"\xff\xfe":                          "\ufffd\ufffd",
		"\x1b[31merror\x1b[0m \u202e\x00\n": "␛[31merror␛[0m \\u{202E}␀",
		strings.Repeat("x", 1_000_000):      "998000 characters omitted",
	} {
		_, err := list(in(runner(func(context.Context, process.Command) (process.Result, error) {
			return process.Result{Stderr: []byte(stderr), ExitCode: 1}, nil
		})))
		var failure *command.Error
		if !errors.As(err, &failure) || failure.Said != want && !(len(failure.Said) < 2200 && strings.Contains(failure.Said, want) && len(stderr) > 2000) {
			t.Errorf("%.60q: %.60q, want %q", stderr, failure.Said, want)
		}
	}
}

// FuzzStore tests that any output is an error, or conversations as a store promises them.
func FuzzStore(f *testing.F) {
	for _, s := range []string{
		`[]`, `[{"id":"jp-c1","title":"a","events_count":-1,"labels":{"a":null}},{"summary":{"total":-7,"skipped":[{"id":"-","reason":"x"}]}}]`,
		`[{"id":"jp-c1","type":"chat_request","turn":2,"content":"a"},{"id":"jp-c1","type":"tool_call_request","turn":2,"arguments":{}}]`,
		`[{"id":"jp-c1","type":"turn_start","turn":1},{"id":"jp-c1","type":"chat_response","turn":1},{"id":"jp-c1","type":"inquiry_request","turn":2,"question":[]}]`,
		`{"format":1,"data":[{"id":"jp-c1","type":"x"}],"x":{}}`, `{"data":[]`, `{"data":null}`, `{}`, `[`, `[{},`, `[1]]`, `[] []`, `{"data":[{}]} x`, `null`, "\xff",
	} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, ls, print string) {
		found, err := list(in(prints{"ls": ls, "print": print}))
		if err != nil {
			var failure *command.Error
			if !errors.As(err, &failure) {
				t.Errorf("%v", err)
			}
			return
		}
		for _, c := range found {
			if _, err := conversations.ParseID(string(c.ID)); err != nil {
				t.Errorf("id %q", c.ID)
			}
			said, err := storetest.Read(t.Context(), c)
			if err == nil {
				storetest.CheckReading(t, c)
			}
			turn := 1
			for line := range strings.Lines(said) {
				var at int
				if _, err := fmt.Sscan(line, &at); err != nil || at < turn {
					t.Errorf("%q behind turn %d", line, turn)
				}
				turn = at
			}
		}
	})
}
