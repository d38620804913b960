package tools

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/transcript"
)

// A model is asked with what was said, and with the calls that have an output, each with it.
func TestHistory(t *testing.T) {
	t.Parallel()
	var got []session.Item
	calls := map[string]session.Item{}
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
		got = append(got, historyOf(&e, calls)...)
	}
	message := func(kind model.Kind, origin session.Origin, text string) session.Item {
		return session.Item{Item: model.Text(kind, text), Origin: origin}
	}
	want := []session.Item{
		message(session.UserMessage, session.FromUser, "Plan"),
		{Origin: session.FromModel, Item: model.Item{Kind: session.ToolCall, CallID: "2", Name: "g", Wire: "g", Arguments: "{}"}},
		{Origin: session.FromTool, Item: model.Item{Kind: session.ToolOutput, CallID: "2", Name: "g", Output: "out", Failed: true}},
		message(session.UserMessage, session.FromUser, "Again"),
		{Origin: session.FromModel, Item: model.Item{Kind: session.ToolCall, CallID: "1", Name: "f", Wire: "f", Arguments: "{}"}},
		{Origin: session.FromTool, Item: model.Item{Kind: session.ToolOutput, CallID: "1", Name: "f", Output: "done"}},
		message(session.AgentMessage, session.FromModel, "{\n  \"x\": 1\n}"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
