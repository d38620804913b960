package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWords is how many words of a pattern are looked for apart from one another.
const maxWords = 8

// wordsOf returns the different words of a pattern: what stands between white
// space, without the punctuation around it unless no letter and no digit is inside. Words of one or
// two letters of the Latin alphabet, which are inside of many others, are left out where
// two longer ones remain. It is nil where there are more than [maxWords].
func wordsOf(pattern string, ignoreCase bool) []string {
	var words []string
	for _, word := range strings.Fields(pattern) {
		if bare := strings.TrimFunc(word, unicode.IsPunct); strings.ContainsFunc(bare, isWordRune) {
			word = bare
		}
		same := func(other string) bool { return other == word || ignoreCase && strings.EqualFold(other, word) }
		if !slices.ContainsFunc(words, same) {
			words = append(words, word)
		}
	}
	if long := slices.DeleteFunc(slices.Clone(words), isShort); len(long) > 1 {
		words = long
	}
	if len(words) > maxWords {
		return nil
	}
	return words
}

func isShort(word string) bool {
	return len(word) <= 2 && !strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf || !unicode.IsLetter(r) })
}
