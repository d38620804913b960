package recall

import (
	"slices"
	"strings"
	"unicode"
)

// maxWords is how many words of a pattern are looked for apart from one another.
const maxWords = 8

// wordsOf returns the different words of a pattern: what stands between white
// space, without the punctuation around it unless it is nothing else. It is nil where
// there are more than [maxWords].
func wordsOf(pattern string, ignoreCase bool) []string {
	var words []string
	for _, word := range strings.Fields(pattern) {
		if bare := strings.TrimFunc(word, unicode.IsPunct); bare != "" {
			word = bare
		}
		same := func(other string) bool { return other == word || ignoreCase && strings.EqualFold(other, word) }
		if !slices.ContainsFunc(words, same) {
			words = append(words, word)
		}
	}
	if len(words) > maxWords {
		return nil
	}
	return words
}
