// Package tomlpos finds the position of each key and value of a TOML document, for diagnostics.
//
// The TOML decoder decides what is valid. This package never refuses a document: [Scan] stops at text that its parser
// does not know and keeps what it has. [Index.Lookup] returns the nearest known position.
package tomlpos

import (
	"slices"

	"github.com/convtools/convtools/runtime/base/diag"
)

// Path is the path from the root of a document to a value: names of keys in tables, and numbers of elements, from 0,
// in arrays and in `[[arrays.of.tables]]`. The empty path is the document itself.
type Path []any

// Key returns the path to a key of the table at p. It does not change p.
func (p Path) Key(name string) Path { return append(slices.Clip(p), name) }

// Elem returns the path to element i of the array at p. It does not change p.
func (p Path) Elem(i int) Path { return append(slices.Clip(p), i) }

// Index has the positions of the keys and values of one document. It is safe for concurrent use.
type Index struct {
	source     *diag.Source
	root       *node
	tooDeep    span // see Deep
	statements []Statement
	complete   bool // the whole text was parsed
}

// span is a half-open range of byte offsets. No key or value is empty, so the zero span means unknown.
type span struct{ start, end int }

// node is a value at a path.
type node struct {
	parent     *node
	names      int // number of keys in its path
	key, value span
	header     bool // a header has defined the node: the node is not only a part of a longer name
	children   map[any]*node
	elems      int // number of children that are elements
}

// newest returns the last element so far if n is an array of tables, otherwise n. In TOML, a name that goes on after an
// array of tables means this element: after two headers [[a]], the header [a.b] is a table in the second element.
func (n *node) newest() *node {
	for n.elems > 0 {
		n = n.children[n.elems-1]
	}
	return n
}

// child returns the child of n for the name or the number of an element. It adds one if there is none.
func (n *node) child(step any) *node {
	c := n.children[step]
	if c == nil {
		if n.children == nil {
			n.children = map[any]*node{}
		}
		c = &node{parent: n, names: n.names}
		if _, isName := step.(string); isName {
			c.names++ // the keys in the path, which maxNames bounds
		}
		n.children[step] = c
	}
	return c
}

func (n *node) addElem() *node {
	n.elems++
	return n.child(n.elems - 1)
}

// Key returns the position of the key at the end of path, quotes included: `name` in `name = 1`, `c` in `[a.b.c]`. A
// table without a header has the position of its first mention. The key of a table in an array of tables is the last
// name in the `[[header]]` of the table. Key returns false for the items of `[1, 2]` and for the document itself.
func (x *Index) Key(path Path) (diag.Span, bool) {
	n, ok := x.find(path)
	return x.position(n.key, ok)
}

// position returns the position of the span s of a node, or false if s is unknown. ok is false if there is no node.
func (x *Index) position(s span, ok bool) (diag.Span, bool) {
	if !ok || s == (span{}) {
		return diag.Span{}, false
	}
	return x.source.Span(s.start, s.end), true
}

// Deep returns the position of the first key or value that is nested too deeply, where the scan stopped.
func (x *Index) Deep() (diag.Span, bool) { return x.position(x.tooDeep, true) }

// Statement is a header, or a key and its value, on a line of its own. Positions are byte offsets, for editors.
type Statement struct {
	// Header is true for `[name]` and `[[name]]`, Array only for the latter.
	Header, Array bool
	// Name is the name as written: that of a key is relative to the header before it.
	Name []string
	// Start and End enclose the text without blanks and comments. Value is the start of a key's value.
	Start, Value, End int
}

// Statements returns the statements in order, and reports whether the whole document was parsed.
func (x *Index) Statements() (list []Statement, complete bool) { return x.statements, x.complete }

// Lookup returns the position of the value at path or else of the key. If neither has a position, it returns that of the
// nearest value around path, or the zero Span for the whole file. The position of a table with a header is the header,
// brackets included; that of an array of tables is the first header. An array in an array has no position.
func (x *Index) Lookup(path Path) diag.Span {
	n, _ := x.find(path)
	for ; n != nil; n = n.parent {
		for _, s := range []span{n.value, n.key} {
			if position, isKnown := x.position(s, true); isKnown {
				return position
			}
		}
	}
	return diag.Span{}
}

// find returns the node at path and true, or the last node on the way there and false.
func (x *Index) find(path Path) (*node, bool) {
	n := x.root
	for _, step := range path {
		next := n.children[step]
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}
