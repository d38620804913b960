package tools

import (
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

const (
	root   = "00000000-0000-4000-8000-000000000000"
	first  = "00000000-0000-4000-8000-000000000001"
	second = "00000000-0000-4000-8000-000000000002"
	third  = "00000000-0000-4000-8000-000000000003"
)

// A call is running from when it is made until the root has its output; one behind it waits, and one that is interrupted
// before its turn is known no more.
func TestOutcome(t *testing.T) {
	t.Parallel()
	var state session.State
	step := func(in session.Input) {
		t.Helper()
		next, _, err := session.Step(state, time.Unix(0, 0), in)
		if err != nil {
			t.Fatal(err)
		}
		state = next
	}
	invoke := func(id string) {
		t.Helper()
		text := "x"
		step(session.Submit{Conversation: root, Call: &session.Item{
			Item:    model.Item{CallID: id, Name: session.ConvCreate},
			Request: session.Request{Create: &session.Create{ConversationID: id, UserInstruction: &text}},
		}})
	}
	is := func(when, id string, running, done bool) {
		t.Helper()
		target, output := outcomeOf(state, id)
		if (target == id) != running || (output != nil) != done {
			t.Errorf("%s: %s, %+v", when, target, output)
		}
	}
	task := func() session.TaskID { return state.Work().Task }
	step(session.Start{Session: "s", Root: root, Context: session.Context{Capabilities: session.Capabilities{Internal: session.InternalTools{session.ConvTools: true}}}})
	is("before all", first, false, false)
	invoke(first)
	is("made", first, true, false)
	invoke(second)
	invoke(third)
	is("queued", second, true, false)
	step(session.Response{Task: task(), Items: []session.Item{{Item: model.Text(session.AgentMessage, "done")}}})
	is("over", first, false, true)
	is("its turn", second, true, false)
	step(session.Interrupt{Chain: true, Submission: 3})
	is("taken from the queue", third, false, false)
	step(session.Interrupt{Chain: true})
	step(session.Response{Task: task(), Failure: session.Failure{Code: "canceled"}})
	is("interrupted", second, false, true)
	is("and the first is kept", first, false, true)
	is("none", "other", false, false)
	if _, got := outcomeOf(state, first); got.Failed || got.Output == "" {
		t.Errorf("%+v", got)
	}
}

// A session belongs to a program in a workspace, and in it to a conversation where that is known.
func TestSessionID(t *testing.T) {
	t.Parallel()
	program := func(name, conversation string) contract.Context {
		return contract.Context{Caller: caller.Caller{Client: name}, ConversationID: conversation}
	}
	ids := map[string]bool{}
	for _, id := range []string{
		sessionID("/a", program("claude-code", "")), sessionID("/b", program("claude-code", "")), sessionID("/a", program("codex", "")),
		sessionID("/a", program("jp", "jp-c1")), sessionID("/a", program("jp", "jp-c2")), sessionID("/a", program("", "")),
		sessionID("/a", program("jp-c1", "")),
	} {
		if ids[id] {
			t.Errorf("two have the session %s", id)
		}
		ids[id] = true
	}
	if again := sessionID("/a", program("codex", "")); !ids[again] {
		t.Error("a program does not find its session again")
	}
	if sessionID("/a", program("x", "jp-c1")) != sessionID("/a", program("y", "jp-c1")) {
		t.Error("a conversation does not find its session again")
	}
}
