package external

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/conv"
)

const (
	root   = "00000000-0000-4000-8000-000000000000"
	first  = "00000000-0000-4000-8000-000000000001"
	second = "00000000-0000-4000-8000-000000000002"
)

// script is a session of an outside program, step by step.
type script struct {
	t     *testing.T
	state session.State
}

func (s *script) step(in session.Input) {
	s.t.Helper()
	state, _, _, err := session.Step(s.state, time.Unix(0, 0), in)
	if err != nil {
		s.t.Fatal(err)
	}
	s.state = state
}

func (s *script) submit(id string) {
	s.t.Helper()
	c := conv.OutsideCall{ID: id, Tool: "conv.create", Arguments: json.RawMessage(`{"user_instruction":"x"}`)}
	s.step(session.Submit{Conversation: root, Input: c.Submission(), Call: true})
}

// calls has the root make a call.
func (s *script) calls(id string) {
	s.t.Helper()
	task, _ := s.state.Running()
	text := "x"
	s.step(session.Response{Task: task, Items: []session.ResponseItem{{Call: &session.Call{ID: id, Request: session.Create{ConversationID: id, UserInstruction: &text}}}}})
}

func (s *script) says(items ...session.ResponseItem) {
	s.t.Helper()
	task, _ := s.state.Running()
	s.step(session.Response{Task: task, Items: items})
}

// A call is running from when it is submitted until the root has its output and has ended its turn; one behind it waits.
func TestOutcome(t *testing.T) {
	t.Parallel()
	s := &script{t: t}
	s.step(session.Start{Session: "s", Root: root, Context: session.Context{Capabilities: session.Capabilities{Internal: session.InternalTools{Conv: true}}}})
	is := func(when, id string, want progress) {
		t.Helper()
		got := outcomeOf(s.state, id)
		if got.progress != want || want == runningCall && got.target != id {
			t.Errorf("%s: %+v, want %d", when, got, want)
		}
	}
	is("before all", first, unknownCall)
	s.submit(first)
	is("submitted", first, runningCall)
	s.submit(second)
	is("queued", second, runningCall)
	s.calls(first)
	is("called", first, runningCall)
	answer := "done"
	s.says(session.ResponseItem{Message: &answer})
	is("answered, the root has not ended its turn", first, runningCall)
	is("still queued", second, runningCall)
	s.says()
	is("over", first, doneCall)
	is("its turn", second, runningCall)
	if got := outcomeOf(s.state, first); !got.success || got.content == "" {
		t.Errorf("%+v", got)
	}
	s.step(session.Interrupt{Chain: true})
	task, _ := s.state.Running()
	s.step(session.Stopped{Task: task})
	is("interrupted before it was made", second, endedCall)
	is("and the first is kept", first, doneCall)
	is("none", "other", unknownCall)
}

// A session belongs to a program in a workspace, and in it to a conversation where that is known.
func TestSessionOf(t *testing.T) {
	t.Parallel()
	program := func(name, conversation string) contract.Context {
		return contract.Context{Caller: caller.Caller{Client: name}, ConversationID: conversation}
	}
	ids := map[string]bool{}
	for _, id := range []string{
		sessionOf("/a", program("claude-code", "")), sessionOf("/b", program("claude-code", "")), sessionOf("/a", program("codex", "")),
		sessionOf("/a", program("jp", "jp-c1")), sessionOf("/a", program("jp", "jp-c2")), sessionOf("/a", program("", "")),
		sessionOf("/a", program("jp-c1", "")),
	} {
		if ids[id] {
			t.Errorf("two have the session %s", id)
		}
		ids[id] = true
	}
	if again := sessionOf("/a", program("codex", "")); !ids[again] {
		t.Error("a program does not find its session again")
	}
	if sessionOf("/a", program("x", "jp-c1")) != sessionOf("/a", program("y", "jp-c1")) {
		t.Error("a conversation does not find its session again")
	}
}
