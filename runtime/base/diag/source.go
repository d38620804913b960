package diag

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// byteOrderMark is U+FEFF in UTF-8. Editors hide it, so it takes no column.
const byteOrderMark = "\uFEFF"

// Source is the text of a file with an index of its lines. All positions in a [Span] come from a Source.
type Source struct {
	text   []byte
	starts []int // offset of the first character of each line
}

// NewSource indexes text, which must not be changed while the Source is in use.
func NewSource(text []byte) *Source {
	s := &Source{text: text, starts: []int{0}}
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		s.starts[0] = len(byteOrderMark)
	}
	for i, b := range text {
		if b == '\n' {
			s.starts = append(s.starts, i+1)
		}
	}
	return s
}

// Span returns the span of the half-open byte range [start, end). An offset outside the text counts as the nearest one
// inside, and an offset inside a line ending as the end of the line. If end is before start, the span is empty.
func (s *Source) Span(start, end int) Span {
	line, col := s.position(start)
	endLine, endCol := s.position(max(start, end))
	return Span{Line: line, Col: col, EndLine: endLine, EndCol: endCol}
}

// position returns the line and the column of an offset, both from 1. An offset outside the text counts as the nearest
// one inside, and an offset inside a line ending as the end of the line.
func (s *Source) position(offset int) (line, col int) {
	offset = min(max(offset, s.starts[0]), len(s.text)) // starts[0] is after a byte order mark
	line = sort.SearchInts(s.starts, offset+1)
	text, _ := s.Line(line)
	return line, 1 + utf8.RuneCount(text[:min(offset-s.starts[line-1], len(text))])
}

// Line returns line n (from 1) without its line ending, and reports whether there is one: an empty text has no lines.
func (s *Source) Line(n int) ([]byte, bool) {
	if n < 1 || n > len(s.starts) || len(s.text) == 0 {
		return nil, false
	}
	start := s.starts[n-1]
	if isLast := n == len(s.starts); isLast {
		return s.text[start:], true
	}
	lineFeed := s.starts[n] - 1
	return bytes.TrimSuffix(s.text[start:lineFeed], []byte("\r")), true
}
