package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/sessionlog"
)

// talk is a model that answers from what the last item of the history says: "create TEXT" and "tool" call, anything else
// is said back.
type talk struct{}

func (talk) Sample(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	last := r.Items[len(r.Items)-1]
	usage := model.Usage{InputTokens: 9, OutputTokens: 1}
	verb, rest, _ := strings.Cut(last.Text(), " ")
	switch {
	case last.Kind == model.ToolOutput:
	case verb == "create":
		return model.Response{Usage: usage, Items: []model.Item{{Kind: model.ToolCall, CallID: "k1", Name: "conv.create", Wire: "conv_create", Arguments: rest}}}, nil
	case verb == "tool":
		return model.Response{Usage: usage, Items: []model.Item{{Kind: model.ToolCall, CallID: "k1", Name: "tool", Wire: "tool", Arguments: rest}}}, nil
	}
	text := last.Text() + last.Output
	delta(text)
	return model.Response{Usage: usage, Items: []model.Item{model.Text(model.AgentMessage, text)}}, nil
}

type tools struct{}

func (tools) Offered(context.Context, *session.Conversation) []model.Tool { return nil }

func (tools) Prepare(_ context.Context, _ *session.Conversation, call model.Item) session.Request {
	if call.Name == "conv.create" {
		return session.Create{UserInstruction: &call.Arguments}
	}
	return session.Ordinary{Tool: session.Tool(call.Name)}
}

func (tools) Run(_ context.Context, _ *session.Conversation, call session.Call) (string, bool) {
	return "ran " + call.Arguments, true
}

func options(events *[]session.Event) engine.Options {
	n := 0
	return engine.Options{
		Model: func(context.Context, *session.Conversation) (model.Model, error) { return talk{}, nil },
		Tools: tools{},
		Now:   func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) },
		NewID: func() string { n++; return id(n) },
		Observe: func(e session.Event) {
			*events = append(*events, e)
		},
	}
}

func id(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }

func TestStraight(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var events []session.Event
	e, err := engine.Start(dir, session.Start{
		Session: "s", Root: id(0), Context: session.Context{Capabilities: session.Capabilities{Internal: session.InternalTools{Conv: true}}},
	}, options(&events))
	if err != nil {
		t.Fatal(err)
	}
	turn, err := e.Submit(t.Context(), session.Submit{Conversation: id(0), Input: []session.Part{{Text: "create tool x"}}})
	if err != nil {
		t.Fatal(err)
	}
	result, err := turn.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Message string `json:"last_assistant_message"`
	}
	if err := json.Unmarshal([]byte(result.Message), &got); err != nil || got.Message != "ran x" || result.Usage.Samples != 4 || result.Usage.Calls != 2 {
		t.Errorf("%+v %v", result, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var logged []session.Event
	for record, err := range sessionlog.Read(dir, "s") {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range record.Events {
			text, err := sessionlog.MarshalEvent(e)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s", text)
		}
		logged = append(logged, record.Events...)
	}
	if len(logged) != len(events) || len(logged) < 20 {
		t.Errorf("%d events logged, %d observed", len(logged), len(events))
	}
	e, err = engine.Resume(dir, "s", options(&events))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
