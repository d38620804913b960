package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// wordsOf returns the different words of a pattern: what stands between white space, or
// the signs of a regular expression for any text, without the punctuation around it
// unless no letter and no digit is inside. Words of one or two letters of the Latin
// alphabet, which are inside of many others, are left out where two longer ones remain,
// and the shortest where there are more than can be looked for.
func wordsOf(pattern string, ignoreCase bool) []string {
	var words []string
	for _, word := range strings.Fields(anyText().Replace(pattern)) {
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
	for len(words) > conversations.MaxWords {
		shortest := slices.MinFunc(words, func(a, b string) int { return len(a) - len(b) })
		words = slices.Delete(words, slices.Index(words, shortest), slices.Index(words, shortest)+1)
	}
	return words
}

func isShort(word string) bool {
	return len(word) <= 2 && !strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf || !unicode.IsLetter(r) })
}

// anyText replaces the signs of a regular expression that stand for any text, or for
// white space.
func anyText() *strings.Replacer {
	return strings.NewReplacer(".*?", " ", ".*", " ", ".+?", " ", ".+", " ", `\s*`, " ", `\s+`, " ", `\s`, " ", `\w+`, " ", `\b`, "")
}

// asRead returns what a pattern stands for that was taken from the arguments of a tool call
// as conversation_read shows them: JSON, while the text that is searched has no escapes. Of
// several lines it is the longest; empty where there are no escapes.
func asRead(pattern string) string {
	longest := ""
	for line := range strings.Lines(string(transcript.AppendUnescaped(nil, []byte(pattern)))) {
		if line = strings.Trim(line, "\r\n"); len(line) > len(longest) {
			longest = line
		}
	}
	if longest == pattern || strings.TrimSpace(longest) == "" || strings.ContainsFunc(longest, isControl) {
		return ""
	}
	return longest
}

func isControl(r rune) bool { return unicode.IsControl(r) && r != '\t' }

// maxAlternatives is how many alternatives of a regular expression are looked for.
const maxAlternatives = 8

// alternatives returns what a pattern stands for where it is read as a simple regular
// expression: what is on the sides of each bar, without escapes. It is nil where that is
// the pattern itself.
func alternatives(pattern string) []string {
	var list []string
	for _, side := range strings.Split(strings.ReplaceAll(pattern, `\|`, "|"), "|") {
		if side != pattern { // a parenthesis around alternatives
			side = strings.TrimPrefix(strings.TrimPrefix(side, "("), "?:")
			if !strings.HasSuffix(side, `\)`) {
				side = strings.TrimSuffix(side, ")")
			}
		}
		side = strings.TrimSuffix(strings.TrimPrefix(side, "^"), "$")
		side = strings.Join(strings.Fields(unescaped(anyText().Replace(side))), " ")
		if side != "" && side != pattern && !slices.Contains(list, side) {
			list = append(list, side)
		}
	}
	return list[:min(len(list), maxAlternatives)]
}

// eitherOf returns the alternatives that a pattern consists of, to be looked for in its
// place: from two to maxAlternatives, none of them blank or of one character. It is nil
// for any other pattern.
func eitherOf(pattern string) []string {
	sides := strings.Split(pattern, "|")
	isBlank := func(side string) bool { return strings.TrimSpace(side) == "" }
	list := alternatives(pattern)
	isLetter := func(side string) bool { return utf8.RuneCountInString(side) < 2 }
	if len(sides) > maxAlternatives || slices.ContainsFunc(sides, isBlank) || len(list) < 2 || slices.ContainsFunc(list, isLetter) {
		return nil
	}
	return list
}

// unescaped leaves out the backslash before each punctuation mark.
func unescaped(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if s[i] != '\\' || i+1 == len(s) || !isSign(s[i+1]) {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func isSign(c byte) bool { return strings.IndexByte(`.*+?()[]{}|^$-/"'`, c) >= 0 }

// isRegexp reports whether a pattern has signs that seem to be meant as those of a
// regular expression.
func isRegexp(pattern string) bool {
	if strings.Contains(pattern, "|") || anyText().Replace(pattern) != pattern || unescaped(pattern) != pattern {
		return true
	}
	return strings.HasPrefix(pattern, "^") || strings.HasSuffix(pattern, "$")
}
