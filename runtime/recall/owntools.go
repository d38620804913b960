package recall

import (
	"slices"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/transcript"
)

// isRecallTool reports whether a recorded tool is one of the conversation tools.
func isRecallTool(recorded string) bool {
	return slices.ContainsFunc(recallTools(), func(tool string) bool { return transcript.IsTool(recorded, tool) })
}

// recallTools are the names of the conversation tools.
func recallTools() []string {
	return []string{conversation.GrepTool().Name, conversation.ListTool().Name, conversation.ReadTool().Name}
}
