package check

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/gen/spec"
)

// Lengths in characters.
const (
	toolSummary        = 120
	parameterSummary   = 160
	longestDescription = 2048
)

// summary checks a text that is shown in lists and tables.
func (c *checker) summary(f spec.Field[string], longest int) string {
	s := f.Value
	switch {
	case !f.Set:
	case strings.TrimSpace(s) == "":
		c.report(f.At, "CT003", "the summary is empty", "say in one line what it is")
	case !oneLine(s):
		c.report(f.At, "CT003", "the summary has more than one line, or characters that do not show", "")
	case utf8.RuneCountInString(s) > longest:
		c.reportf(f.At, "CT003", "move the detail into the description", "the summary has %d characters; %d are allowed", utf8.RuneCountInString(s), longest)
	case strings.HasSuffix(s, "."):
		c.report(f.At, "CT003", "the summary ends with a period", "leave it out: summaries are put into lists and sentences")
	}
	return s
}

// prose checks a text of paragraphs. longest is in characters.
func (c *checker) prose(f spec.Field[string], what string, longest int, hint string) string {
	text := paragraphs(f.Value)
	switch {
	case !f.Set:
	case text == "":
		c.report(f.At, "CT004", "the "+what+" is empty", hint)
	case utf8.RuneCountInString(text) > longest:
		c.reportf(f.At, "CT004", "", "the %s has %d characters; %d are allowed", what, utf8.RuneCountInString(text), longest)
	case strings.IndexFunc(text, func(r rune) bool { return r != '\n' && hidden(r) }) >= 0:
		c.report(f.At, "CT004", "the "+what+" has characters that do not show", "")
	}
	return text
}

func oneLine(s string) bool { return strings.IndexFunc(s, hidden) < 0 }

// hidden says that a character does not show, or ends or turns round a line:
// what a reader of a spec or of generated code could be deceived by.
func hidden(r rune) bool {
	switch {
	case unicode.IsControl(r), r == '\ufeff', r == '\u2028', r == '\u2029':
		return true
	default:
		return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r >= 0xe0000 && r <= 0xe007f
	}
}

// paragraphs undoes the wrapping of a text in a spec: lines of one paragraph, or
// of one item of a list, are joined. Between paragraphs is one blank line.
func paragraphs(text string) string {
	var out strings.Builder
	previousBlank := true
	for line := range strings.Lines(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))) {
		line = strings.TrimRight(line, " \t\n")
		switch {
		case line == "":
			if !previousBlank {
				out.WriteString("\n\n")
			}
			previousBlank = true
			continue
		case previousBlank:
		case startsItem(line):
			out.WriteByte('\n')
		default:
			out.WriteByte(' ')
			line = strings.TrimLeft(line, " \t")
		}
		out.WriteString(line)
		previousBlank = false
	}
	return out.String()
}

func startsItem(line string) bool {
	if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") {
		return true
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	return digits > 0 && strings.HasPrefix(line[digits:], ". ")
}
