package tomlpos

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
)

// maxDepth is how many steps a path may have. It bounds the recursion and the work for one header.
const maxDepth = 128

// Scan indexes a TOML document, TOML 1.1 included. It keeps src and gives up at the first text it cannot follow, and
// at paths of more than 128 steps; what stands before is indexed.
func Scan(src []byte) *Index { return ScanNames(src, maxDepth) }

// ScanNames is [Scan] that gives up at keys of more than most names, those of the tables around them included. See
// [Index.Deep].
func ScanNames(src []byte, most int) *Index {
	root := &node{}
	s := &scanner{src: src, table: root, names: min(most, maxDepth), index: &Index{source: diag.NewSource(src), root: root}}
	s.skipByteOrderMark()
	for s.ok() {
		s.line()
	}
	s.index.whole = !s.stopped()
	return s.index
}

// scanner walks over the text once. When it cannot follow it moves to the end (stop), which ends every loop.
type scanner struct {
	src   []byte
	pos   int
	table *node // the table that `key = value` lines belong to
	names int   // that a key may have
	index *Index
}

func (s *scanner) ok() bool { return s.pos < len(s.src) }

func (s *scanner) stop() { s.pos = len(s.src) + 1 }

func (s *scanner) stopped() bool { return s.pos > len(s.src) }

// peek returns the next byte, or 0 at the end of the text.
func (s *scanner) peek() byte {
	if s.ok() {
		return s.src[s.pos]
	}
	return 0
}

func (s *scanner) at(token string) bool {
	end := s.pos + len(token)
	return end <= len(s.src) && string(s.src[s.pos:end]) == token
}

// accept moves over token if it is next.
func (s *scanner) accept(token string) bool {
	if !s.at(token) {
		return false
	}
	s.pos += len(token)
	return true
}

// expect moves over token, and stops when it is not there.
func (s *scanner) expect(token string) {
	if !s.accept(token) {
		s.stop()
	}
}

// skipByteOrderMark also skips the UTF-16 marks: the decoder drops them and reads on, as UTF-8.
func (s *scanner) skipByteOrderMark() {
	_ = s.accept("\uFEFF") || s.accept("\xFF\xFE") || s.accept("\xFE\xFF")
}

func (s *scanner) blanks() {
	for s.peek() == ' ' || s.peek() == '\t' {
		s.pos++
	}
}

func (s *scanner) newline() bool { return s.accept("\n") || s.accept("\r\n") }

// comment moves to the end of the line if a comment is next.
func (s *scanner) comment() {
	if s.peek() != '#' {
		return
	}
	if n := bytes.IndexByte(s.src[s.pos:], '\n'); n >= 0 {
		s.pos += n
	} else {
		s.pos = len(s.src)
	}
}

// blankLines moves over blanks, comments and line breaks.
func (s *scanner) blankLines() {
	for {
		s.blanks()
		s.comment()
		if !s.newline() {
			return
		}
	}
}

// line reads one line of the document, or several when a value goes over several.
func (s *scanner) line() {
	s.blanks()
	st := Statement{Start: s.pos}
	var name []part
	switch {
	case s.at("[["):
		st.Header, st.Array = true, true
		name = s.header("[[", "]]")
	case s.at("["):
		st.Header = true
		name = s.header("[", "]")
	case s.ok() && !s.at("#") && !s.at("\n") && !s.at("\r"):
		name, st.Value = s.entry(s.table)
	}
	if name != nil && !s.stopped() {
		st.End = s.pos
		for _, p := range name {
			st.Name = append(st.Name, p.text)
		}
		s.index.statements = append(s.index.statements, st)
	}
	s.blanks()
	s.comment()
	if s.ok() && !s.newline() {
		s.stop()
	}
}

// header reads `[a.b]` or `[[a.b]]`, and returns the name.
func (s *scanner) header(open, end string) []part {
	start := s.pos
	s.expect(open)
	name := s.name(s.index.root)
	s.expect(end)
	n := s.define(s.index.root, name)
	if n == nil {
		return nil
	}
	whole := span{start, s.pos}
	if !n.header {
		n.header, n.key, n.value = true, name[len(name)-1].at, whole
	}
	if open == "[[" {
		n = n.addElem()
		n.key, n.value = name[len(name)-1].at, whole
	}
	s.table = n
	s.index.keys = append(s.index.keys, n)
	return name
}

// entry reads `a.b = value` into a table, and returns the name and where the value
// begins.
func (s *scanner) entry(table *node) (_ []part, value int) {
	name := s.name(table)
	s.expect("=")
	n := s.define(table, name)
	if n == nil {
		return nil, 0
	}
	s.index.keys = append(s.index.keys, n)
	s.blanks()
	value = s.pos
	s.value(n)
	return name, value
}

// part is one part of a dotted name.
type part struct {
	text string
	at   span
}

// define returns the node that name leads to from a table, with the tables on the way. It returns nil after the
// scanner has stopped, or to make it stop.
func (s *scanner) define(table *node, name []part) *node {
	if s.stopped() {
		return nil
	}
	n := table
	for i, p := range name {
		n = n.child(p.text)
		implied := i < len(name)-1
		if n.key == (span{}) {
			n.key = p.at
			if implied {
				n.value = p.at
			}
		}
		if implied {
			n = n.last()
		}
	}
	if n.depth >= maxDepth {
		s.index.deep = name[len(name)-1].at
		s.stop()
		return nil
	}
	return n
}

// name reads a dotted name in a table, and the blanks around it.
func (s *scanner) name(table *node) []part {
	var parts []part
	for {
		s.blanks()
		start := s.pos
		text, ok := s.namePart()
		if ok && table.names+len(parts) == s.names {
			s.index.deep = span{start, s.pos}
			ok = false
		}
		if !ok {
			s.stop()
			return nil
		}
		parts = append(parts, part{text, span{start, s.pos}})
		s.blanks()
		if !s.accept(".") {
			return parts
		}
	}
}

func (s *scanner) namePart() (string, bool) {
	start := s.pos
	if quote := s.peek(); quote == '"' || quote == '\'' {
		s.text()
		if s.stopped() {
			return "", false
		}
		if quote == '"' {
			return unescape(string(s.src[start:s.pos]))
		}
		return string(s.src[start+1 : s.pos-1]), true
	}
	for isBareKeyByte(s.peek()) {
		s.pos++
	}
	return string(s.src[start:s.pos]), s.pos > start
}

// value reads the value of a node.
func (s *scanner) value(n *node) {
	start := s.pos
	switch {
	case s.at(`"`), s.at(`'`):
		s.text()
	case s.at("["):
		s.array(n)
	case s.at("{"):
		s.inlineTable(n)
	default:
		s.scalar()
	}
	if !s.stopped() {
		n.value = span{start, s.pos}
	}
}

func (s *scanner) array(n *node) {
	s.expect("[")
	for {
		s.blankLines()
		if s.accept("]") {
			return
		}
		if s.ok() && n.depth >= maxDepth {
			s.index.deep = span{s.pos, s.pos + 1}
			s.stop()
		}
		if !s.ok() {
			s.stop()
			return
		}
		s.value(n.addElem())
		s.blankLines()
		if !s.accept(",") {
			s.expect("]")
			return
		}
	}
}

func (s *scanner) inlineTable(n *node) {
	s.expect("{")
	s.blankLines()
	for s.ok() && !s.at("}") {
		s.entry(n)
		s.blankLines()
		if !s.accept(",") {
			break
		}
		s.blankLines()
	}
	s.expect("}")
}

// text reads a string of any of the four kinds. All quotes in a row at the end of one of several lines are part of
// the value: TOML lets two of them belong to the text.
func (s *scanner) text() {
	quote := string(s.src[s.pos])
	quotes := quote
	if s.at(quote + quote + quote) {
		quotes = quote + quote + quote
	}
	s.expect(quotes)
	for s.ok() && !s.at(quotes) && (quotes != quote || !s.at("\n")) {
		if quote == `"` && s.at(`\`) {
			s.pos++
		}
		s.pos = min(s.pos+1, len(s.src))
	}
	s.expect(quotes)
	for quotes != quote && s.accept(quote) {
	}
}

// scalar reads a number, a boolean, a date or a time.
func (s *scanner) scalar() {
	start := s.pos
	for isBareKeyByte(s.peek()) || s.at("+") || s.at(".") || s.at(":") {
		s.pos++
		// A date and its time may stand apart by one blank.
		if s.pos-start == len("2006-01-02") && s.src[start+4] == '-' && s.at(" ") &&
			s.pos+1 < len(s.src) && s.src[s.pos+1] >= '0' && s.src[s.pos+1] <= '9' {
			s.pos++
		}
	}
	if s.pos == start {
		s.stop()
		return
	}
}

// unescape returns the text of a basic string, given with its quotes. The escapes of TOML are Go's, but for \e, and
// for \x, which is a code point and not a byte.
func unescape(quoted string) (string, bool) {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], true
	}
	text, err := strconv.Unquote(strings.NewReplacer(`\\`, `\\`, `\e`, `\u001b`, `\x`, `\u00`).Replace(quoted))
	return text, err == nil
}
