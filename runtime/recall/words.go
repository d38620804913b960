package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWords is how many words of a text are looked for.
const maxWords = 16

// wordsOf returns the different words of a text, without the punctuation around them unless no
// letter and no digit is inside. Words of one or two letters of the Latin alphabet, which are
// inside of many others, are left out where two longer ones remain, and the shortest where there
// are more than can be looked for.
func wordsOf(s string, ignoreCase bool) []string {
	var words []string
	for _, word := range strings.Fields(s) {
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
	for len(words) > maxWords {
		shortest := slices.MinFunc(words, func(a, b string) int { return len(a) - len(b) })
		words = slices.Delete(words, slices.Index(words, shortest), slices.Index(words, shortest)+1)
	}
	return words
}

func isShort(word string) bool {
	return len(word) <= 2 && !strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf || !unicode.IsLetter(r) })
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
