// Package markdown writes GitHub-flavoured Markdown from untrusted text. Code spans and list items keep their
// meaning; all other markup is escaped, so text can never end a table cell, start a heading or become HTML.
package markdown

import (
	"fmt"
	"strings"
	"unicode"
)

// Inline returns text for one line: of a paragraph, a heading, a table cell or a list item. Line breaks become spaces,
// and text between two backticks becomes code.
func Inline(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "`")
		b.WriteString(escape(before))
		if !ok {
			break
		}
		span, after, closed := strings.Cut(rest, "`")
		if !closed || strings.TrimSpace(span) == "" { // a single backtick is text
			b.WriteString("\\`")
			text = rest
			continue
		}
		b.WriteString(Code(span))
		text = after
	}
	return escapeStart(b.String())
}

// Code returns text as code for one line, which may be in a table cell. Line breaks become spaces.
func Code(text string) string {
	text = visible(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " "))
	if text != "" && text == strings.TrimSpace(text) && !strings.ContainsAny(text, "`|") {
		return "`" + text + "`"
	}
	// Markdown splits a table into cells before it looks for code spans, and a span cannot hold every backtick.
	// Character references can hold anything.
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range text {
		isPlain := r != '_' && (r == ' ' || r >= 0x80 || inWord(r))
		if isPlain {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	b.WriteString("</code>")
	return b.String()
}

// Paragraph returns a paragraph of several lines. A line that begins with "- " stays a list item.
func Paragraph(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if item, ok := strings.CutPrefix(line, "- "); ok {
			lines = append(lines, "- "+Inline(strings.TrimSpace(item)))
			continue
		}
		lines = append(lines, Inline(line))
	}
	return strings.Join(lines, "\n")
}

// Fence returns text as a fenced code block of the given language, with a newline at its end.
func Fence(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		lines = append(lines, visible(line))
	}
	return fence + language + "\n" + strings.Join(lines, "\n") + "\n" + fence + "\n"
}

// Row returns a table row. The cells must be Markdown already.
func Row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// Header returns the header of a table: the row of titles and a rule.
func Header(titles ...string) string {
	return Row(titles...) + strings.Repeat("| --- ", len(titles)) + "|\n"
}

// escape escapes characters that are special inside a line, and spells out invisible ones.
func escape(s string) string {
	var b strings.Builder
	runes := []rune(visible(s))
	for i, r := range runes {
		switch r {
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '_':
			insideWord := i > 0 && inWord(runes[i-1]) && i < len(runes)-1 && inWord(runes[i+1])
			if !insideWord { // where it could mark emphasis
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		case '|':
			b.WriteString("&#124;")
		case '\\', '`', '*', '[', ']', '~', '$':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// inWord reports whether r can be part of a word.
func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// escapeStart escapes markup at the start of a line: headings, lists, rules and underlines of headings. It also removes
// indentation, because Markdown takes an indented line for code.
func escapeStart(s string) string {
	s = strings.TrimLeft(s, " \t")
	if s == "" {
		return s
	}
	if strings.ContainsRune("#-+=", rune(s[0])) {
		return `\` + s
	}
	rest := strings.TrimLeft(s, "0123456789")
	number := strings.TrimSuffix(s, rest)
	if number != "" && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, ")")) { // a numbered item
		return number + `\` + rest
	}
	return s
}

// visible spells out invisible characters, such as controls and direction marks. A tab becomes a space.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case unicode.IsGraphic(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "U+%04X", r)
		}
	}
	return b.String()
}
