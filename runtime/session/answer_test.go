package session

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// asked starts a session whose root has been asked something, and so is being sampled.
func asked(t *testing.T, config Config, context Context) *host {
	t.Helper()
	h := start(t, config, context)
	h.step(Submit{Conversation: id(0), Input: []Part{{Text: "go"}}, Budget: h.budget})
	return h
}

// respond gives the task that runs a response of calls, k1, k2 and so on, or the message "end" without any.
func (h *host) respond(requests ...any) {
	h.t.Helper()
	task := h.state.Work().Task
	r := Response{Task: task, Usage: Usage{InputTokens: 9, OutputTokens: 1}}
	for i, request := range requests {
		r.Items = append(r.Items, asks("k"+string(rune('1'+i)), request))
	}
	if len(requests) == 0 {
		text := "end"
		r.Items = []Item{says(text)}
	}
	if err := h.step(r); err != nil {
		h.t.Fatalf("response: %v", err)
	}
}

// output returns the content and success of the last output that a conversation got.
func (h *host) output(conversation int) (string, bool) {
	h.t.Helper()
	for n := h.state.Conversation(id(conversation)).history; n != nil; n = n.prev {
		if n.Kind == ToolOutput {
			return n.Output, !n.Failed
		}
	}
	h.t.Fatalf("%d has no output", conversation)
	return "", false
}

func pointer[T any](v T) *T { return &v }

var image = Part{ImageURL: "https://example.com/a.png"}

// The exact JSON strings of the five tools.
func TestContents(t *testing.T) {
	t.Parallel()
	long := "data:image/png;base64," + strings.Repeat("A", 100)
	for _, test := range []struct {
		name    string
		config  Config
		calls   []any // one response each; where it starts a target, that answers "end"
		want    string
		failure bool
	}{
		{
			name:  "create with a text and items",
			calls: []any{Create{ConversationID: id(1), UserInstruction: pointer("<hi>"), Items: []Part{image, {Text: "more"}}}},
			want:  `{"conversation_id":"` + id(1) + `","first_user_message":"<hi>","first_items_count":2,"last_assistant_message":"end","status":"completed"}`,
		},
		{
			name:  "create with items alone",
			calls: []any{Create{ConversationID: id(1), Items: []Part{image}}},
			want:  `{"conversation_id":"` + id(1) + `","first_items_count":1,"last_assistant_message":"end","status":"completed"}`,
		},
		{
			name:  "send",
			calls: []any{Create{ConversationID: id(1), Items: []Part{image}}, Send{ConversationID: id(1), Text: pointer("x")}},
			want:  `{"conversation_id":"` + id(1) + `","last_assistant_message":"end","status":"completed"}`,
		},
		{
			name:   "a long message is cut, and that is announced",
			config: Config{MaxResultBytes: 2},
			calls:  []any{Create{ConversationID: id(1), Items: []Part{image}}},
			want:   `{"conversation_id":"` + id(1) + `","first_items_count":1,"last_assistant_message":"en","status":"completed","truncated":true}`,
		},
		{
			name:    "send without text and items",
			calls:   []any{Send{ConversationID: id(0)}},
			want:    `{"ok":false,"code":"invalid_arguments","reason":"at least one of a text and an item is required","field":"text"}`,
			failure: true,
		},
		{
			name:    "an empty text is none",
			calls:   []any{Create{ConversationID: id(1), UserInstruction: pointer("x")}, Send{ConversationID: id(1), Text: pointer(""), Items: []Part{{}}}},
			want:    `{"ok":false,"code":"invalid_arguments","reason":"at least one of a text and an item is required","field":"text"}`,
			failure: true,
		},
		{
			name:    "an unknown conversation",
			calls:   []any{Send{ConversationID: id(7), Text: pointer("x")}},
			want:    `{"ok":false,"code":"not_found","reason":"conversation not found"}`,
			failure: true,
		},
		{
			name:    "not a UUID",
			calls:   []any{History{ConversationID: "3"}},
			want:    `{"ok":false,"code":"invalid_id","reason":"conversation not found"}`,
			failure: true,
		},
		{
			name: "an id in upper case",
			calls: []any{
				Create{ConversationID: id(10), UserInstruction: pointer("x")},
				Send{ConversationID: strings.ToUpper(id(10)), Text: pointer("y")},
				Destroy{ConversationID: strings.ToUpper(id(10))},
				History{ConversationID: id(10)},
			},
			want:    `{"ok":false,"code":"destroyed","reason":"conversation not found"}`,
			failure: true,
		},
		{
			name:    "depth",
			config:  Config{MaxInterruptsPerTurn: 1},
			calls:   []any{Create{ConversationID: id(1), Items: []Part{image}}, Send{ConversationID: id(1), Text: pointer("x")}},
			want:    `{"ok":false,"code":"depth_exceeded","reason":"too many of these calls since the last input","count":2,"max":1}`,
			failure: true,
		},
		{
			name:  "list",
			calls: []any{Create{ConversationID: id(1), Title: "T", Items: []Part{image}}, List{}},
			want: `{"conversations":[{"id":"` + id(0) + `","message_count":1,"last_active_at":"2030-01-02T03:04:10.000Z","state":"running","is_root":true,"is_self":true,"usage":{"input_tokens":18,"output_tokens":2,"samples":2,"calls":2}},` +
				`{"id":"` + id(1) + `","message_count":2,"last_active_at":"2030-01-02T03:04:09.000Z","state":"idle","parent_id":"` + id(0) + `","title":"T","usage":{"input_tokens":9,"output_tokens":1,"samples":1,"calls":0}}]}`,
		},
		{
			name:  "history",
			calls: []any{Create{ConversationID: id(1), UserInstruction: pointer("look"), Items: []Part{image}}, History{ConversationID: id(1)}},
			want: `{"entries":[{"role":"user","text":"look","attachments":[{"type":"image","image_url":"https://example.com/a.png"}],"from":"` + id(0) + `"},` +
				`{"role":"assistant","text":"end","attachments":[]}]}`,
		},
		{
			name:   "a long data: address",
			config: Config{MaxInlineImageBytes: 50},
			calls:  []any{Create{ConversationID: id(1), Items: []Part{{ImageURL: long}}}, History{ConversationID: id(1), Limit: pointer(2)}},
			want: `{"entries":[{"role":"user","attachments":[{"type":"image","sha256":"e1a26465d9723f1db0d09d22902f655249f79272c4cadca64a5d9430281b9d15","bytes":122,"elided":true}],"from":"` + id(0) + `"},` +
				`{"role":"assistant","text":"end","attachments":[]}]}`,
		},
		{
			name:  "the last entries, in the order of time",
			calls: []any{Create{ConversationID: id(1), Items: []Part{image}}, Send{ConversationID: id(1), Text: pointer("x")}, History{ConversationID: id(1), Limit: pointer(2)}},
			want:  `{"entries":[{"role":"user","text":"x","attachments":[],"from":"` + id(0) + `"},{"role":"assistant","text":"end","attachments":[]}]}`,
		},
		{
			name:   "entries that do not fit are left out, and that is announced",
			config: Config{MaxHistoryBytes: 4},
			calls:  []any{Create{ConversationID: id(1), UserInstruction: pointer("hello")}, History{ConversationID: id(1)}},
			want:   `{"entries":[{"role":"assistant","text":"end","attachments":[]}],"truncated":true}`,
		},
		{
			name:   "of a message that does not fit alone, the beginning is kept",
			config: Config{MaxHistoryBytes: 1},
			calls:  []any{History{ConversationID: id(0)}},
			want:   `{"entries":[{"role":"user","text":"g","attachments":[],"truncated":true}],"truncated":true}`,
		},
		{
			name:  "destroy",
			calls: []any{Create{ConversationID: id(1), Items: []Part{image}}, Destroy{ConversationID: id(1)}},
			want:  `{"ok":true}`,
		},
		{
			name:    "the root",
			calls:   []any{Destroy{ConversationID: id(0)}},
			want:    `{"ok":false,"code":"root","reason":"the root conversation cannot be destroyed"}`,
			failure: true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := asked(t, test.config, everything())
			for _, call := range test.calls {
				h.respond(call)
				if h.state.Work().Conversation.ID != id(0) {
					h.respond()
				}
			}
			got, success := h.output(0)
			if diff := cmp.Diff(test.want, got); diff != "" || success == test.failure {
				t.Errorf("success %v, content (-want +got):\n%s", success, diff)
			}
		})
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in    string
		limit int
		want  string
		cut   bool
	}{{"héé", 5, "héé", false}, {"héé", 4, "hé", true}, {"héé", 2, "h", true}, {"", 0, "", false}} {
		if got, cut := cut(test.in, test.limit); got != test.want || cut != test.cut {
			t.Errorf("%q to %d: %q, %v", test.in, test.limit, got, cut)
		}
	}
}

// A call whose target failed has the message and the failure.
func TestFailedContent(t *testing.T) {
	t.Parallel()
	h := asked(t, Config{}, everything())
	h.respond(Create{ConversationID: id(1), UserInstruction: pointer("x")})
	task := h.state.Work().Task
	h.step(Response{Task: task, Items: []Item{says("half"), asks("k", List{})}})
	h.step(Response{Task: task, Failure: Failure{Code: "overloaded", Message: "try later"}})
	want := `{"ok":false,"code":"failed","reason":"the conversation could not answer","conversation_id":"` + id(1) +
		`","first_user_message":"x","last_assistant_message":"half","status":"failed","error":{"code":"overloaded","message":"try later"}}`
	if got, success := h.output(0); got != want || success {
		t.Errorf("%v %s, want %s", success, got, want)
	}
}

// types returns the kinds of events from a number on, with their conversations.
func types(log []Event) []string {
	var all []string
	for _, e := range log {
		all = append(all, strings.TrimSpace(label(e.Conversation)+" "+string(e.Kind)))
	}
	return all
}

// The events of a call, with deltas and usage where they belong.
func TestEventOrder(t *testing.T) {
	t.Parallel()
	h := asked(t, Config{}, everything())
	h.respond(Create{ConversationID: id(1), UserInstruction: pointer("x")})
	task := h.state.Work().Task
	h.step(Delta{Task: task, Text: "e"})
	h.step(Delta{Task: task, Text: "nd"})
	h.respond()
	h.respond()
	want := dedent(`
		session_started
		0 conversation_opened
		0 submission_queued
		0 task_started
		0 user_message
		0 tool_call
		0 token_count
		0 turn_aborted
		1 conversation_opened
		1 task_started
		1 user_message
		1 agent_message_delta
		1 agent_message_delta
		1 agent_message
		1 token_count
		1 task_complete
		0 task_started
		0 tool_output
		0 agent_message
		0 token_count
		0 task_complete`)
	if diff := cmp.Diff(want, types(h.log)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// Tasks have ids of their own; what continues a logical turn has its id, and all have the submission.
func TestEventIDs(t *testing.T) {
	t.Parallel()
	h := asked(t, Config{}, everything())
	h.respond(Create{ConversationID: id(1), UserInstruction: pointer("x")})
	h.respond()
	h.respond()
	type ids struct {
		Conversation string
		Task         TaskID
		LogicalTurn  TurnID
		Frame        FrameID
		Submission   SubmissionID
		Continues    *Continuation
	}
	var got []ids
	for _, e := range h.log {
		if e.Kind == TaskStarted {
			got = append(got, ids{label(e.Conversation), e.Task, e.LogicalTurn, e.Frame, e.Submission, e.Continues})
		}
	}
	want := []ids{
		{"0", 1, 1, 0, 1, nil},
		{"1", 2, 2, 1, 1, nil},
		{"0", 3, 1, 0, 1, &Continuation{Task: 1, Calls: []string{"k1"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// A task ends when nothing of it runs any more, and what came until then is kept and counted.
func TestStop(t *testing.T) {
	t.Parallel()
	h := asked(t, Config{}, everything())
	task := h.state.Work().Task
	h.step(Interrupt{})
	if work := h.state.Work(); work == nil || !work.Stop || work.Task != task {
		t.Fatalf("work %+v", work)
	}
	if err := h.step(Interrupt{}); CodeOf(err) != CodeLate {
		t.Errorf("a second interrupt: %v", err)
	}
	h.respond(List{}, Ordinary{Tool: "shell"})
	if used := usageOf(h.state); used.tokens() != 10 || used.Calls != 2 {
		t.Errorf("usage %+v", used)
	}
	if err := h.step(ToolDone{Task: task, Call: "k2"}); CodeOf(err) != CodeLate {
		t.Errorf("the output of a tool that has not started: %v", err)
	}
	want := []string{"0 starts", "0 hears: go", "0 calls k1 conv.list", "0 calls k2 shell", "0 gets k1 interrupted", "0 gets k2 interrupted", "0 interrupted"}
	if diff := cmp.Diff(want, trace(h.log)); diff != "" || !h.state.Idle() {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
}

// Of several submissions, the one that is meant is ended.
func TestInterruptSubmission(t *testing.T) {
	t.Parallel()
	h := asked(t, Config{}, everything())
	for _, text := range []string{"second", "third"} {
		h.step(Submit{Conversation: id(0), Input: []Part{{Text: text}}})
	}
	h.respond(Create{ConversationID: id(1), UserInstruction: pointer("x")})
	if err := h.step(Interrupt{Chain: true, Submission: 4}); CodeOf(err) != CodeLate {
		t.Errorf("a submission that there never was: %v", err)
	}
	h.step(Interrupt{Chain: true, Submission: 2})
	h.step(Interrupt{Chain: true, Submission: 1})
	h.step(canceled(h.state.Work()))
	if err := h.step(Interrupt{Chain: true, Submission: 1}); CodeOf(err) != CodeLate {
		t.Errorf("a submission that is over: %v", err)
	}
	want := dedent(`
		1 interrupted
		0 gets k1 1 interrupted:
		0 closed
		0 starts
		0 hears: third`)
	got := trace(h.log)
	got = got[len(got)-len(want):]
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
}

// A host asks on behalf of a conversation, whether or not anything runs.
func TestAnswer(t *testing.T) {
	t.Parallel()
	h := start(t, Config{}, everything())
	answer := func(caller int, request any) string {
		content, _ := h.state.Answer(id(caller), asks("", request))
		return content
	}
	if got := answer(0, List{}); !strings.Contains(got, `"state":"idle"`) || !strings.Contains(got, `"is_self":true`) {
		t.Errorf("before anything ran: %s", got)
	}
	h.step(Submit{Conversation: id(0), Input: []Part{{Text: "go"}}})
	h.respond(Create{ConversationID: id(1), UserInstruction: pointer("x"), Internal: InternalTools{ConvTools: false}})
	for _, test := range []struct {
		caller  int
		request any
		want    string
	}{
		{0, List{}, `"state":"suspended"`},
		{0, History{ConversationID: id(1)}, `"text":"x"`},
		{0, History{ConversationID: id(7)}, `"code":"not_found"`},
		{1, List{}, `"code":"unavailable"`},
		{1, History{ConversationID: id(0)}, `"code":"unavailable"`},
		{0, Invalid{Refusal: Refusal{Code: CodeInvalidArguments}}, `"code":"invalid_arguments"`},
		{0, Send{ConversationID: id(1)}, `"code":"unavailable"`},
	} {
		before := len(h.log)
		if got := answer(test.caller, test.request); !strings.Contains(got, test.want) || len(h.log) != before {
			t.Errorf("%d asks %+v: %s, want %s", test.caller, test.request, got, test.want)
		}
	}
}

// More may be asked while a task stops: the chain instead of the task, and conversations to destroy.
func TestStopMore(t *testing.T) {
	t.Parallel()
	h := asked(t, Config{}, everything())
	h.respond(Create{ConversationID: id(1), UserInstruction: pointer("x")})
	h.respond(Create{ConversationID: id(2), UserInstruction: pointer("x")})
	task := h.state.Work().Task
	h.step(Interrupt{})
	h.step(Remove{Conversation: id(2)})
	h.step(Interrupt{Chain: true})
	h.crash()
	want := dedent(`
		2 interrupted
		1 gets k1 2 destroyed:
		1 closed
		0 gets k1 1 interrupted:
		0 closed
		2 destroyed`)
	got := trace(h.log)
	got = got[len(got)-len(want):]
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	if diff := cmp.Diff(want, got); diff != "" || !h.state.Idle() {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	if err := h.step(Response{Task: task}); CodeOf(err) != CodeLate {
		t.Errorf("the task stops twice: %v", err)
	}
}

// The output of a tool that is done all the same is kept, and the model is not asked.
func TestStopKeepsOutput(t *testing.T) {
	t.Parallel()
	h := asked(t, Config{}, everything())
	h.respond(Ordinary{Tool: "shell"}, Ordinary{Tool: "shell"})
	h.step(Interrupt{})
	if err := h.step(ToolDone{Task: 1, Call: "k1", Content: "done", Success: true}); err != nil {
		t.Fatal(err)
	}
	want := []string{"0 gets k1 done", "0 gets k2 interrupted", "0 interrupted"}
	if got := trace(h.log); !slices.Equal(got[len(got)-3:], want) || !h.state.Idle() {
		t.Errorf("%q", got)
	}
}

// Times are UTC to the millisecond, and do not go back.
func TestTimes(t *testing.T) {
	t.Parallel()
	h := start(t, Config{}, everything())
	zone := time.FixedZone("zone", 3600)
	at := time.Date(2031, 1, 1, 1, 0, 0, 123_456_789, zone)
	for _, step := range []struct {
		at   time.Time
		want string
	}{
		{at, "2031-01-01T00:00:00.123Z"},
		{at.Add(-time.Hour), "2031-01-01T00:00:00.123Z"},
		{at.Add(time.Second), "2031-01-01T00:00:01.123Z"},
	} {
		next, events, err := Step(h.state, step.at, Submit{Conversation: id(0), Input: []Part{{Text: "x"}}})
		if err != nil {
			t.Fatal(err)
		}
		h.state = next
		if got := events[0].At.Format(timeFormat); got != step.want {
			t.Errorf("at %v: %s, want %s", step.at, got, step.want)
		}
	}
}

// What the host adds for the model is in the history, and is not a message.
func TestHostContext(t *testing.T) {
	t.Parallel()
	h := start(t, Config{}, everything())
	h.step(Submit{Conversation: id(0), Context: []Part{{Text: "environment"}}, Input: []Part{{Text: "go"}}})
	h.respond(History{ConversationID: id(0)})
	if got, _ := h.output(0); got != `{"entries":[{"role":"user","text":"go","attachments":[]}]}` {
		t.Errorf("history %s", got)
	}
	items := h.state.Root().Items()
	if len(items) != 4 || items[0].Text() != "environment" || items[0].Origin != FromHost || h.state.Root().Messages != 1 {
		t.Errorf("items %+v", items)
	}
}

// A child has at most what its parent has left, of tokens, calls and time.
func TestBudget(t *testing.T) {
	t.Parallel()
	noon := epoch.Add(time.Hour)
	h := start(t, Config{}, everything())
	left := func(task TaskID, conversation int) Budget {
		work := h.state.Work()
		if work == nil || work.Task != task || work.Conversation.ID != id(conversation) || work.Call != nil {
			t.Fatalf("work %+v", work)
		}
		return work.Left
	}
	h.step(Submit{Conversation: id(0), Input: []Part{{Text: "go"}}, Budget: Budget{Tokens: 100, Calls: 5, Deadline: noon}})
	h.respond(
		Create{ConversationID: id(1), UserInstruction: pointer("x"), Budget: Budget{Tokens: 30, Deadline: noon.Add(-time.Minute)}},
		Create{ConversationID: id(2), UserInstruction: pointer("y"), Budget: Budget{Tokens: 1000, Calls: 1, Deadline: noon.Add(time.Minute)}},
	)
	if diff := cmp.Diff(Budget{Tokens: 30, Calls: 3, Deadline: noon.Add(-time.Minute)}, left(2, 1)); diff != "" {
		t.Errorf("the first child (-want +got):\n%s", diff)
	}
	h.respond(Ordinary{Tool: "shell"})
	h.step(ToolDone{Task: 2, Call: "k1", Content: "done", Success: true})
	h.respond()
	if diff := cmp.Diff(Budget{Tokens: 70, Calls: 1, Deadline: noon}, left(3, 2)); diff != "" {
		t.Errorf("the second child (-want +got):\n%s", diff)
	}
	h.respond(List{}, List{})
	if got, _ := h.output(2); got != `{"ok":false,"code":"budget_exceeded","reason":"no tool calls are left","max":1}` {
		t.Errorf("a call too many: %s", got)
	}
	h.respond()
	if diff := cmp.Diff(Budget{Tokens: 50, Calls: 1, Deadline: noon}, left(4, 0)); diff != "" {
		t.Errorf("the continuation (-want +got):\n%s", diff)
	}
}

// A response that the deadline has stopped fails the task for the budget; its caller, whose deadline has passed too,
// fails as well. Before the deadline the failure is the model's.
func TestDeadline(t *testing.T) {
	t.Parallel()
	h := start(t, Config{}, everything())
	deadline := h.now.Add(10 * time.Second)
	h.step(Submit{Conversation: id(0), Input: []Part{{Text: "go"}}, Budget: Budget{Deadline: deadline}})
	h.respond(Create{ConversationID: id(1), UserInstruction: pointer("x")})
	h.now = deadline
	h.step(Response{Task: h.state.Work().Task, Failure: Failure{Code: "failed", Message: "context deadline exceeded"}})
	want := dedent(`
		1 failed budget_exceeded
		0 continues k1
		0 gets k1 1 failed:
		0 failed budget_exceeded`)
	got := trace(h.log)[7:]
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
}

// An input that does not fit is an error, and nothing else.
func TestInputErrors(t *testing.T) {
	t.Parallel()
	begin := func() *host { return asked(t, Config{}, everything()) }
	for name, in := range map[string]Input{
		"a second start":           Start{Session: "s", Root: id(0)},
		"a task that does not run": Delta{Task: 9},
		"a tool that does not run": ToolDone{Task: 1, Call: "k1"},
		"a failure of another":     Response{Task: 2},
		"a response of another":    Response{Task: 2},
		"the root":                 Remove{Conversation: id(0)},
		"nobody":                   Remove{Conversation: id(1)},
		"no input":                 Submit{Conversation: id(0)},
	} {
		h := begin()
		before := len(h.log)
		if err := h.step(in); err == nil || len(h.log) != before {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, in := range map[string]Input{
		"before the start":   Recover{},
		"no session id":      Start{Root: id(0)},
		"no id of the root":  Start{Session: "s", Root: "root"},
		"an upper case UUID": Start{Session: "s", Root: "ABCDEF00-0000-4000-8000-000000000000"},
	} {
		if _, events, err := Step(State{}, epoch, in); err == nil || events != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A call of a program outside is in the history and in the counts as what it is: a call with its output, no message and
// no request to a model.
func TestInvoke(t *testing.T) {
	t.Parallel()
	h := start(t, Config{}, everything())
	h.step(Invoke{Conversation: id(0), Call: asks("o", Create{ConversationID: id(1), UserInstruction: pointer("plan")})})
	if got := h.state.Conversation(id(0)).Messages; got != 0 {
		t.Errorf("%d messages", got)
	}
	h.respond()
	if !h.state.Idle() || usageOf(h.state) != (Usage{InputTokens: 9, OutputTokens: 1, Samples: 1, Calls: 1}) {
		t.Errorf("idle %v, usage %+v", h.state.Idle(), usageOf(h.state))
	}
	if used := h.state.Root().Usage; used != (Usage{Calls: 1}) {
		t.Errorf("the root has used %+v", used)
	}
	if got, _ := h.state.Answer(id(0), asks("", History{ConversationID: id(0)})); got != `{"entries":[]}` {
		t.Errorf("the history of the root is %s", got)
	}
	if items := h.state.Root().Items(); len(items) != 2 || items[0].Origin != FromOutside || items[1].Kind != ToolOutput {
		t.Errorf("%+v", items)
	}
	for _, call := range []Item{asks("", Send{ConversationID: id(1), Text: pointer("x")}), asks("o", List{})} {
		if err := h.step(Invoke{Conversation: id(0), Call: call}); CodeOf(err) != CodeInvalidArguments {
			t.Errorf("%+v: %v", call, err)
		}
	}
	if err := h.step(Invoke{Conversation: id(7), Call: asks("o", Send{ConversationID: id(1), Text: pointer("x")})}); CodeOf(err) != CodeNotFound {
		t.Errorf("for a conversation that is not there: %v", err)
	}
}
