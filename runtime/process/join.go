package process

import "strings"

// JoinCommand returns a command line that [SplitCommand] and a POSIX shell split into the given words. A word that has
// only letters, digits and characters of paths stays as it is; any other word is put in single quotes.
func JoinCommand(words ...string) string {
	var line strings.Builder
	for i, word := range words {
		if i > 0 {
			line.WriteByte(' ')
		}
		if word == "" || strings.ContainsFunc(word, needsQuotes) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		line.WriteString(word)
	}
	return line.String()
}

// needsQuotes reports whether a word with the character r needs quotes.
func needsQuotes(r rune) bool {
	return !strings.ContainsRune("/._-+:@", r) && (r < '0' || r > 'z' || r > '9' && r < 'A' || r > 'Z' && r < 'a')
}
