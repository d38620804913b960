package recall

import (
	"slices"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/transcript"
)

// isRecallTool returns a function that reports whether a recorded tool is one of the
// conversation tools. It is called for each tool call of a workspace.
func isRecallTool() func(recorded string) bool {
	tools := declared()
	return func(recorded string) bool {
		return slices.ContainsFunc(tools, func(tool contract.Tool) bool { return transcript.IsTool(recorded, tool.Name) })
	}
}

// declared are the conversation tools.
func declared() []contract.Tool {
	return []contract.Tool{
		conversation.RecallTool(), conversation.GrepTool(), conversation.ListTool(), conversation.ReadTool(), conversation.SearchTool(), conversation.ContextTool(),
	}
}
