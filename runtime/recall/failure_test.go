package recall_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/recall"
)

// TestFailures: what a command line does wrong, and what the caller of a tool
// is told about it.
func TestFailures(t *testing.T) {
	t.Parallel()
	const (
		list    = "conversation_list"
		grep    = "conversation_grep"
		read    = "conversation_read"
		garbled = "The conversation command line did not print what was expected, one JSON array of records: "
	)
	arguments := map[string]string{list: `{}`, grep: `{"pattern":"x"}`, read: `{"id":"jp-c17648402467"}`}
	for _, tc := range []struct {
		name, tool string
		cli        cli
		want       string
		caller     bool
		transient  bool
	}{
		{
			name: "unknown id", tool: read,
			cli: cli{exit: 1, stderr: "error: conversation jp-c17648402467 not found in /work\nhint: nearest ids: jp-c1, jp-c2\n"},
			want: "Conversation jp-c17648402467 not found in this workspace. Nearest ids: jp-c1, jp-c2. " +
				"conversation_list shows the ids there are; archived=true shows those of archived conversations.",
			caller: true,
		},
		{
			name: "unknown id in a search", tool: grep,
			cli:    cli{exit: 1, stderr: "error: conversation jp-c1 not found in /work\nhint: conversation ls shows the ids there are; add --archived for archived ones\n"},
			want:   "Conversation jp-c1 not found in this workspace. conversation_list shows the ids there are; archived=true shows those of archived conversations.",
			caller: true,
		},
		{
			name: "unknown ids in a workspace whose path has spaces", tool: grep,
			cli:    cli{exit: 1, stderr: "error: conversations jp-c1, jp-c2 not found in C:\\Users\\jane doe\\my work\r\n"},
			want:   "Conversations jp-c1, jp-c2 not found in this workspace. conversation_list shows the ids there are; archived=true shows those of archived conversations.",
			caller: true,
		},
		{
			name: "events that are gone", tool: read,
			cli:    cli{exit: 1, stderr: "error: reading the events of jp-c1: events.json is missing in /home/jane/work/.jp/conversations/17000000000-tides\n"},
			want:   "Reading the events of jp-c1: events.json is missing in 17000000000-tides.",
			caller: true,
		},
		{
			name: "malformed id", tool: read,
			cli:    cli{exit: 2, stderr: "error: invalid conversation id \"foo\": expected \"jp-c\" and digits\nhint: conversation ls shows the ids there are\n"},
			want:   "Invalid conversation id \"foo\": expected \"jp-c\" and digits. conversation_list shows the ids there are; archived=true shows those of archived conversations.",
			caller: true,
		},
		{
			name: "turn out of range", tool: read,
			cli:    cli{exit: 1, stderr: "warning: jp-c1: cut off\nerror: turn 9 out of range (conversation has 2 turns)\nhint: turns are numbered 1 to 2; --last prints the last one\n"},
			want:   "Turn 9 out of range (conversation has 2 turns). Turns count from 1; last=1 reads the last one.",
			caller: true,
		},
		{
			name: "control characters on stderr", tool: list,
			cli:    cli{exit: 1, stderr: "error: \x1b]0;owned\x07 \u202e\xff\n"},
			want:   "␛]0;owned␇ \\u{202E}\ufffd.",
			caller: true,
		},
		{
			name: "silent failure", tool: list,
			cli:  cli{exit: 3},
			want: "The conversation command line gave up with exit code 3 and said nothing.",
		},
		{
			name: "search fails with the exit code of no matches", tool: grep,
			cli:    cli{exit: 1, stderr: "error: could not locate workspace: no .jp directory in / or above it\n"},
			want:   "Could not locate workspace: no .jp directory in / or above it.",
			caller: true,
		},
		{
			name: "crash", tool: grep,
			cli:  cli{exit: 101, stdout: "[]", stderr: "thread 'main' panicked\n"},
			want: "Thread 'main' panicked.",
		},
		{
			name: "turn beyond all numbers", tool: read,
			cli:    cli{exit: 1, stderr: "error: turn 9223372036854775807 out of range (conversation has 2 turns)\n"},
			want:   "There is no such turn: it is out of range (conversation has 2 turns). Turns count from 1; last=1 reads the last one.",
			caller: true,
		},
		{name: "records of no type", tool: read, cli: cli{stdout: `[{"id":"jp-c17648402467","title":"x"}]`}, want: garbled + "its records are no events: none has a type."},
		{name: "records of no type and a summary", tool: read, cli: cli{stdout: `[{"id":"jp-c1"},{"summary":{"turns":2}}]`}, want: garbled + "its records are no events: none has a type."},
		{name: "nothing", tool: list, cli: cli{}, want: garbled + "it printed nothing."},
		{name: "white space", tool: list, cli: cli{stdout: " \n", stderr: "warning: x\nall is well\n"}, want: garbled + "it printed nothing. It said: All is well."},
		{name: "text", tool: list, cli: cli{stdout: "hi\n"}, want: garbled + "it is not JSON: invalid character 'h' looking for beginning of value."},
		{name: "half a value", tool: list, cli: cli{stdout: `[{"id":"jp-c1","title":"a`}, want: garbled + "it ends in the middle of a JSON value, after 25 bytes."},
		{name: "half an array", tool: list, cli: cli{stdout: `[{"id":"jp-c1"}`}, want: garbled + "it ends in the middle of a JSON value, after 15 bytes."},
		{name: "half an object", tool: list, cli: cli{stdout: `{"data":[{"id":"jp-c1"}]`}, want: garbled + "it ends in the middle of a JSON value, after 24 bytes."},
		{name: "more than a value", tool: list, cli: cli{stdout: `[] []`}, want: garbled + "there is more text behind the JSON value."},
		{name: "a number", tool: list, cli: cli{stdout: `7`}, want: garbled + "it begins with neither an array nor an object."},
		{name: "an object", tool: list, cli: cli{stdout: `{"message":"x"}`}, want: garbled + "it is an object without data."},
		{name: "data of another type", tool: list, cli: cli{stdout: `{"data":"x"}`}, want: garbled + "its data is not an array."},
		{name: "records of another type", tool: grep, cli: cli{stdout: `["a line"]`}, want: garbled + "a record is a JSON string."},
		{name: "member of another type", tool: grep, cli: cli{stdout: `[{"id":"jp-c1","scope":"user","turn":"one"}]`}, want: garbled + `in a record, "turn" is a JSON string.`},
		{name: "time in another form", tool: list, cli: cli{stdout: `[{"id":"jp-c1","created_at":"2026-03-06 09:27:11.0"}]`}, want: garbled + `in a record, "2026-03-06 09:27:11.0" is not a time in the form of RFC 3339.`},
		{name: "id that is none", tool: list, cli: cli{stdout: `[{"id":"x\" current=\"true"}]`}, want: garbled + "record 1: its id is not the id of a conversation."},
		{name: "no id", tool: grep, cli: cli{stdout: `[{"text":"x"}]`}, want: garbled + "record 1: its id is not the id of a conversation."},
		{name: "scope that is none", tool: grep, cli: cli{stdout: `[{"id":"jp-c1","scope":"<x>"}]`}, want: garbled + `record 1: its scope, "<x>", is none.`},
		{name: "events of another type", tool: read, cli: cli{stdout: `[[]]`}, want: garbled + "a record is a JSON array."},
		{name: "summary of another type", tool: read, cli: cli{stdout: `[{"summary":[]}]`}, want: garbled + `in a record, "summary" is a JSON array.`},
		{
			name: "not run", tool: list,
			cli:  cli{err: &contract.Error{Message: "The program hangs.", Transient: true, Err: &process.Error{Kind: process.Timeout}}},
			want: "The program hangs.", transient: true,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.cli.t = t
			answer, err := conversation.Call(t.Context(), recall.New(&tc.cli), contract.Call{Tool: tc.tool, Arguments: []byte(arguments[tc.tool])})
			if err == nil {
				t.Fatalf("no error, but an answer: %s", answer)
			}
			if err.Error() != tc.want {
				t.Errorf("got  %s\nwant %s", err, tc.want)
			}
			var e *contract.Error
			if !errors.As(err, &e) || e.Caller != tc.caller || e.Transient != tc.transient {
				t.Errorf("error %+v, want caller %v, transient %v", e, tc.caller, tc.transient)
			}
		})
	}
}

// TestHostileCommandLine: a program that prints JSON of the right form but of
// any size cannot make an answer longer than its cap.
func TestHostileCommandLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\u202e<", 50_000)
	quoted := text(long)
	skips := `[` + strings.TrimSuffix(strings.Repeat(`{"id":`+quoted+`,"reason":`+quoted+`},`, 20), ",") + `]`
	padded := strings.Repeat(" ", 200_000)
	for name, tc := range map[string]struct {
		tool, arguments, stdout string
	}{
		"list": {
			"conversation_list", `{"limit":"` + padded + `5","archived":"` + padded + `true"}`,
			`[` + row("jp-c1", long, `"error":`+quoted) + `,{"summary":{"total":9223372036854775807,"skipped":` + skips + `}}]`,
		},
		"grep": {
			"conversation_grep", `{"pattern":` + text(strings.Repeat("\U000e0041", 1000)) + `,"limit":"` + padded + `5","ignore_case":"` + padded + `true"}`,
			`[` + hit("jp-c1", 1, "user", long, true, 0, 1, `"title":`+quoted+`,"chars":-5`) + `,{"summary":{"matches":9223372036854775807,"excluded":[` + quoted + `],"skipped":` + skips + `}}]`,
		},
		"read": {
			"conversation_read", `{"id":"jp-c1","turn":"` + padded + `1"}`,
			`[` + said("user", 1, long) + `,` + object(said("tool_call", 1, long), `{"name":`+quoted+`,"id":`+quoted+`,"chars":9223372036854775807,"head_chars":-9}`) +
				`,{"summary":{"id":` + quoted + `,"title":` + quoted + `,"damaged":` + quoted + `,"turns":9223372036854775807,"first_turn":1,"last_turn":9223372036854775807}}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, err := conversation.Call(t.Context(), recall.New(&cli{t: t, stdout: tc.stdout}), contract.Call{Tool: tc.tool, Arguments: []byte(tc.arguments)})
			if err != nil {
				if len(err.Error()) > 4000 {
					t.Errorf("an error of %d bytes: %.300s", len(err.Error()), err)
				}
				return
			}
			check(t, tc.tool, answer)
		})
	}
}

// foreign is a command line that is not the built-in one.
type foreign struct {
	cli
	setting string
}

func (f *foreign) External(string) (string, bool) { return f.setting, true }

// TestForeignFailures: what another program says is not shown as this one's own
// word, and the setting that chose it is named.
func TestForeignFailures(t *testing.T) {
	t.Parallel()
	const setting = "The environment variable X names it."
	for _, tc := range []struct {
		name    string
		setting string
		cli     cli
		want    string
		caller  bool
	}{
		{"fails", setting, cli{exit: 3, stderr: "boom \x1b[31mred"}, "The conversation command line gave up with exit code 3 and said: Boom ␛[31mred. " + setting, false},
		{"configured", "", cli{exit: 3, stderr: "boom"}, "The conversation command line gave up with exit code 3 and said: Boom.", false},
		{"silent", setting, cli{exit: 3}, "The conversation command line gave up with exit code 3 and said nothing. " + setting, false},
		{
			"unknown id", setting,
			cli{exit: 1, stderr: "error: conversation jp-c1 not found\n"},
			"The conversation command line gave up with exit code 1 and said: Conversation jp-c1 not found. " + setting +
				" conversation_list shows the ids there are; archived=true shows those of archived conversations.", true,
		},
		{"half", setting, cli{stdout: "["}, "The conversation command line did not print what was expected, one JSON array of records: it ends in the middle of a JSON value, after 1 bytes. " + setting, false},
		{"text", setting, cli{stdout: "hi"}, "The conversation command line did not print what was expected, one JSON array of records: it is not JSON: invalid character 'h' looking for beginning of value. " + setting, false},
		{"no events", setting, cli{stdout: `[{"id":"jp-c1"}]`}, "The conversation command line did not print what was expected, one JSON array of records: its records are no events: none has a type. " + setting, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.cli.t = t
			_, err := conversation.Call(t.Context(), recall.New(&foreign{tc.cli, tc.setting}), contract.Call{Tool: "conversation_read", Arguments: []byte(`{"id":"jp-c17648402467"}`)})
			var e *contract.Error
			if !errors.As(err, &e) || e.Message != tc.want || e.Caller != tc.caller {
				t.Errorf("got  %v\nwant %s (caller %v)", err, tc.want, tc.caller)
			}
		})
	}
}

// TestNotRun: where programs and files are is said to people only.
func TestNotRun(t *testing.T) {
	t.Parallel()
	hung := &process.Error{Kind: process.Timeout}
	failure := &contract.Error{
		Message:   `The command line "conversation" failed: '/home/jane/my tools/cli' conversation ls: stopped (last line on stderr: no /home/jane/x). The environment variable X names it.`,
		Trace:     []string{"reading /home/jane/y: denied"},
		Transient: true,
		Err:       hung,
	}
	for _, tc := range []struct {
		name           string
		tools          *recall.Tools
		message, trace string
	}{
		{
			"a model", recall.New(&cli{t: t, err: failure}),
			`The command line "conversation" failed: 'cli' conversation ls: stopped (last line on stderr: no x). The environment variable X names it.`,
			"reading y: denied",
		},
		{"a person", recall.New(&cli{t: t, err: failure}).ShowPaths(), failure.Message, failure.Trace[0]},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := conversation.Call(t.Context(), tc.tools, contract.Call{Tool: "conversation_list"})
			var e *contract.Error
			if !errors.As(err, &e) || e.Message != tc.message || len(e.Trace) != 1 || e.Trace[0] != tc.trace || !e.Transient {
				t.Errorf("got  %+v\nwant %s", err, tc.message)
			}
			if !errors.Is(err, hung) {
				t.Error("the cause is lost")
			}
		})
	}
}
