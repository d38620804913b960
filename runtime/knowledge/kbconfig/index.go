package kbconfig

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// index knows where the keys of a document stand, which the decoder does not
// tell. It follows everything that the decoder accepts, and more: it must not be
// relied on to find mistakes. Where it cannot follow it stops and keeps what it
// has.
type index struct {
	src   string
	pos   int
	deep  int   // offset of the first key that is too deep, if that is above 0
	lines []int // offsets of the lines
	root  node
}

// node is a key, or the document. What an array holds shares its node.
type node struct {
	depth int  // of tables around it
	at    int  // offset of the key where it is first mentioned, or of its header
	fixed bool // it has a header
	keys  map[string]*node
	elems []int // offsets of the elements of an array
}

func newIndex(src string) *index {
	x := &index{src: src, lines: []int{0}}
	for i := range len(src) {
		if src[i] == '\n' {
			x.lines = append(x.lines, i+1)
		}
	}
	return x
}

// position returns the line and column of an offset.
func (x *index) position(offset int) (line, column int) {
	offset = max(0, min(offset, len(x.src)))
	line = sort.SearchInts(x.lines, offset+1)
	return line, utf8.RuneCountInString(x.src[x.lines[line-1]:offset]) + 1
}

// key returns where a key stands, or the nearest known one of the tables around
// it; 0, 0 is the document.
func (x *index) key(path []string) (line, column int) {
	n := x.find(path)
	if n == &x.root {
		return 0, 0
	}
	return x.position(n.at)
}

// elem returns where an element of an array stands, or else what key returns.
func (x *index) elem(i int, path []string) (line, column int) {
	if n := x.find(path); i < len(n.elems) {
		return x.position(n.elems[i])
	}
	return x.key(path)
}

func (x *index) find(path []string) *node {
	n := &x.root
	for _, name := range path {
		next := n.keys[name]
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// scan reads the document. When a key is too deep it stops there and says so.
func (x *index) scan() (at int, deep bool) {
	table := &x.root
	for x.pos < len(x.src) {
		x.blankLines()
		switch {
		case x.pos == len(x.src):
		case x.accept("["):
			x.accept("[")
			if table = x.define(&x.root, true); table == nil {
				x.stop()
			}
			x.accept("]")
			x.accept("]")
		default:
			x.entry(table)
		}
	}
	return x.deep, x.deep > 0
}

func (x *index) stop() { x.pos = len(x.src) }

func (x *index) peek() byte {
	if x.pos < len(x.src) {
		return x.src[x.pos]
	}
	return 0
}

// accept moves over token if it is next.
func (x *index) accept(token string) bool {
	if !strings.HasPrefix(x.src[x.pos:], token) {
		return false
	}
	x.pos += len(token)
	return true
}

func (x *index) skip(set string) {
	for x.pos < len(x.src) && strings.IndexByte(set, x.src[x.pos]) >= 0 {
		x.pos++
	}
}

// blankLines moves over blanks, comments and line breaks.
func (x *index) blankLines() {
	for {
		x.skip(" \t\r\n")
		if x.peek() != '#' {
			return
		}
		if n := strings.IndexByte(x.src[x.pos:], '\n'); n >= 0 {
			x.pos += n
		} else {
			x.stop()
		}
	}
}

// entry reads `a.b = value` into a table.
func (x *index) entry(table *node) {
	n := x.define(table, false)
	if n == nil || !x.accept("=") {
		x.stop()
		return
	}
	x.skip(" \t")
	x.value(n)
}

// define reads a dotted name and returns the node that it leads to from a table,
// or nil when there is no name or it is too deep. A table stands where its header is, if it has one.
func (x *index) define(n *node, header bool) *node {
	for {
		x.skip(" \t")
		start := x.pos
		name, ok := x.name()
		if n.depth == maxDepth {
			x.deep = start
			return nil
		}
		if !ok {
			return nil
		}
		x.skip(" \t")
		more := x.accept(".")
		next := n.keys[name]
		if next == nil {
			next = &node{at: start, depth: n.depth + 1}
			if n.keys == nil {
				n.keys = map[string]*node{}
			}
			n.keys[name] = next
		}
		if header && !more && !next.fixed {
			next.at, next.fixed = start, true
		}
		n = next
		if !more {
			return n
		}
	}
}

func (x *index) name() (string, bool) {
	start := x.pos
	switch x.peek() {
	case '"':
		x.text()
		return unquote(x.src[start:x.pos])
	case '\'':
		x.text()
		return strings.Trim(x.src[start:x.pos], "'"), true
	}
	for isBare(x.peek()) {
		x.pos++
	}
	return x.src[start:x.pos], x.pos > start
}

func isBare(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// unquote returns the text of a quoted key. The escapes of TOML are Go's, but for
// \e, and for \x, which is a code point and not a byte.
func unquote(quoted string) (string, bool) {
	if strings.IndexByte(quoted, '\\') >= 0 {
		quoted = strings.NewReplacer(`\\`, `\\`, `\e`, `\u001b`, `\x`, `\u00`).Replace(quoted)
	}
	text, err := strconv.Unquote(quoted)
	return text, err == nil
}

// value moves over a value and notes what is in it. Nesting is bounded before a
// document is indexed.
func (x *index) value(n *node) {
	switch x.peek() {
	case '"', '\'':
		x.text()
	case '[':
		x.array(n)
	case '{':
		x.pos++
		for x.blankLines(); x.pos < len(x.src) && !x.accept("}"); x.blankLines() {
			x.entry(n)
			x.blankLines()
			x.accept(",")
		}
	default:
		for x.pos < len(x.src) && strings.IndexByte(",]}#\r\n", x.src[x.pos]) < 0 {
			x.pos++
		}
	}
}

func (x *index) array(n *node) {
	x.pos++
	var elems []int
	for x.blankLines(); x.pos < len(x.src) && !x.accept("]"); x.blankLines() {
		start := x.pos
		elems = append(elems, start)
		x.value(n)
		x.blankLines()
		if x.accept(","); x.pos == start {
			x.stop() // nothing here is a value
		}
	}
	n.elems = elems // of the outermost array
}

// text moves over a string of any of the four kinds.
func (x *index) text() {
	quote := x.src[x.pos : x.pos+1]
	closing := quote
	if x.accept(quote + quote + quote) {
		closing = quote + quote + quote
	} else {
		x.pos++
	}
	for x.pos < len(x.src) {
		switch {
		case x.accept(closing):
			// Up to two quotes more belong to the text.
			for len(closing) == 3 && x.accept(quote) {
			}
			return
		case quote == `"` && x.src[x.pos] == '\\':
			x.pos = min(x.pos+2, len(x.src))
		default:
			x.pos++
		}
	}
}
