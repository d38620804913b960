package recall_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/recall"
	"github.com/convtools/convtools/runtime/store/command"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/transcript"
)

const setting = "CONVTOOLS_CLI"

// familyIn is the conversation family of a program in a directory, with an external
// command line where line has one.
func familyIn(t *testing.T, dir, line string) toolset.Family {
	t.Helper()
	home := t.TempDir()
	return recall.Family(&toolset.Host{
		Dir: dir, Now: time.Now,
		Getenv: func(name string) string {
			switch name {
			case setting:
				return line
			case "HOME":
				return home
			}
			return ""
		},
	}, setting, process.Exec{})
}

func TestFamilyIsRegistered(t *testing.T) {
	t.Parallel()
	registry, err := toolset.NewRegistry(familyIn(t, sample, ""))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"conversation_grep", "conversation_list", "conversation_read", "conversation_recall", "conversation_search"}
	if diff := cmp.Diff(want, registry.Names()); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	answer, err := registry.Call(t.Context(), contract.Call{Tool: "conversation_list", Arguments: []byte(`{"limit":1}`), Context: contract.Context{Dir: sample}})
	if err != nil || !strings.Contains(answer, `count="1"`) {
		t.Errorf("%v\n%s", err, answer)
	}
}

func TestInstructions(t *testing.T) {
	t.Parallel()
	const notKnown, none = "Which conversation you are in is not known here", "No earlier conversation of this project is recorded"
	for _, tc := range []struct {
		name, line    string
		where         contract.Context
		unknown, none bool
	}{
		{"conversation not known", "", contract.Context{Dir: sample}, true, false},
		{"conversation known", "", contract.Context{Dir: sample, ConversationID: "jp-c17000000001"}, false, false},
		{"no workspace", "", contract.Context{Dir: t.TempDir()}, false, true},
		{"a program may know where", "cli", contract.Context{Dir: t.TempDir()}, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			text := familyIn(t, sample, tc.line).Instructions(t.Context(), tc.where)
			if n := utf8.RuneCountInString(text); n > 1400 {
				t.Errorf("%d characters leave too little of 2048 for others", n)
			}
			if strings.Contains(text, notKnown) != tc.unknown || strings.Contains(text, none) != tc.none {
				t.Errorf("instructions:\n%s", text)
			}
		})
	}
}

// long is a source with one conversation of so many turns, in each of
// which this is said and returned by a tool.
type long struct {
	turns int
	text  string // of each event
	asked []conversations.ReadQuery
}

func (l *long) List(context.Context, conversations.ListQuery) (conversations.Listing, error) {
	return conversations.Listing{Conversations: []conversations.Listed{
		live("jp-c17000000001", "Retry policy"), live("jp-c27000000002", "About the retry"), live("jp-c17000000003", ""),
	}}, nil
}

func (l *long) Search(context.Context, conversations.SearchQuery) (*conversations.Results, error) {
	return nil, errors.New("not searched")
}

func (l *long) Read(_ context.Context, q conversations.ReadQuery) (conversations.Reading, iter.Seq[*conversations.Event], error) {
	l.asked = append(l.asked, q)
	if q.ID != "jp-c17000000001" {
		return conversations.Reading{}, nil, &conversations.NotFoundError{IDs: []transcript.ID{"jp-c9"}, Place: "/work"}
	}
	first := 1
	if q.Turns != nil {
		first, _ = q.Turns(l.turns)
	}
	r := conversations.Reading{Conversation: transcript.Conversation{ID: "jp-c17000000001"}, Turns: l.turns, FirstTurn: first, LastTurn: l.turns}
	return r, func(yield func(*conversations.Event) bool) {
		for turn := first; turn <= l.turns; turn++ {
			for i, kind := range []transcript.Kind{transcript.KindUser, transcript.KindToolResult} {
				if !yield(&conversations.Event{Event: transcript.Event{Turn: turn, Kind: kind, Text: []byte(l.text)}, Number: 2*turn - 1 + i, Request: turn}) {
					return
				}
			}
		}
	}, nil
}

// TestReadResource: a conversation is read as fully as fits.
func TestReadResource(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		turns int
		words string
		chars int
		want  string
		reads int
	}{
		{"whole", 2, "some text", 100, `turns="2" total_turns="2" first_turn="1" last_turn="2" events="4"`, 1},
		{"all, shortened", 6, "some text", 2000, `turns="6" total_turns="6" first_turn="1" last_turn="6" events="12" current="true" truncated="true"`, 1},
		{"some requests", 90, "some text", 5000, `turns="90" total_turns="90" first_turn="1" last_turn="90" events="33" current="true" truncated="true"`, 1},
		{"text that doubles", 90, "]]>", 30_000, `total_turns="90" first_turn="1" last_turn="90" events="9" current="true" truncated="true"`, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			source := &long{turns: tc.turns, text: strings.Repeat(tc.words, tc.chars/len(tc.words))}
			got, err := overSource(source).ReadResource(t.Context(), contract.Context{ConversationID: "jp-c17000000001"}, "conversation://jp-c17000000001")
			if err != nil {
				t.Fatal(err)
			}
			if got.MIMEType != "text/xml" || !strings.Contains(got.Text, tc.want) {
				t.Errorf("%s: %.300s", got.MIMEType, got.Text)
			}
			if len(source.asked) != tc.reads {
				t.Errorf("%d reads, want %d", len(source.asked), tc.reads)
			}
			check(t, "conversation_read", got.Text)
		})
	}
}

// Only a conversation that is not there is not found.
func TestReadResourceFails(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, uri string
		err       error
		notFound  string // the reason; empty where it is another error
		want      string
	}{
		{"no such conversation", "conversation://jp-c9", &conversations.NotFoundError{IDs: []transcript.ID{"jp-c9"}}, "Conversation jp-c9 not found in this project.", ""},
		{"no id", "conversation://zzz", &conversations.BadIDError{Text: "zzz", Reason: "expected digits"}, "An address is conversation://{id}", ""},
		{"no address", "conversation://a/b", nil, "An address is conversation://{id}, with an id such as conversation_list gives.", ""},
		{"another scheme", "kb://jp-c1", nil, "An address is conversation://{id}", ""},
		{"no workspace", "conversation://jp-c1", &conversations.NoWorkspaceError{Dir: "/home/jane/project"}, "", "Could not locate workspace: no .jp directory in project or above it"},
		{"a program that says not found", "conversation://jp-c1", &command.Error{Program: "cli", Exit: 1, Said: "Conversation jp-c1 not found."}, "", "The conversation command line gave up with exit code 1 and said: Conversation jp-c1 not found."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := overSource(&source{err: tc.err}).ReadResource(t.Context(), contract.Context{}, tc.uri)
			var missing *toolset.NotFoundError
			var failure *contract.Error
			switch {
			case tc.notFound != "":
				if !errors.As(err, &missing) || missing.URI != tc.uri || !strings.HasPrefix(missing.Reason, tc.notFound) {
					t.Errorf("error %v", err)
				}
			case errors.As(err, &missing) || !errors.As(err, &failure) || !strings.HasPrefix(failure.Message, tc.want):
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestCompleteIDs(t *testing.T) {
	t.Parallel()
	f := familyIn(t, sample, "")
	complete := func(prefix string) []string {
		t.Helper()
		ids, err := f.Resources[0].Complete(t.Context(), "id", prefix, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := f.Prompts[1].Arguments[0].Complete(t.Context(), prefix)
		if err != nil || !slices.Equal(ids, again) {
			t.Errorf("%q: resources %q, prompts %q (%v)", prefix, ids, again, err)
		}
		return ids
	}
	for prefix, want := range map[string][]string{
		"jp-c17737":    {"jp-c17737387251"},
		"17737":        {"jp-c17737387251"},
		" RETRY":       {"jp-c17737387251"},
		"GAUGE feed":   {"jp-c17737387251"},
		"nothing such": nil,
	} {
		if diff := cmp.Diff(want, complete(prefix)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", prefix, diff)
		}
	}
	if all := complete(""); len(all) != 10 {
		t.Errorf("%d conversations, want those that are live and not hidden", len(all))
	}
	_, err := familyIn(t, t.TempDir(), "").Resources[0].Complete(t.Context(), "id", "x", nil)
	var failure *contract.Error
	if !errors.As(err, &failure) || !failure.NoProject {
		t.Errorf("without a workspace: error %v", err)
	}
}

func TestPrompts(t *testing.T) {
	t.Parallel()
	f := familyIn(t, sample, "")
	topic, id := f.Prompts[0].Arguments[0], f.Prompts[1].Arguments[0]
	for _, tc := range []struct{ got, want string }{
		{topic.Check("retry policy"), ""},
		{topic.Check("two\nlines"), "topic has to be one line of at most 500 characters"},
		{topic.Check(strings.Repeat("é", 501)), "topic has to be one line of at most 500 characters"},
		{id.Check("jp-c1"), ""},
		{id.Check("a b"), "id has to be the id of a conversation, such as conversation_list gives"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
	for i, arguments := range []map[string]string{{"topic": `a "b"`}, {"id": "jp-c1"}} {
		text, err := f.Prompts[i].Write(arguments)
		if err != nil || !strings.Contains(text, []string{`"a \"b\""`, `conversation jp-c1 where it ended`}[i]) {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

func TestProject(t *testing.T) {
	t.Parallel()
	f := familyIn(t, sample, "")
	root, err := f.Project(filepath.Join(sample, ".jp"))
	if want, _ := filepath.Abs(sample); err != nil || root != want {
		t.Errorf("%q, %v", root, err)
	}
	_, err = f.Project(filepath.Join(t.TempDir(), "nowhere"))
	if err == nil || !strings.Contains(err.Error(), "nowhere does not exist") {
		t.Errorf("error %v", err)
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	damaged := filepath.Join(t.TempDir(), "damaged")
	w := jptest.New(damaged, "kinds")
	w.Conversation("17700000000", "sound").TurnStart().User("a")
	w.Conversation("17700000001", "cut").TurnStart().User("b").Edit(jptest.EventsFile, func(data []byte) []byte { return data[:len(data)-10] })
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	root, err := filepath.Abs(sample)
	if err != nil {
		t.Fatal(err)
	}
	program := child("behave=noise")
	for _, tc := range []struct {
		name, dir, line string
		want            []string
	}{
		{"sound", sample, "", []string{
			"ok workspace: " + root + " (hb7k2)",
			"ok command line: built in", "ok conversations: 11 live, 1 archived", "problem damaged: jp-c17890266441 (damaged at byte 1234 (event 7): it ends in the middle of a JSON value)",
		}},
		{"damaged", damaged, "", []string{
			"ok workspace: ", "ok command line: built in", "ok conversations: 2 live, 0 archived", "problem damaged: jp-c17700000001 (damaged at byte ",
		}},
		{"no workspace", empty, "", []string{"off conversations: none of this project yet: what you do here with an assistant can be recalled from its next session on", "ok command line: built in"}},
		{"no directory", filepath.Join(empty, "x"), "", []string{"problem workspace: " + filepath.Join(empty, "x") + " does not exist", "ok command line: built in"}},
		{"program that is not there", sample, "no-such-program", []string{"ok workspace: ", "problem command line: no-such-program (CONVTOOLS_CLI): "}},
		{"program that is another", sample, program, []string{
			"ok workspace: ",
			fmt.Sprintf("problem command line: %s (CONVTOOLS_CLI): The conversation command line did not print what was expected, one JSON array of records: it is not JSON: ", program),
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			want := tc.want
			if tc.line == "" { // else nothing that other programs recorded is read
				want = append(slices.Clip(want), "off history: nothing is recorded by Claude Code, Codex, opencode, Gemini CLI, ", "ok search: of all projects")
			}
			for _, c := range familyIn(t, tc.dir, tc.line).Checks(t.Context()) {
				got = append(got, fmt.Sprintf("%s %s: %s", c.Status, c.Name, c.Detail))
				if (c.Status == toolset.Problem) != (c.Fix != "") {
					t.Errorf("%s: fix %q", c.Name, c.Fix)
				}
			}
			if len(got) != len(want) {
				t.Fatalf("got %q, want %q", got, want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], want[i]) {
					t.Errorf("got  %s\nwant %s", got[i], want[i])
				}
			}
		})
	}
}

// endless is a source whose conversation has no end.
type endless struct {
	source
	cancel context.CancelFunc
	handed int
}

func (e *endless) Read(ctx context.Context, _ conversations.ReadQuery) (conversations.Reading, iter.Seq[*conversations.Event], error) {
	return conversations.Reading{}, func(yield func(*conversations.Event) bool) {
		for ctx.Err() == nil && yield(&conversations.Event{Event: transcript.Event{Turn: e.handed, Kind: transcript.KindUser, Text: []byte("a line")}}) {
			if e.handed++; e.handed == 1000 {
				e.cancel()
			}
		}
	}, nil
}

// The answer to a call that is canceled is the error of that, also if the events end without one.
func TestCanceledReading(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	source := &endless{cancel: cancel}
	_, err := conversation.Call(ctx, overSource(source), contract.Call{Tool: "conversation_read", Arguments: []byte(`{"id":"jp-c1"}`)})
	if !errors.Is(err, context.Canceled) || source.handed != 1000 {
		t.Errorf("%d events; error %v", source.handed, err)
	}
}
