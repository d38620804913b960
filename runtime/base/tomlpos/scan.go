package tomlpos

import (
	"bytes"
	"errors"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/convtools/convtools/runtime/base/diag"
)

// maxNames is the greatest number of names in the path of a key.
const maxNames = 128

// Scan returns an index of a TOML document of version 1.0 or 1.1. The index refers to src. Scan stops at the first text
// that its parser refuses, and at a key of more than 128 names. [Index.Deep] returns the position of that key, or of a
// bracket that the parser refuses because arrays and tables are nested too deep.
func Scan(src []byte) *Index {
	x := &Index{source: diag.NewSource(src), root: &node{}}
	text := bytes.TrimPrefix(src, []byte("\uFEFF"))
	s := &scanner{Index: x, src: src, markLength: len(src) - len(text), table: x.root}
	s.Reset(text)
	for s.tooDeep == (span{}) && s.NextExpression() { // until addStatement sets tooDeep to the span of a long key
		s.addStatement(s.Expression())
	}
	failed, ok := errors.AsType[*unstable.ParserError](s.Error())
	if ok && isTooDeep(text, s.Range(failed.Highlight)) {
		s.tooDeep = s.span(s.Range(failed.Highlight))
	}
	x.complete = s.Error() == nil && s.tooDeep == (span{})
	return x
}

// isTooDeep reports whether the parser refuses an array or a table because it is nested too deep. The parser's error
// has no field for that: the error is at an opening bracket after at least 10,000 others, the parser's limit. Brackets
// that are closed, or in strings, count too, so that no deep nesting is missed: the decoder would overflow the stack.
func isTooDeep(text []byte, failed unstable.Range) bool {
	before, at := text[:failed.Offset], text[failed.Offset:]
	isOpening := bytes.HasPrefix(at, []byte("[")) || bytes.HasPrefix(at, []byte("{"))
	return isOpening && bytes.Count(before, []byte("["))+bytes.Count(before, []byte("{")) >= 10_000
}

// scanner reads the text once.
type scanner struct {
	unstable.Parser
	*Index
	src        []byte
	markLength int   // of the byte order mark, or 0
	table      *node // the table of the last header, to which `key = value` lines belong
}

// span returns a range of the parser, which does not see the byte order mark, as offsets in src.
func (s *scanner) span(r unstable.Range) span {
	start := s.markLength + int(r.Offset)
	return span{start, start + int(r.Length)}
}

// part is one part of a dotted name.
type part struct {
	text string
	span span
}

// name returns the name in a header, or that of the key in `key = value`.
func (s *scanner) name(expression *unstable.Node) (name []part) {
	for keys := expression.Key(); keys.Next(); {
		name = append(name, part{string(keys.Node().Data), s.span(keys.Node().Raw)})
	}
	return name
}

// addStatement adds a header, or a key with its value, to the statements and to the nodes.
func (s *scanner) addStatement(expression *unstable.Node) {
	st := Statement{Header: expression.Kind != unstable.KeyValue, Array: expression.Kind == unstable.ArrayTable}
	name := s.name(expression)
	for _, p := range name {
		st.Name = append(st.Name, p.text)
	}
	if st.Header {
		brackets := 1
		if st.Array {
			brackets = 2
		}
		nameStart, nameEnd := name[0].span.start, name[len(name)-1].span.end
		st.Start = bytes.LastIndexByte(s.src[:nameStart], '[') + 1 - brackets // the first of the brackets
		st.End = nameEnd + bytes.IndexByte(s.src[nameEnd:], ']') + brackets
		s.addHeader(name, st)
	} else {
		whole := s.span(expression.Raw)
		st.Start, st.Value, st.End = whole.start, s.addEntry(s.table, expression).start, whole.end
	}
	s.statements = append(s.statements, st)
}

// addHeader adds the node of `[a.b]` or `[[a.b]]`, which becomes the table of the following lines. Of several headers
// with one name the first gives the node its position; `[[a.b]]` also adds an element.
func (s *scanner) addHeader(name []part, st Statement) {
	n := s.define(s.root, name)
	key, whole := name[len(name)-1].span, span{st.Start, st.End}
	if !n.header {
		n.header, n.key, n.value = true, key, whole
	}
	if st.Array {
		n = n.addElem()
		n.key, n.value = key, whole
	}
	s.table = n
}

// addEntry adds the node of `a.b = value` to a table, and returns the span of the value.
func (s *scanner) addEntry(table *node, expression *unstable.Node) span {
	name := s.name(expression)
	n := s.define(table, name)
	nameEnd := name[len(name)-1].span.end
	afterEquals := nameEnd + bytes.IndexByte(s.src[nameEnd:], '=') + 1
	blanks := len(s.src[afterEquals:]) - len(bytes.TrimLeft(s.src[afterEquals:], " \t"))
	n.value = span{afterEquals + blanks, s.span(expression.Raw).end}
	s.addChildren(n, expression.Value())
	return n.value
}

// addChildren adds the elements of an array, or the entries of an inline table, to its node n.
func (s *scanner) addChildren(n *node, value *unstable.Node) {
	for items := value.Children(); items.Next() && s.tooDeep == (span{}); { // until a name is too deep
		item := items.Node()
		if item.Kind == unstable.KeyValue {
			s.addEntry(n, item)
			continue
		}
		elem := n.addElem()
		if hasPosition := item.Raw.Length > 0; hasPosition { // the parser gives none to an array
			elem.value = s.span(item.Raw)
		}
		if item.Kind == unstable.InlineTable { // Raw is only "{": the end has to be found
			for entries := item.Children(); entries.Next(); {
				elem.value.end = s.span(entries.Node().Raw).end
			}
			elem.value.end += bytes.IndexByte(s.src[elem.value.end:], '}') + 1 // the "}" after the last entry, or after "{"
		}
		s.addChildren(elem, item)
	}
}

// define returns the node of a name in a table. It adds a node for each part of the name that has none: the part is the
// position of its key and, for a table that the name only implies, such as a and b in a.b.c, also of its value. At a
// part whose path from the root has more than maxNames names, define sets tooDeep and returns the node of the part.
func (s *scanner) define(table *node, name []part) *node {
	n := table
	for i, p := range name {
		n = n.child(p.text)
		if n.names > maxNames {
			s.tooDeep = p.span
			return n
		}
		isNew := n.key == (span{})
		if isNew {
			n.key = p.span
		}
		if isImplied := i < len(name)-1; isImplied {
			if isNew { // otherwise a header may have set the value
				n.value = p.span
			}
			n = n.newest() // of an array of tables, the last element
		}
	}
	return n
}
