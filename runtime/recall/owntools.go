package recall

import (
	"strings"

	"github.com/convtools/convtools/generated/conversation"
)

// isRecallTool reports whether a recorded tool is one of the conversation tools.
// Hosts put the name of a server before that of a tool, with a separator of their
// own: mcp__convtools__conversation_grep, convtools.conversation_grep.
func isRecallTool(recorded string) bool {
	for _, tool := range []string{conversation.GrepTool().Name, conversation.ListTool().Name, conversation.ReadTool().Name} {
		before, found := strings.CutSuffix(recorded, tool)
		if found && (before == "" || strings.ContainsRune("_./:-", rune(before[len(before)-1]))) {
			return true
		}
	}
	return false
}
