package process

import "strings"

// JoinCommand returns a command line that [SplitCommand], and a POSIX shell, split into the same words. It puts words
// in single quotes unless they have only letters, digits and characters of paths.
func JoinCommand(words ...string) string {
	var line strings.Builder
	for i, word := range words {
		if i > 0 {
			line.WriteByte(' ')
		}
		if word != "" && !strings.ContainsFunc(word, needsQuotes) {
			line.WriteString(word)
			continue
		}
		line.WriteString("'" + strings.ReplaceAll(word, "'", `'\''`) + "'")
	}
	return line.String()
}

// needsQuotes reports whether a word with the character r needs quotes.
func needsQuotes(r rune) bool {
	return !strings.ContainsRune("/._-+:@", r) && (r < '0' || r > 'z' || r > '9' && r < 'A' || r > 'Z' && r < 'a')
}
