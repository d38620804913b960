package transcript

import "strings"

// IsTool reports whether the recorded name of a called tool is that of a tool.
// Hosts put the name of a server before it, with a separator of their own:
// mcp__convtools__conversation_grep, convtools.conversation_grep.
func IsTool(recorded, tool string) bool {
	server, ok := strings.CutSuffix(recorded, tool)
	return ok && (server == "" || strings.ContainsRune("_./:-", rune(server[len(server)-1])))
}
