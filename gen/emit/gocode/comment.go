package gocode

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
)

// commentWidth is the maximum length of a comment line, in characters, without its indentation and slashes.
const commentWidth = 77

// comment returns paragraphs as wrapped comment lines. Blank lines in a text separate paragraphs too.
func comment(paragraphs ...string) code {
	var lines code
	for _, prose := range paragraphs {
		for block := range strings.SplitSeq(clean(prose), "\n\n") {
			words := strings.Fields(block)
			if len(words) == 0 {
				continue
			}
			if len(lines) > 0 {
				lines = append(lines, "//")
			}
			lines = append(lines, wrap(words)...)
		}
	}
	return lines
}

// clean turns every line break into a newline, and makes invisible characters visible. It also breaks "+build",
// because the go command looks for old build constraints anywhere before the package clause.
func clean(s string) string {
	breaks := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n", "+build", "+ build")
	return text.Visible(breaks.Replace(s))
}

// oneLine returns a text as one line of a comment.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// wrap returns words as comment lines. A word that is too long for a line has one of its own.
func wrap(words []string) code {
	lines := code{"//"}
	for _, word := range words {
		last := lines[len(lines)-1]
		if last != "//" && utf8.RuneCountInString(last+word) > len("//")+commentWidth {
			lines = append(lines, "// "+word)
		} else {
			lines[len(lines)-1] += " " + word
		}
	}
	return lines
}

// sentence returns a summary on one line with a full stop, unless it is empty or ends like a sentence.
func sentence(summary string) string {
	summary = oneLine(summary)
	if summary == "" || strings.ContainsAny(summary[len(summary)-1:], ".!?:") {
		return summary
	}
	return summary + "."
}

// lowerFirst returns a summary with a lower-case first letter, unless its second letter is upper case.
func lowerFirst(summary string) string {
	r, size := utf8.DecodeRuneInString(summary)
	next, _ := utf8.DecodeRuneInString(summary[size:])
	if unicode.IsUpper(next) {
		return summary
	}
	return string(unicode.ToLower(r)) + summary[size:]
}
