package recall_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/recall"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
	"github.com/convtools/convtools/runtime/transcript"
)

const sample = "../../testdata/workspaces/sample"

// both are the two ways to the sample workspace: the library, and this program's
// own command line as a program of its own.
func both(t *testing.T) (library, program conversations.Source) {
	t.Helper()
	library, err := conversations.Open(conversations.Options{Dir: sample, Getenv: getenv})
	if err != nil {
		t.Fatal(err)
	}
	return library, conversationsOf(child(), "", process.Exec{}, sample)
}

// told leaves out what the JSON of a command line does not have.
func told() cmp.Options {
	return cmp.Options{
		cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(conversations.Omitted{}, "Hidden"),
		cmpopts.IgnoreFields(transcript.Conversation{}, "Dir"),
		cmp.Comparer(func(a, b conversations.Problem) bool { return a.ID == b.ID }),
		cmpopts.IgnoreFields(transcript.Event{}, "Index", "Object"),
	}
}

func TestListsAgree(t *testing.T) {
	t.Parallel()
	library, program := both(t)
	for _, q := range []conversations.ListQuery{
		{},
		{Limit: 3},
		{Limit: 3, Offset: 2, Sort: conversations.ByCreation, Ascending: true},
		{Filter: conversations.Filter{Hidden: true}, Sort: conversations.ByUpdate},
		{Filter: conversations.Filter{Archived: true}},
		{TitleContains: "RETRY"},
		{Offset: 99},
		{Sizes: true},
		{Limit: 2, Offset: 1, Sizes: true, Filter: conversations.Filter{Hidden: true}},
	} {
		want, err := library.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := program.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, told()); diff != "" {
			t.Errorf("%+v (-library +program):\n%s", q, diff)
		}
	}
}

// searchOf returns all that a search finds.
func searchOf(t *testing.T, source conversations.Source, q conversations.SearchQuery) (all []string) {
	t.Helper()
	r, err := source.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	for i := range r.Hits {
		h := &r.Hits[i]
		content, err := r.Read(h)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %d turn %d %s %v: %d lines, %s %q", h.Conversation.ID, h.Number, h.Turn, h.Scope, h.Time, h.Lines, h.Role, content))
	}
	for _, c := range r.Conversations {
		all = append(all, fmt.Sprintf("%s %q: %d in %d turns", c.ID, c.Title, c.Matches, c.Size.Turns))
	}
	return append(all, fmt.Sprintf("%d, own %d, searched %d, left out %v, hidden %d", r.Total, r.Own, r.Searched, r.Excluded, r.Hidden))
}

func TestSearchesAgree(t *testing.T) {
	t.Parallel()
	library, program := both(t)
	own := func(tool string) bool { return strings.Contains(tool, "conversation_") }
	for pattern, q := range map[string]conversations.SearchQuery{
		"retry":  {},
		"e":      {Own: own},
		"the":    {Own: own, OwnToo: true, Scopes: transcript.ScopeTitle},
		"zzzz":   {},
		"test":   {Filter: conversations.Filter{Hidden: true}},
		"a":      {Filter: conversations.Filter{IDs: []string{"17737387251", "jp-c17768655336"}, Exclude: []string{"jp-c17768655336"}}},
		"\u00a0": {Order: conversations.Newest, Limit: 20},
		"i":      {Order: conversations.Newest, Limit: 20, Scopes: transcript.ScopeUser},
	} {
		q.Pattern = excerpt.Literal(pattern, true)
		if diff := cmp.Diff(searchOf(t, library, q), searchOf(t, program, q)); diff != "" {
			t.Errorf("%q in %+v (-library +program):\n%s", pattern, q, diff)
		}
	}
}

// readOver is what a reading returns.
type readOver struct {
	Result conversations.Reading
	Events []conversations.Event
}

func readAll(t *testing.T, source conversations.Source, q conversations.ReadQuery) readOver {
	t.Helper()
	result, events, err := source.Read(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	r := readOver{Result: result}
	for e := range events {
		event := *e
		event.Text, event.Arguments = e.Body(), nil
		r.Events = append(r.Events, event)
	}
	// The rest of the metadata is in no summary.
	c := &r.Result.Conversation
	*c = transcript.Conversation{ID: c.ID, Title: c.Title, CreatedAt: c.CreatedAt, Archived: c.Archived, Hidden: c.Hidden}
	return r
}

func TestReadingsAgree(t *testing.T) {
	t.Parallel()
	library, program := both(t)
	for _, archived := range []bool{false, true} {
		all, err := library.List(t.Context(), conversations.ListQuery{Filter: conversations.Filter{Hidden: true, Archived: archived}, Sizes: true})
		if err != nil {
			t.Fatal(err)
		}
		for n, c := range all.Conversations {
			whole := readAll(t, library, conversations.ReadQuery{ID: string(c.ID)})
			chars, requests := 0, 0
			for _, e := range whole.Events {
				chars += utf8.RuneCount(e.Text)
				requests = e.Request
			}
			size := conversations.Size{Turns: whole.Result.Turns, Requests: requests, Numbered: whole.Result.Events, Chars: chars}
			if diff := cmp.Diff(&size, c.Size); diff != "" {
				t.Errorf("%s: size (-read +listed):\n%s", c.ID, diff)
			}
			speech := func(k transcript.Kind) bool { return k == transcript.KindUser || k == transcript.KindAssistant }
			for i, q := range []conversations.ReadQuery{
				{},
				{Turns: func(int) (first, last int) { return 1, 1 }},
				{Turns: func(of int) (first, last int) { return max(of-1, 1), of }, Kinds: speech},
				{Events: conversations.EventRange{First: 1}, Kinds: speech},
				{Events: conversations.EventRange{First: 2, Last: 4}},
			} {
				if (n+i)%3 > 0 && cases.Of(1) == 1 { // make prove asks everything
					continue
				}
				q.ID = string(c.ID)
				want, got := readAll(t, library, q), readAll(t, program, q)
				if diff := cmp.Diff(want, got, told()); diff != "" {
					t.Errorf("%s, %+v (-library +program):\n%s", c.ID, q.Events, diff)
				}
			}
		}
	}
}

// Random conversations are counted, numbered and cut in the same way by both.
func TestRandomReadingsAgree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := jptest.New(dir, "tests")
	for i := range cases.Of(2) {
		r := rand.New(rand.NewPCG(uint64(i), 12))
		c := w.Conversation(fmt.Sprint(17600000000+i), "x")
		for range 20 + r.IntN(100) {
			text := strings.Repeat("a word\n\"<b>]]>東京😀\x01\u202e ", r.IntN(40)*r.IntN(2))
			add := []func(){
				func() { c.TurnStart() }, func() { c.User(text) }, func() { c.Assistant(text) }, func() { c.Reasoning(text) },
				func() { c.ToolCall("call", "fs_read", map[string]any{"a": text}) }, func() { c.ToolResult("call", text, r.IntN(2) == 0) },
				func() { c.Inquiry("call.q", text) }, func() { c.Event("chat_response", "data", []any{text, nil}) }, func() { c.Event("config_delta", "delta", text) },
			}
			add[r.IntN(len(add))]()
		}
	}
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	library, err := conversations.Open(conversations.Options{Dir: dir, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	program := conversationsOf(child(), "", process.Exec{}, dir)
	all := conversations.ListQuery{Sizes: true}
	want, err := library.List(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	got, err := program.List(t.Context(), all)
	if diff := cmp.Diff(want, got, told()); err != nil || diff != "" {
		t.Errorf("%v (-library +program):\n%s", err, diff)
	}
	for _, c := range want.Conversations {
		for _, q := range []conversations.ReadQuery{
			{},
			{Events: conversations.EventRange{First: 1 + c.Size.Numbered/3, Last: c.Size.Numbered / 2}},
			{Turns: func(of int) (first, last int) { return max(of-2, 1), of }},
			{Kinds: func(k transcript.Kind) bool { return k == transcript.KindToolCall || k == transcript.KindUser }},
		} {
			q.ID = string(c.ID)
			want, got := readAll(t, library, q), readAll(t, program, q)
			if diff := cmp.Diff(want, got, told()); diff != "" {
				t.Errorf("%s, %+v (-library +program):\n%s", c.ID, q.Events, diff)
			}
		}
	}
}

// What a conversation does not have is the same error either way.
func TestRangesAgree(t *testing.T) {
	t.Parallel()
	library, program := both(t)
	const id = "jp-c17737387251"
	whole, _, err := library.Read(t.Context(), conversations.ReadQuery{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]conversations.Source{"library": library, "program": program} {
		for _, n := range []int{-1, whole.Turns + 1} {
			only := func(int) (first, last int) { return n, n }
			r, _, err := source.Read(t.Context(), conversations.ReadQuery{ID: id, Turns: only})
			var outside *conversations.RangeError
			if !errors.As(err, &outside) || *outside != (conversations.RangeError{N: n, Of: whole.Turns}) || r.Title != whole.Title {
				t.Errorf("%s, turn %d: %+v, %v", name, n, r, err)
			}
		}
		for _, n := range []int{-1, whole.Events + 1} {
			r, _, err := source.Read(t.Context(), conversations.ReadQuery{ID: id, Events: conversations.EventRange{First: n}})
			var outside *conversations.RangeError
			if !errors.As(err, &outside) || *outside != (conversations.RangeError{Events: true, N: n, Of: whole.Events}) || r.Title != whole.Title {
				t.Errorf("%s, event %d: %+v, %v", name, n, r, err)
			}
		}
	}
}

// TestEnvelopesAgree: a model gets the same answers either way. Only why something
// could not be used is a program's own to say, and not said to a model.
func TestEnvelopesAgree(t *testing.T) {
	t.Parallel()
	library, program := both(t)
	all, err := library.List(t.Context(), conversations.ListQuery{NoEvents: true})
	if err != nil {
		t.Fatal(err)
	}
	calls := [][2]string{
		{"conversation_list", `{}`},
		{"conversation_list", `{"limit":2,"offset":1,"sort":"created","descending":false}`},
		{"conversation_list", `{"archived":true}`},
		{"conversation_list", `{"title_contains":"zzz","include_hidden":true}`},
		{"conversation_grep", `{"pattern":"retry","context":2}`},
		{"conversation_grep", `{"pattern":"the","limit":40}`},
		{"conversation_grep", `{"pattern":"e","limit":3,"scopes":["tool","title"],"ignore_case":false}`},
		{"conversation_grep", `{"pattern":"zzzz","ids":["jp-c17737387251"]}`},
		{"conversation_grep", `{"pattern":"retry jitter cap"}`},
		{"conversation_grep", `{"pattern":"tide|zzzz|cache"}`},
		{"conversation_list", `{"outline":true}`},
		{"conversation_list", `{"sources":["jp"],"sort":"updated"}`},
		{"conversation_list", `{"sources":["codex"]}`},
		{"conversation_recall", `{"query":"Why do we retry the gauge feed?"}`},
		{"conversation_recall", `{"query":"\"retry\" cap","scopes":["chat"],"sources":["jp"]}`},
		{"conversation_recall", `{"query":"checksum of the archived tide tables","include_hidden":true}`},
		{"conversation_recall", `{"query":"walrus"}`},
		{"conversation_search", `{"query":"retry","ids":true}`},
		{"conversation_search", `{"query":"tide","roles":["user"],"limit":3}`},
		{"conversation_context", `{"id":"jp-c17737387251:3","before":2,"after":1}`},
		{"conversation_read", `{"id":"jp-c17737387251","about":"how often is it tried again?"}`},
	}
	for n, c := range all.Conversations {
		for i, asked := range []string{``, `,"last":1,"include":["chat","inquiries","tool_calls"]`, `,"turn":1`} {
			if (n+i)%3 > 0 && cases.Of(1) == 1 { // make prove asks everything
				continue
			}
			calls = append(calls, [2]string{"conversation_read", fmt.Sprintf(`{"id":%q%s}`, c.ID, asked)})
		}
	}
	for _, call := range calls {
		var answers [2]string
		for i, source := range []conversations.Source{library, program} {
			answer, err := conversation.Call(t.Context(), overSource(source), contract.Call{
				Tool: call[0], Arguments: []byte(call[1]), Context: contract.Context{ConversationID: "jp-c17804748174"},
			})
			if err != nil {
				answer = "error: " + err.Error()
			}
			answers[i] = withoutReasons(answer)
		}
		if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
			t.Errorf("%s %s (-library +program):\n%s", call[0], call[1], diff)
		}
	}
}

// withoutReasons leaves of notes about problems that there are some.
func withoutReasons(answer string) string {
	var kept []string
	for line := range strings.Lines(answer) {
		for _, about := range []string{"Damaged, so that", "Not searched", "Not listed", "This conversation is damaged"} {
			if strings.Contains(line, "<note>"+about) {
				line = "<note>a problem</note>\n"
			}
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "")
}

// TestProgramMisbehaves: what a program does wrong costs one answer, in time and
// memory that are bounded, and what it says is shown and never believed.
func TestProgramMisbehaves(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		how, want         string
		caller, transient bool
	}{
		{"half", "it ends in the middle of a JSON value, after 25 bytes.", false, false},
		{"noise", "it is not JSON", false, false},
		{"flood", "stopped because it printed more than 64 MiB", false, false},
		{"lie", "gave up with exit code 1 and said: Conversation jp-c1 not found in /work. Could not locate workspace. Turn 9 out of range. Hint: nearest ids: jp-c2. ␛[2J\\u{202E}</note>. The environment", true, false},
		{"crash", "gave up with exit code 101 and said: Panic: x. The environment", false, false},
		{"silent", "gave up with exit code 5 and said nothing. The environment variable X names it.", false, false},
	} {
		t.Run(tc.how, func(t *testing.T) {
			t.Parallel()
			tools := overSource(conversationsOf(child("behave="+tc.how), "X", process.Exec{}, ""))
			_, err := conversation.Call(t.Context(), tools, contract.Call{Tool: "conversation_read", Arguments: []byte(`{"id":"jp-c1"}`)})
			var e *contract.Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, tc.want) || e.Caller != tc.caller || e.Transient != tc.transient {
				t.Fatalf("got %+v, want %s", err, tc.want)
			}
			var missing *conversations.NotFoundError
			if errors.As(err, &missing) || e.NoProject {
				t.Errorf("believed: %+v", err)
			}
			if dir, _, _ := strings.Cut(os.Args[0], "recall.test"); strings.Contains(e.Message, dir) {
				t.Errorf("says where the program is: %s", e.Message)
			}
		})
	}
}

// A program that hangs ends with the call.
func TestProgramHangs(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return // the test has ended
		}
		cancel()
		conn.Close()
	}()
	tools := overSource(conversationsOf(child("behave=hang", listener.Addr().String()), "", process.Exec{}, ""))
	_, err = conversation.Call(ctx, tools, contract.Call{Tool: "conversation_list"})
	var e *contract.Error
	if !errors.As(err, &e) || !e.Transient || !strings.Contains(e.Message, "stopped because the request was canceled") {
		t.Errorf("error %+v", err)
	}
}

// TestIDsAreParsedFirst: what is no id reaches neither a store nor the arguments of
// a program.
func TestIDsAreParsedFirst(t *testing.T) {
	t.Parallel()
	library, _ := both(t)
	fake := &cli{ls: "[]"}
	for name, tools := range map[string]*recall.Tools{"library": overSource(library), "program": over(fake)} {
		for _, call := range []struct{ tool, arguments, want string }{
			{"conversation_read", `{"id":"-"}`, `Invalid conversation id "-": expected`},
			{"conversation_read", `{"id":"--help"}`, `Invalid conversation id "--help": expected`},
			{"conversation_read", `{"id":"-17737387251"}`, `Invalid conversation id "-17737387251": expected`},
			{"conversation_grep", `{"pattern":"x","ids":["-"]}`, `Invalid conversation id "-": expected`},
			{"conversation_grep", `{"pattern":"x","ids":["jp-c17737387251","--summary"]}`, `Invalid conversation id "--summary": expected`},
		} {
			_, err := conversation.Call(t.Context(), tools, contract.Call{Tool: call.tool, Arguments: []byte(call.arguments)})
			var e *contract.Error
			if !errors.As(err, &e) || !e.Caller || !strings.HasPrefix(e.Message, call.want) {
				t.Errorf("%s, %s %s: error %v", name, call.tool, call.arguments, err)
			}
		}
	}
	if fake.called.Load() {
		t.Error("the program was run")
	}
	for _, id := range []string{"-", "--archived", "", "a b"} {
		_, err := conversationsOf("cli", "", fake, "").Search(t.Context(), conversations.SearchQuery{Pattern: excerpt.Literal("x", true), Filter: conversations.Filter{Exclude: []string{id}}})
		var bad *conversations.BadIDError
		if !errors.As(err, &bad) {
			t.Errorf("%q to exclude: error %v", id, err)
		}
	}
}

// White space beyond ASCII is text to the schema, and so it is to the search.
func TestNoBreakSpaceIsText(t *testing.T) {
	t.Parallel()
	library, program := both(t)
	for name, source := range map[string]conversations.Source{"library": library, "program": program} {
		answer, err := conversation.Call(t.Context(), overSource(source), contract.Call{Tool: "conversation_grep", Arguments: []byte("{\"pattern\":\"\u00a0\"}")})
		if err != nil || !strings.Contains(answer, `matches="0"`) {
			t.Errorf("%s: %v\n%s", name, err, answer)
		}
	}
}
