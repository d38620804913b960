package gocode

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// commentWidth is the length a line of a comment is wrapped at, in characters,
// without its indentation and slashes.
const commentWidth = 77

// doc is a doc comment: one or more paragraphs, wrapped. It returns one piece
// of code for each line, for a caller that adds them one by one.
func doc(paragraphs ...string) []jen.Code {
	var lines []jen.Code
	for _, text := range commentLines(paragraphs) {
		// jennifer prints text that begins with slashes as it is, which is why
		// nothing reaches it here that does not begin with exactly "// ".
		lines = append(lines, jen.Comment(strings.TrimRight("// "+text, " ")))
	}
	return lines
}

// documented puts a doc comment over code.
func documented(code jen.Code, paragraphs ...string) jen.Code {
	s := jen.Empty()
	for _, line := range doc(paragraphs...) {
		s.Add(line).Line()
	}
	return s.Add(code)
}

// commentLines wraps paragraphs. Blank lines within a text part paragraphs too.
func commentLines(paragraphs []string) []string {
	var lines []string
	for _, text := range paragraphs {
		for _, paragraph := range split(text) {
			if len(lines) > 0 {
				lines = append(lines, "")
			}
			lines = append(lines, wrap(paragraph)...)
		}
	}
	return lines
}

// split cuts text into paragraphs at blank lines, each as its words.
func split(text string) [][]string {
	var paragraphs [][]string
	var words []string
	flush := func() {
		if len(words) > 0 {
			paragraphs = append(paragraphs, words)
			words = nil
		}
	}
	for line := range strings.SplitSeq(clean(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			flush()
		}
		words = append(words, fields...)
	}
	flush()
	return paragraphs
}

// clean makes every line break a newline and drops what Go source or a reader
// of it would trip over: control characters, byte order marks, bytes that are
// not UTF-8, and characters that reorder the text around them.
func clean(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	text = strings.NewReplacer(
		"\r\n", "\n",
		// Old build constraints are looked for anywhere before the package clause.
		"+build", "+ build",
		// gofmt makes quotation marks of doubled quotes. Doing it first leaves it
		// nothing to do.
		"``", "\u201c", "''", "\u201d",
	).Replace(text)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
			return '\n'
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), r == '\ufeff':
			return -1
		case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r >= 0xe0000 && r <= 0xe007f:
			return -1
		default:
			return r
		}
	}, text)
}

// oneLine is text as one line of a comment.
func oneLine(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

func wrap(words []string) []string {
	var lines []string
	line, length := "", 0
	for _, word := range words {
		n := utf8.RuneCountInString(word)
		if line != "" && length+1+n > commentWidth {
			lines = append(lines, harmless(line))
			line, length = "", 0
		}
		if line != "" {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+n
	}
	return append(lines, harmless(line))
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
