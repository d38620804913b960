// Package tomlpos finds where each key and value of a TOML document stands, so that a diagnostic can point at it.
//
// The TOML decoder decides what a document means and whether it is valid; this package only finds places. It must
// never be the reason a document is refused: [Scan] never fails, and where its parser cannot follow the text it stops
// and keeps what it has. A place that is not known is answered with the nearest one that is ([Index.Lookup]).
package tomlpos

import (
	"slices"

	"github.com/convtools/convtools/runtime/base/diag"
)

// Path leads from the root of a document to a value: by the names of keys in tables, and by the numbers of elements,
// from 0, in arrays and in `[[arrays.of.tables]]`. The empty path is the document itself.
type Path []any

// Key returns the path to a key of the table p leads to. It leaves p alone, also when several paths grow from it.
func (p Path) Key(name string) Path { return append(slices.Clip(p), name) }

// Elem returns the path to element i of the array p leads to. It leaves p alone.
func (p Path) Elem(i int) Path { return append(slices.Clip(p), i) }

// Index holds the places of the keys and values of one document. It is safe for concurrent use.
type Index struct {
	source     *diag.Source
	root       *node
	deep       span
	statements []Statement
	whole      bool // the text was followed to its end
}

// span is a half-open range of byte offsets. No key or value is empty, so the zero span means unknown.
type span struct{ start, end int }

// node is a value of the document: what a Path leads to.
type node struct {
	parent     *node
	names      int // keys on the way to it
	key, value span
	header     bool // a header has defined it: later headers that pass through it do not
	children   map[any]*node
	elems      int // of its children, elements
}

// last returns the node that a key refers to when it passes through n: the newest element of an array.
func (n *node) last() *node {
	for n.elems > 0 {
		n = n.children[n.elems-1]
	}
	return n
}

// child returns the node of a name, or of an element, which it makes if there is none.
func (n *node) child(step any) *node {
	c := n.children[step]
	if c == nil {
		if n.children == nil {
			n.children = map[any]*node{}
		}
		c = &node{parent: n, names: n.names}
		if _, name := step.(string); name {
			c.names++
		}
		n.children[step] = c
	}
	return c
}

func (n *node) addElem() *node {
	n.elems++
	return n.child(n.elems - 1)
}

// Key returns the place of the key at the end of path, quotes included: `name` in `name = 1`, `c` in `[a.b.c]`. A
// table that has no header of its own is found where it is first mentioned. An element of an array of tables has
// the last name in its own `[[header]]`; other elements, and the document itself, have no key.
func (x *Index) Key(path Path) (diag.Span, bool) {
	n, ok := x.find(path)
	return x.place(n.key, ok)
}

// Value returns the place of the value at the end of path: the whole text of a string, number, array or inline table.
// The value of a table that has a header is the header, brackets included, and that of an array of tables is its
// first header. A table that is only implied, as a and b are by `a.b.c = 1`, stands where its key does. The value of an
// array in an array has no place of its own.
func (x *Index) Value(path Path) (diag.Span, bool) {
	n, ok := x.find(path)
	return x.place(n.value, ok)
}

func (x *Index) place(s span, ok bool) (diag.Span, bool) {
	if !ok || s == (span{}) {
		return diag.Span{}, false
	}
	return x.source.Span(s.start, s.end), true
}

// Deep returns the place of the first key or value that is nested too deeply, where indexing ended.
func (x *Index) Deep() (diag.Span, bool) { return x.place(x.deep, true) }

// Statement is a header, or a key and its value, that begins a line of its own. Its places are byte offsets, for who
// edits the text.
type Statement struct {
	// Header marks `[name]`, and Array `[[name]]` too.
	Header, Array bool
	// Name is what is written: that of a key is relative to the header before it.
	Name []string
	// Start and End are around the text, without blanks and comments. Value is where a key's value begins.
	Start, Value, End int
}

// Statements returns the statements in the order of the document, and reports whether there are no more because the
// document ends.
func (x *Index) Statements() (list []Statement, whole bool) { return x.statements, x.whole }

// Lookup returns the place of the value at the end of path, or else of the nearest ancestor whose place is known. It
// is the zero Span, the whole file, when that is the document itself.
func (x *Index) Lookup(path Path) diag.Span {
	n, _ := x.find(path)
	for ; n != nil; n = n.parent {
		for _, s := range []span{n.value, n.key} {
			if at, ok := x.place(s, true); ok {
				return at
			}
		}
	}
	return diag.Span{}
}

// find returns the node path leads to, or the deepest one on the way and false.
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
