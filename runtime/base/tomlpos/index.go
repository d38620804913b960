// Package tomlpos finds where each key and value of a TOML document stands, so that a diagnostic can point at it.
//
// The TOML decoder decides what a document means and whether it is valid; this package only finds places. It accepts
// more than TOML does, and must never be the reason a document is refused: [Scan] never fails and never panics, takes
// time and memory linear in the text, and where it cannot follow the text it stops and keeps what it has. A place
// that is not known is answered with the nearest one that is ([Index.Lookup]).
package tomlpos

import "github.com/convtools/convtools/runtime/base/diag"

// Index holds the places of the keys and values of one document. It is safe for concurrent use.
type Index struct {
	source *diag.Source
	root   *node
	keys   []*node // as they are written
	whole  bool    // the text was followed to its end
	deep   span

	statements []Statement
}

// span is a half-open range of byte offsets. No key or value is empty, so the zero span means unknown.
type span struct{ start, end int }

// node is a value of the document: what a Path leads to.
type node struct {
	parent *node
	step   Step
	depth  int // steps from the root
	names  int // of these, keys
	key    span
	value  span

	// header reports whether a `[table]` or `[[table]]` line has defined the node: later headers that pass through it
	// do not.
	header bool

	keys  map[string]*node
	elems []*node
}

// last returns the node that a key refers to when it passes through n: the newest element of an array.
func (n *node) last() *node {
	for len(n.elems) > 0 {
		n = n.elems[len(n.elems)-1]
	}
	return n
}

func (n *node) child(key string) *node {
	c := n.keys[key]
	if c == nil {
		c = &node{parent: n, step: Key(key), depth: n.depth + 1, names: n.names + 1}
		if n.keys == nil {
			n.keys = make(map[string]*node)
		}
		n.keys[key] = c
	}
	return c
}

func (n *node) addElem() *node {
	c := &node{parent: n, step: Elem(len(n.elems)), depth: n.depth + 1, names: n.names}
	n.elems = append(n.elems, c)
	return c
}

// Key returns the place of the key at the end of path, quotes included: `name` in `name = 1`, `c` in `[a.b.c]`. A
// table that has no header of its own is found where it is first mentioned. An element of an array of tables has
// the last name in its own `[[header]]`; other elements, and the document itself, have no key.
func (x *Index) Key(path Path) (diag.Span, bool) {
	n, ok := x.find(path)
	if !ok || n.key == (span{}) {
		return diag.Span{}, false
	}
	return x.source.Span(n.key.start, n.key.end), true
}

// Value returns the place of the value at the end of path: the whole text of a string, number, array or inline table.
// The value of a table that has a header is the header, brackets included, and that of an array of tables is its
// first header. A table that is only implied, as a and b are by `a.b.c = 1`, stands where its key does.
func (x *Index) Value(path Path) (diag.Span, bool) {
	n, ok := x.find(path)
	if !ok || n.value == (span{}) {
		return diag.Span{}, false
	}
	return x.source.Span(n.value.start, n.value.end), true
}

// Deep returns the place of the first name or value that is nested too deeply, where indexing ended.
func (x *Index) Deep() (diag.Span, bool) {
	return x.source.Span(x.deep.start, x.deep.end), x.deep != span{}
}

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
		switch {
		case n.value != (span{}):
			return x.source.Span(n.value.start, n.value.end)
		case n.key != (span{}):
			return x.source.Span(n.key.start, n.key.end)
		}
	}
	return diag.Span{}
}

// find returns the node path leads to, or the deepest one on the way and false.
func (x *Index) find(path Path) (*node, bool) {
	n := x.root
	for _, step := range path {
		var next *node
		if !step.elem {
			next = n.keys[step.key]
		} else if step.index >= 0 && step.index < len(n.elems) {
			next = n.elems[step.index]
		}
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}
