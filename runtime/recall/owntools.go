package recall

import (
	"slices"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/transcript"
)

// isRecallTool returns a function that reports whether a recorded tool is one of the
// conversation tools. It is called for each tool call of a workspace.
func isRecallTool() func(recorded string) bool {
	tools := []string{conversation.GrepTool().Name, conversation.ListTool().Name, conversation.ReadTool().Name}
	return func(recorded string) bool {
		return slices.ContainsFunc(tools, func(tool string) bool { return transcript.IsTool(recorded, tool) })
	}
}
