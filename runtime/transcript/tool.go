package transcript

import "strings"

// IsTool reports whether recorded, the name of a called tool, is one of names. In recorded, the name of a server and a
// separator may be before the name of the tool: mcp__convtools__conversation_grep, convtools.conversation_grep.
func IsTool(recorded string, names ...string) bool {
	for _, name := range names {
		before, ok := strings.CutSuffix(recorded, name)
		if ok && (before == "" || strings.ContainsRune("_./:-", rune(before[len(before)-1]))) {
			return true
		}
	}
	return false
}
