package transcript

import "strings"

// IsTool reports whether recorded, the name of a called tool, is one of names. A host
// may put the name of the server and a separator before the name of the tool:
// mcp__convtools__conversation_grep, convtools.conversation_grep.
func IsTool(recorded string, names ...string) bool {
	for _, name := range names {
		server, ok := strings.CutSuffix(recorded, name)
		if ok && (server == "" || strings.ContainsRune("_./:-", rune(server[len(server)-1]))) {
			return true
		}
	}
	return false
}
