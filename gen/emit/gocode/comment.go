package gocode

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
)

// commentWidth is the length a line of a comment is wrapped at, in characters,
// without its indentation and slashes.
const commentWidth = 77

// comment is one or more paragraphs, wrapped.
func comment(paragraphs ...string) code {
	lines := commentLines(paragraphs)
	for i, line := range lines {
		lines[i] = strings.TrimRight("// "+line, " ")
	}
	return lines
}

// commentLines wraps paragraphs. Blank lines within a text part paragraphs too.
func commentLines(paragraphs []string) []string {
	var lines []string
	for _, block := range paragraphs {
		for _, paragraph := range split(block) {
			if len(lines) > 0 {
				lines = append(lines, "")
			}
			lines = append(lines, wrap(paragraph)...)
		}
	}
	return lines
}

// split cuts a text into paragraphs at blank lines, each as its words.
func split(prose string) [][]string {
	var paragraphs [][]string
	var words []string
	flush := func() {
		if len(words) > 0 {
			paragraphs = append(paragraphs, words)
			words = nil
		}
	}
	for line := range strings.SplitSeq(clean(prose), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			flush()
		}
		words = append(words, fields...)
	}
	flush()
	return paragraphs
}

// clean makes every line break a newline, and everything visible that Go source
// or a reader of it would trip over.
func clean(s string) string {
	if harmlessText(s) {
		return s
	}
	return text.Visible(harmful().Replace(s))
}

// harmlessText reports whether clean has nothing to do, as with most texts: they are
// of printable ASCII, and none of what it replaces is in them.
func harmlessText(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '\n' && (c < ' ' || c > '~') || i > 0 && c == s[i-1] && (c == '`' || c == '\'') || c == '+' {
			return false
		}
	}
	return true
}

// harmful is made once: it takes longer than most texts.
var harmful = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(
		"\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n",
		// Old build constraints are looked for anywhere before the package clause.
		"+build", "+ build",
		// gofmt makes quotation marks of doubled quotes. Doing it first leaves it
		// nothing to do.
		"``", "\u201c", "''", "\u201d",
	)
})

// oneLine is a text as one line of a comment.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

func wrap(words []string) []string {
	var lines []string
	first, length := 0, 0 // of the line: its first word, and its characters
	for i, word := range words {
		n := utf8.RuneCountInString(word)
		if i > first {
			if length++; length+n > commentWidth {
				lines = append(lines, harmless(strings.Join(words[first:i], " ")))
				first, length = i, 0
			}
		}
		length += n
	}
	return append(lines, harmless(strings.Join(words[first:], " ")))
}

// harmless quotes the beginning of a line where a tool that reads comments
// could take it for an instruction.
func harmless(line string) string {
	first, rest, spaced := strings.Cut(line, " ")
	lower := strings.ToLower(first)
	directive := false
	for _, prefix := range []string{"//", "/*", "go:", "line:", "export:", "nolint", "lint:"} {
		directive = directive || strings.HasPrefix(lower, prefix)
	}
	if !directive {
		return line
	}
	if spaced {
		rest = " " + rest
	}
	return "\u201c" + first + "\u201d" + rest
}

// sentence makes a summary end as a sentence.
func sentence(summary string) string {
	summary = oneLine(summary)
	if summary == "" || strings.ContainsAny(summary[len(summary)-1:], ".!?:") {
		return summary
	}
	return summary + "."
}

// lowerFirst makes a summary fit into a sentence. Words of capitals stay.
func lowerFirst(summary string) string {
	r, size := utf8.DecodeRuneInString(summary)
	next, _ := utf8.DecodeRuneInString(summary[size:])
	if unicode.IsUpper(next) {
		return summary
	}
	return string(unicode.ToLower(r)) + summary[size:]
}
