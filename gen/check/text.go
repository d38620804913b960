package check

import (
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/gen/spec"
	"github.com/convtools/convtools/runtime/base/text"
)

// The maximum lengths, in characters.
const (
	toolSummary        = 120
	parameterSummary   = 160
	longestDescription = 2048
	longestKeywords    = 200
)

// summary returns the text of f unchanged. It reports a text that does not fit into a list or a table: an empty one, one
// with several lines or more than longest characters, and one with a full stop.
func (c *checker) summary(f spec.Field[string], longest int) string {
	s := f.Value
	switch {
	case !f.Set: // a missing key is reported by the loader if it is required
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

// prose checks a text of paragraphs, and returns it with unwrapped lines. what names the text in messages, and hint
// says what to write if it is empty. longest is its maximum length in characters.
func (c *checker) prose(f spec.Field[string], what string, longest int, hint string) string {
	prose := paragraphs(f.Value)
	switch {
	case !f.Set:
	case prose == "":
		c.report(f.At, "CT004", "the "+what+" is empty", hint)
	case utf8.RuneCountInString(prose) > longest:
		c.reportf(f.At, "CT004", "", "the %s has %d characters; %d are allowed", what, utf8.RuneCountInString(prose), longest)
	case text.Visible(prose) != prose || strings.Contains(prose, "\t"):
		c.report(f.At, "CT004", "the "+what+" has characters that do not show", "")
	}
	return prose
}

// oneLine reports whether s is one line without tabs or invisible characters.
func oneLine(s string) bool { return text.Cell(s) == s }

// paragraphs joins the wrapped lines of each paragraph and list item, and separates paragraphs by one blank line.
func paragraphs(prose string) string {
	var out strings.Builder
	startsParagraph := true
	for line := range strings.Lines(strings.TrimSpace(strings.ReplaceAll(prose, "\r\n", "\n"))) {
		line = strings.TrimRight(line, " \t\n")
		if line == "" {
			if !startsParagraph { // of several blank lines, one remains
				out.WriteString("\n\n")
			}
			startsParagraph = true
			continue
		}
		switch {
		case startsParagraph: // the line keeps its indentation
		case startsItem(line):
			out.WriteByte('\n')
		default:
			out.WriteByte(' ')
			line = strings.TrimLeft(line, " \t")
		}
		out.WriteString(line)
		startsParagraph = false
	}
	return out.String()
}

// startsItem reports whether a line begins an item of a list: with -, * or a number and a dot.
func startsItem(line string) bool {
	if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") {
		return true
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	return digits > 0 && strings.HasPrefix(line[digits:], ". ")
}
