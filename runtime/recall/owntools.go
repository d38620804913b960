package recall

import (
	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/transcript"
)

// isRecallTool returns a function that reports whether a recorded tool is one of the
// conversation tools. It is called for each tool call of a workspace.
func isRecallTool() func(recorded string) bool {
	var names []string
	for _, tool := range declared() {
		names = append(append(names, tool.Name), tool.Aliases...)
	}
	return func(recorded string) bool { return transcript.IsTool(recorded, names...) }
}

// declared are the conversation tools.
func declared() []contract.Tool {
	return []contract.Tool{
		conversation.RecallTool(), conversation.GrepTool(), conversation.ListTool(), conversation.ReadTool(), conversation.SearchTool(),
	}
}
