package sessionhost

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/session"
)

// A model is asked with what was said, and with the calls that have an output, each with it.
func TestHistory(t *testing.T) {
	t.Parallel()
	const events = `[
		{"type":"turn_start"},
		{"type":"tool_call_response","id":"0","content":"of no call"},
		{"type":"chat_request","content":"Plan"},
		{"type":"chat_response","reasoning":"I think"},
		{"type":"chat_response","message":""},
		{"type":"tool_call_request","id":"1","name":"f","arguments":{"a":1}},
		{"type":"tool_call_request","id":"2","name":"g","arguments":{}},
		{"type":"inquiry_request","id":"1.x"},
		{"type":"tool_call_response","id":"2","content":"out","is_error":true},
		{"type":"turn_start"},
		{"type":"chat_request","content":"Again"},
		{"type":"tool_call_request","id":"1","name":"f","arguments":{}},
		{"type":"tool_call_response","id":"1","content":"done"},
		{"type":"chat_response","data":{"x":1}},
		{"type":"tool_call_request","id":"3","name":"f","arguments":{}}
	]`
	var all []recordedEvent
	if err := json.Unmarshal([]byte(events), &all); err != nil {
		t.Fatal(err)
	}
	h := history{open: map[string]int{}}
	for _, e := range all {
		h.take(e)
	}
	h.answered()
	message := func(kind session.Kind, origin session.Origin, text string) session.Item {
		return session.Item{Kind: kind, Origin: origin, Parts: []session.Part{{Text: text}}}
	}
	want := []session.Item{
		message(session.UserMessage, session.FromUser, "Plan"),
		{Kind: session.ToolCall, Origin: session.FromModel, CallID: "2", Name: "g", Tool: "g", Arguments: "{}"},
		{Kind: session.ToolOutput, Origin: session.FromTool, CallID: "2", Tool: "g", Content: "out"},
		message(session.UserMessage, session.FromUser, "Again"),
		{Kind: session.ToolCall, Origin: session.FromModel, CallID: "1", Name: "f", Tool: "f", Arguments: "{}"},
		{Kind: session.ToolOutput, Origin: session.FromTool, CallID: "1", Tool: "f", Content: "done", Success: true},
		message(session.AgentMessage, session.FromModel, `{"x":1}`),
	}
	if diff := cmp.Diff(want, h.items); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
