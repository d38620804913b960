package process

import "strings"

// JoinCommand writes words as a command line from which [SplitCommand], and a POSIX
// shell, get the same words again. Words of nothing but letters, digits and
// characters of paths stay as they are, all others stand in single quotes.
func JoinCommand(words ...string) string {
	var line strings.Builder
	for i, word := range words {
		if i > 0 {
			line.WriteByte(' ')
		}
		if word != "" && !strings.ContainsFunc(word, isQuoted) {
			line.WriteString(word)
			continue
		}
		line.WriteString("'" + strings.ReplaceAll(word, "'", `'\''`) + "'")
	}
	return line.String()
}

// isQuoted reports whether a character has a word quoted.
func isQuoted(r rune) bool {
	return !strings.ContainsRune("/._-+:@", r) && (r < '0' || r > 'z' || r > '9' && r < 'A' || r > 'Z' && r < 'a')
}
