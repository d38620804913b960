package diagprint

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
)

const (
	tabStop = 4

	// An excerpt shows at most excerptChars characters of a line. If the line is longer, it shows excerptLead
	// characters before the span.
	excerptChars = 120
	excerptLead  = 40

	// mostShown is the maximum number of diagnostics to print. One broken file can have thousands.
	mostShown = 200
)

// Text prints the list for people: each diagnostic with its source, and an empty line between two.
//
//	specs/list.toml:12:1: error: unknown key "requird" [SP003]
//	  12 | requird = true
//	     | ^^^^^^^
//	  hint: did you mean "required"?
//
// Text prints at most 200 diagnostics and the number of the others. For a span over several lines it shows the first
// and the last line. It expands tabs, and aligns carets under wide and combining characters on a terminal that
// follows Unicode's widths.
//
// source returns the text of a file in the list, or nil if there is none; then there is no excerpt. Text calls it
// once per file. source may be nil. Text returns the errors of w.
func Text(w io.Writer, list diag.List, source func(file string) []byte) error {
	out := bufio.NewWriter(w)
	var src *diag.Source
	list = list.Sorted()
	notShown := max(len(list)-mostShown, 0)
	for i, d := range list[:len(list)-notShown] {
		if i == 0 || d.File != list[i-1].File { // the first diagnostic of a file
			src = nil
			if source != nil && d.File != "" {
				src = diag.NewSource(source(d.File))
			}
		}
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(d.String() + "\n")
		if src != nil && !d.Span.IsZero() {
			out.WriteString(excerpt(src, d.Span))
		}
		if d.Hint != "" {
			hint := strings.ReplaceAll(strings.TrimRight(d.Hint, "\r\n"), "\r\n", "\n")
			out.WriteString("  hint: " + strings.ReplaceAll(text.Source(hint, "\n"), "\n", "\n        ") + "\n")
		}
	}
	if notShown > 0 {
		out.WriteString("\n… and " + strconv.Itoa(notShown) + " more\n")
	}
	return out.Flush()
}

// excerpt returns the first and the last source line of a span, with carets under the characters of the span. The span
// ends before the column EndCol. excerpt returns "" if the span does not begin in the source.
func excerpt(src *diag.Source, span diag.Span) string {
	first, ok := src.Line(span.Line)
	if !ok {
		return ""
	}
	if span.EndLine < span.Line { // a span without an end is empty
		span.EndLine, span.EndCol = span.Line, span.Col
	}
	const lineEnd = 1 << 30                           // a column after the last one of every line
	if span.EndLine > span.Line && span.EndCol <= 1 { // the span ends with the line break of the line before
		span.EndLine, span.EndCol = span.EndLine-1, lineEnd
	}
	last, ok := src.Line(span.EndLine)
	if !ok { // the source has no such line: show only the first
		span.EndLine, span.EndCol = span.Line, lineEnd
	}
	digits := len(strconv.Itoa(span.EndLine))
	var b strings.Builder
	writeRow := func(gutter, content string) {
		line := "  " + strings.Repeat(" ", digits-len(gutter)) + gutter + " | " + content
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	writeLine := func(number int, line []byte, from, to int) {
		shown, carets := underline(line, from, to)
		writeRow(strconv.Itoa(number), shown)
		writeRow("", carets)
	}
	if span.EndLine == span.Line {
		writeLine(span.Line, first, span.Col, span.EndCol)
		return b.String()
	}
	writeLine(span.Line, first, span.Col, lineEnd)
	if span.EndLine > span.Line+1 {
		writeRow("", "...")
	}
	indent := len(last) - len(strings.TrimLeft(string(last), " \t"))
	writeLine(span.EndLine, last, indent+1, span.EndCol)
	return b.String()
}

// underline returns a printable form of a line, and carets to print below its columns [from, to). A column is a
// character, counted from 1. A character has one cell of the terminal, two if it is wide, and none if it is a combining
// mark. An empty span has one caret, and so has a span after the last character. A long line is shortened around from.
func underline(line []byte, from, to int) (shown, carets string) {
	rest := string(line)
	count := utf8.RuneCountInString(rest)
	from = min(max(from, 1), count+1)
	to = min(to, count+1)

	var out []byte
	x := 0   // the number of cells written
	col := 1 // the column of the first character of rest
	if count > excerptChars && from > excerptLead+1 {
		for ; col < from-excerptLead; col++ {
			_, size := utf8.DecodeRuneInString(rest)
			rest = rest[size:]
		}
		out, x = append(out, "…"...), 1
	}

	caretFrom, caretTo := -1, 0
	cell := x // the first cell of the character; for a combining mark, of the character before it
	previous := rune(-1)
	for end := col + excerptChars; rest != "" && col < end; col++ {
		r, size := utf8.DecodeRuneInString(rest)
		var cells int // of the character
		if r == '\t' {
			cells = tabStop - x%tabStop
			out = append(out, strings.Repeat(" ", cells)...)
		} else {
			start := len(out)
			out = text.AppendSource(out, rest[:size], "")
			if cells = len(out) - start; string(out[start:]) == rest[:size] { // the character is not escaped
				cells = text.RuneWidth(r, previous)
			}
		}
		if cells > 0 {
			cell = x
		}
		x += cells
		switch {
		case col == from && from >= to: // the span is empty
			caretFrom, caretTo = cell, cell+1
		case col == from:
			caretFrom, caretTo = cell, x
		case from < col && col < to:
			caretTo = x
		}
		previous = r
		rest = rest[size:]
	}
	if caretFrom < 0 { // the span begins after the last character
		caretFrom = x
	}
	if rest != "" {
		out = append(out, "…"...)
	}
	return string(out), strings.Repeat(" ", caretFrom) + strings.Repeat("^", max(caretTo-caretFrom, 1))
}
