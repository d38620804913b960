package sessionhost

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/transcript"
)

// A model is asked with what was said, and with the calls that have an output, each with it.
func TestHistory(t *testing.T) {
	t.Parallel()
	h := history{open: map[string]int{}}
	for _, e := range []transcript.Event{
		{Kind: transcript.KindTurnStart},
		{Kind: transcript.KindToolResult, CallID: "0", Text: []byte("of no call")},
		{Kind: transcript.KindUser, Text: []byte("Plan")},
		{Kind: transcript.KindReasoning, Text: []byte("I think")},
		{Kind: transcript.KindAssistant},
		{Kind: transcript.KindToolCall, CallID: "1", Name: "f", Arguments: []byte(`{"a":1}`)},
		{Kind: transcript.KindToolCall, CallID: "2", Name: "g", Arguments: []byte(`{ }`)},
		{Kind: transcript.KindInquiry, CallID: "1.x"},
		{Kind: transcript.KindToolResult, CallID: "2", Text: []byte("out"), Failed: true},
		{Kind: transcript.KindTurnStart},
		{Kind: transcript.KindUser, Text: []byte("Again")},
		{Kind: transcript.KindToolCall, CallID: "1", Name: "f", Arguments: []byte(`{}`)},
		{Kind: transcript.KindToolResult, CallID: "1", Text: []byte("done")},
		{Kind: transcript.KindStructured, Arguments: []byte(`{ "x": 1 }`)},
		{Kind: transcript.KindToolCall, CallID: "3", Name: "f", Arguments: []byte(`{}`)},
	} {
		h.take(&e)
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
