package recall_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/transcript"
)

// TestTypedFailures: what goes wrong in a source, as a model and as a person are
// told about it.
func TestTypedFailures(t *testing.T) {
	t.Parallel()
	const ids = " conversation_list shows the ids there are; archived=true shows those of archived conversations."
	for _, tc := range []struct {
		name, tool string
		err        error
		want       string
		person     string // where that differs
		caller     bool
		transient  bool
		noProject  bool
	}{
		{
			name: "unknown id", err: &conversations.NotFoundError{IDs: []transcript.ID{"jp-c17648402467"}, Nearest: []transcript.ID{"jp-c1", "jp-c2"}, Place: "/work"},
			want:   "Conversation jp-c17648402467 not found in this project. Nearest ids: jp-c1, jp-c2." + ids,
			person: "Conversation jp-c17648402467 not found in /work. Nearest ids: jp-c1, jp-c2." + ids,
			caller: true,
		},
		{
			name: "unknown ids", err: fmt.Errorf("searching: %w", &conversations.NotFoundError{IDs: []transcript.ID{"jp-c1", "jp-c2"}, Place: `C:\Users\jane doe\my work`}),
			want:   "Conversations jp-c1, jp-c2 not found in this project." + ids,
			person: `Conversations jp-c1, jp-c2 not found in C:\Users\jane doe\my work.` + ids,
			caller: true,
		},
		{
			name: "events that are gone", err: &conversations.UnavailableError{Path: "/home/jane/work/.jp/conversations/17000000000-tides", Err: fmt.Errorf("reading the events: %w", fs.ErrNotExist)},
			want:   "What is recorded cannot be read: a file is missing.",
			person: "/home/jane/work/.jp/conversations/17000000000-tides: Reading the events: file does not exist.",
			caller: true,
		},
		{
			name: "no events", err: &conversations.UnreadableError{Problem: conversations.Problem{ID: "jp-c1", Err: errors.New("events.json is missing in /home/jane/x")}},
			want:   "Conversation jp-c1 cannot be read.",
			person: "events.json is missing in /home/jane/x.",
			caller: true,
		},
		{
			name: "excluded", err: &conversations.ExcludedError{By: "/home/jane/.convtools-exclude"},
			want:   "The user has excluded the conversations of this project: they are not looked up.",
			person: "The user has excluded the conversations of this project: they are not looked up. /home/jane/.convtools-exclude does that.",
			caller: true,
		},
		{
			name: "bad settings", err: &config.Error{Problems: []config.Problem{{Diagnostic: diag.Diagnostic{File: "~/convtools.toml", Message: "off is wrong"}}}},
			want:   "No conversations are looked up, because the user's settings about them cannot be used.",
			person: "No conversations are looked up, because the user's settings about them cannot be used: ~/convtools.toml: off is wrong.",
		},
		{
			name: "malformed id", err: &conversations.BadIDError{Text: "foo", Reason: `expected "jp-c" and digits`},
			want: `Invalid conversation id "foo": expected "jp-c" and digits.` + ids, caller: true,
		},
		{
			name: "several malformed ids", err: errors.Join(&conversations.BadIDError{Text: "foo", Reason: "a"}, &conversations.BadIDError{Text: "-", Reason: "b"}),
			want: `Invalid conversation id "foo": a; invalid conversation id "-": b.` + ids, caller: true,
		},
		{
			name: "turn out of range", err: &conversations.RangeError{N: 9, Of: 2},
			want: "Turn 9 out of range (conversation has 2 turns). Turns count from 1; last=1 reads the last one.", caller: true,
		},
		{
			name: "turn beyond all numbers", err: &conversations.RangeError{N: math.MaxInt, Of: 2},
			want: "Turn 9223372036854775807 out of range (conversation has 2 turns). Turns count from 1; last=1 reads the last one.", caller: true,
		},
		{
			name: "event out of range", err: &conversations.RangeError{Events: true, N: 9, Of: 1},
			want: "Event 9 out of range (conversation has 1 event). Events count from 1 through the whole conversation.", caller: true,
		},
		{
			name: "event beyond all numbers", err: &conversations.RangeError{Events: true, N: math.MaxInt, Of: 2},
			want: "Event 9223372036854775807 out of range (conversation has 2 events). Events count from 1 through the whole conversation.", caller: true,
		},
		{
			name: "no workspace", err: &conversations.NoWorkspaceError{Dir: "/home/jane/work"},
			want:   "Could not locate workspace: no .jp directory in work or above it, and no other program has recorded a conversation there; change to a project that has one, or name it with -w DIR.",
			person: "Could not locate workspace: no .jp directory in /home/jane/work or above it, and no other program has recorded a conversation there; change to a project that has one, or name it with -w DIR.",
			caller: true, noProject: true,
		},
		{
			name: "no directory", err: &conversations.NoWorkspaceError{Dir: "/home/\x1bjane", Missing: true},
			want:   "Could not locate workspace: ␛jane does not exist; name a directory of a project that has a .jp directory.",
			person: "Could not locate workspace: /home/␛jane does not exist; name a directory of a project that has a .jp directory.",
			caller: true, noProject: true,
		},
		{
			name: "links lead out", err: &config.OutsideError{Path: ".jp/conversations", UserFile: "~/.config/convtools/convtools.toml"},
			want:   "The conversations of this workspace are not looked up: the project's own files lead out of the project. The user can allow that in their own configuration: directories of [trust].",
			person: "The conversations of this workspace are not looked up: .jp/conversations is a link out of the project; to allow it, add the directory that it leads to to directories in [trust] of ~/.config/convtools/convtools.toml.",
			caller: true,
		},
		{name: "pattern", err: &excerpt.PatternError{Problem: "is empty"}, want: "The pattern is empty.", caller: true},
		{
			name: "canceled", err: context.Canceled,
			want: "The conversations cannot be looked up.", person: "The conversations cannot be looked up: context canceled.",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tools := overSource(&source{err: tc.err})
			_, err := conversation.Call(t.Context(), tools, contract.Call{Tool: "conversation_list"})
			var e *contract.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if tc.person == "" {
				tc.person = tc.want
			}
			if e.Message != tc.want || e.ForPerson() != tc.person {
				t.Errorf("got  %s\n and %s\nwant %s\n and %s", e.Message, e.ForPerson(), tc.want, tc.person)
			}
			if e.Caller != tc.caller || e.Transient != tc.transient || e.NoProject != tc.noProject {
				t.Errorf("error %+v", e)
			}
			if !errors.Is(err, tc.err) {
				t.Error("the cause is lost")
			}
		})
	}
}

// A call that is canceled is no failure of the source, whatever that says.
func TestCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := conversation.Call(ctx, overSource(&source{err: fmt.Errorf("reading: %w", context.Canceled)}), contract.Call{Tool: "conversation_list"})
	var e *contract.Error
	if !errors.As(err, &e) || e.Message != "Stopped because the request was canceled." || !e.Transient || !errors.Is(err, context.Canceled) {
		t.Errorf("error %+v", err)
	}
}

// TestFailures: what a command line does wrong, and what the caller of a tool
// is told about it.
func TestFailures(t *testing.T) {
	t.Parallel()
	const (
		list    = "conversation_list"
		grep    = "conversation_grep"
		read    = "conversation_read"
		garbled = "The conversation command line did not print what was expected, one JSON array of records: "
		gaveUp  = "The conversation command line gave up with exit code "
		neither = "it is no array, and no object with one as data, or there is more behind it."
	)
	arguments := map[string]string{list: `{}`, grep: `{"pattern":"x"}`, read: `{"id":"jp-c17648402467"}`}
	one := listed(row(readID, "One", ""))
	for _, tc := range []struct {
		name, tool string
		cli        *cli
		want       string
		caller     bool
		transient  bool
	}{
		{
			name: "its words have no meaning", tool: read,
			cli:    &cli{exit: 1, stderr: "warning: x\nerror: conversation jp-c1 not found in /work\nhint: nearest ids: jp-c1\n"},
			want:   gaveUp + "1 and said: Warning: x. Conversation jp-c1 not found in /work. Hint: nearest ids: jp-c1.",
			caller: true,
		},
		{
			name: "control characters on stderr", tool: list,
			cli:    &cli{exit: 1, stderr: "error: \x1b]0;owned\x07 \u202e\xff\n"},
			want:   gaveUp + "1 and said: ␛]0;owned␇ \\u{202E}\ufffd.",
			caller: true,
		},
		{name: "silent failure", tool: list, cli: &cli{exit: 3}, want: gaveUp + "3 and said nothing."},
		{name: "crash", tool: grep, cli: &cli{exit: 101, ls: "[]", stderr: "thread 'main' panicked\n"}, want: gaveUp + "101 and said: Thread 'main' panicked."},
		{name: "records of no type", tool: read, cli: &cli{ls: one, print: `[{"id":"jp-c17648402467","title":"x"}]`}, want: garbled + "record 1 has no type."},
		{name: "turns that go back", tool: read, cli: &cli{ls: one, print: printed(said("user", 2, "a"), said("user", 1, "b"))}, want: garbled + `record 2: its turn, "1", is not that of the record before it, or one behind that.`},
		{name: "no turn", tool: read, cli: &cli{ls: one, print: `[{"type":"chat_request","content":"x"}]`}, want: garbled + `record 1: its turn, "", is not that of the record before it, or one behind that.`},
		{name: "nothing", tool: list, cli: &cli{}, want: garbled + "it ends in the middle of a JSON value, after 0 bytes."},
		{name: "white space", tool: list, cli: &cli{ls: " \n", stderr: "all is well\n"}, want: garbled + "it ends in the middle of a JSON value, after 2 bytes. It said: All is well."},
		{name: "text", tool: list, cli: &cli{ls: "hi\n"}, want: garbled + "it is not JSON: unexpected 'h', after 0 bytes."},
		{name: "half a value", tool: list, cli: &cli{ls: `[{"id":"jp-c1","title":"a`}, want: garbled + "it ends in the middle of a JSON value, after 25 bytes."},
		{name: "half an array", tool: list, cli: &cli{ls: `[{"id":"jp-c1"}`}, want: garbled + "it ends in the middle of a JSON value, after 15 bytes."},
		{name: "half an object", tool: list, cli: &cli{ls: `{"data":[{"id":"jp-c1"}]`}, want: garbled + "it ends in the middle of a JSON value, after 24 bytes."},
		{name: "half of what is said", tool: read, cli: &cli{ls: one, print: `[{"type":"chat_request","turn":1},`}, want: garbled + "it ends in the middle of a JSON value, after 34 bytes."},
		{name: "more than a value", tool: list, cli: &cli{ls: `[] []`}, want: garbled + neither},
		{name: "a number", tool: list, cli: &cli{ls: `7`}, want: garbled + neither},
		{name: "an object", tool: list, cli: &cli{ls: `{"message":"x"}`}, want: garbled + neither},
		{name: "data of another type", tool: list, cli: &cli{ls: `{"data":"x"}`}, want: garbled + neither},
		{name: "records of another type", tool: grep, cli: &cli{ls: `["a line"]`}, want: garbled + "record 1 is no object."},
		{name: "id that is none", tool: list, cli: &cli{ls: `[{"id":"x\" current=\"true"}]`}, want: garbled + "record 1: its id is not the id of a conversation."},
		{name: "no id", tool: grep, cli: &cli{ls: `[{"text":"x"}]`}, want: garbled + "record 1: its id is not the id of a conversation."},
		{name: "events of another type", tool: read, cli: &cli{ls: one, print: `[[]]`}, want: garbled + "record 1 is no object."},
		{name: "deep", tool: list, cli: &cli{ls: strings.Repeat("[", 1000)}, want: garbled + "it is nested too deeply, after 255 bytes."},
		{
			name: "not run", tool: list,
			cli:  &cli{err: &process.Error{Kind: process.Timeout, Command: "/opt/cli ls", Name: "cli", Detail: "it hangs", Hint: "raise the limit"}},
			want: `The command line "conversation" failed: cli: it hangs; ask for less.`, transient: true,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			answer, err := conversation.Call(t.Context(), over(tc.cli), contract.Call{Tool: tc.tool, Arguments: []byte(arguments[tc.tool])})
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
	program := &cli{
		ls: printed(row("jp-c1", long, `"error":`+quoted), `{"summary":{"total":9223372036854775807,"skipped":`+skips+`}}`),
		print: printed(said("user", 1, long), object(said("tool_call", 1, long), `{"name":`+quoted+`,"id":`+quoted+`,"chars":9223372036854775807,"head_chars":-9}`),
			said("user", 9223372036854775807, "x")),
	}
	for tool, arguments := range map[string]string{
		"conversation_list": `{"limit":"` + padded + `5","archived":"` + padded + `false"}`,
		"conversation_grep": `{"pattern":"<","limit":"` + padded + `5","ignore_case":"` + padded + `true"}`,
		"conversation_read": `{"id":"jp-c1","turn":"` + padded + `1"}`,
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			answer, err := conversation.Call(t.Context(), over(program), contract.Call{Tool: tool, Arguments: []byte(arguments)})
			if err != nil {
				t.Fatalf("an error of %d bytes: %.300s", len(err.Error()), err)
			}
			check(t, tool, answer)
		})
	}
}

// TestForeignFailures: the setting that chose a program is named where it fails.
func TestForeignFailures(t *testing.T) {
	t.Parallel()
	const setting = " The environment variable X names it. Unset X to use the built-in one."
	for _, tc := range []struct {
		name   string
		cli    *cli
		want   string
		caller bool
	}{
		{"fails", &cli{exit: 3, stderr: "boom \x1b[31mred"}, "The conversation command line gave up with exit code 3 and said: Boom ␛[31mred." + setting, false},
		{"silent", &cli{exit: 3}, "The conversation command line gave up with exit code 3 and said nothing." + setting, false},
		{"half", &cli{ls: "["}, "The conversation command line did not print what was expected, one JSON array of records: it ends in the middle of a JSON value, after 1 bytes." + setting, false},
		{"text", &cli{ls: "hi"}, "The conversation command line did not print what was expected, one JSON array of records: it is not JSON: unexpected 'h', after 0 bytes." + setting, false},
		{"no events", &cli{ls: listed(row(readID, "One", "")), print: `[{"id":"jp-c1"}]`}, "The conversation command line did not print what was expected, one JSON array of records: record 1 has no type." + setting, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := conversation.Call(t.Context(), overChosen(tc.cli, "X"), contract.Call{Tool: "conversation_read", Arguments: []byte(`{"id":"jp-c17648402467"}`)})
			var e *contract.Error
			if !errors.As(err, &e) || e.Message != tc.want || e.Caller != tc.caller {
				t.Errorf("got  %v\nwant %s (caller %v)", err, tc.want, tc.caller)
			}
		})
	}
}

// TestNotRun: where programs are is said to people only.
func TestNotRun(t *testing.T) {
	t.Parallel()
	hung := &process.Error{
		Kind: process.Timeout, Command: "'/home/jane/my tools/cli' conversation ls", Name: "cli",
		Detail: "stopped", Hint: "raise the limit", Stderr: []byte("one\ntwo\n"), Path: "/home/jane",
	}
	_, err := conversation.Call(t.Context(), overChosen(&cli{err: hung}, "X"), contract.Call{Tool: "conversation_list"})
	var e *contract.Error
	if !errors.As(err, &e) || !e.Transient || !errors.Is(err, hung) {
		t.Fatalf("error %+v", err)
	}
	const setting = " The environment variable X names it. Unset X to use the built-in one."
	for _, tc := range []struct{ got, want string }{
		{e.Message, `The command line "conversation" failed: cli: stopped (last line on stderr: two); ask for less.` + setting},
		{e.ForPerson(), `The command line "conversation" failed: '/home/jane/my tools/cli' conversation ls: stopped (/home/jane) (last line on stderr: two); ask for less.` + setting},
	} {
		if tc.got != tc.want {
			t.Errorf("got  %s\nwant %s", tc.got, tc.want)
		}
	}
}

// TestNoCommandLine: so is what a setting holds that is no command line.
func TestNoCommandLine(t *testing.T) {
	t.Parallel()
	_, err := conversation.Call(t.Context(), overSource(conversationsOf(`"/home/jane/cli`, "X", &cli{}, "")), contract.Call{Tool: "conversation_list"})
	var e *contract.Error
	if !errors.As(err, &e) || !strings.HasPrefix(e.Message, "The environment variable X does not hold a command line: character 1 ") ||
		!strings.Contains(e.ForPerson(), "/home/jane/cli") || strings.Contains(e.Message, "jane") {
		t.Errorf("error %+v", err)
	}
}
