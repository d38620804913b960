package tomlpos

import (
	"bytes"
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/convtools/convtools/runtime/base/diag"
)

// maxNames is the greatest number of names in the path of a key.
const maxNames = 128

// Scan indexes a TOML document, TOML 1.1 included. It keeps src. It stops at the first text that its parser does not
// know, and at keys of more than 128 names, see [Index.Deep]; what comes before is indexed.
func Scan(src []byte) *Index {
	x := &Index{source: diag.NewSource(src), root: &node{}}
	text := bytes.TrimPrefix(src, []byte("\uFEFF"))
	s := &scanner{Index: x, src: src, before: len(src) - len(text), table: x.root}
	s.Reset(text)
	for s.deep == (span{}) && s.NextExpression() {
		s.statement(s.Expression())
	}
	// The parser's error has no field for depth.
	var failed *unstable.ParserError
	if errors.As(s.Error(), &failed) && strings.Contains(failed.Message, "nested") {
		s.deep = s.span(s.Range(failed.Highlight))
	}
	x.whole = s.Error() == nil && s.deep == (span{})
	return x
}

// scanner reads the text once.
type scanner struct {
	unstable.Parser
	*Index
	src    []byte
	before int   // length of a byte order mark
	table  *node // the table of `key = value` lines
}

func (s *scanner) span(r unstable.Range) span {
	start := s.before + int(r.Offset)
	return span{start, start + int(r.Length)}
}

// part is one part of a dotted name.
type part struct {
	text string
	at   span
}

func (s *scanner) name(of *unstable.Node) (name []part) {
	for keys := of.Key(); keys.Next(); {
		name = append(name, part{string(keys.Node().Data), s.span(keys.Node().Raw)})
	}
	return name
}

// statement adds a header, or a key with its value.
func (s *scanner) statement(of *unstable.Node) {
	st := Statement{Header: of.Kind != unstable.KeyValue, Array: of.Kind == unstable.ArrayTable}
	name := s.name(of)
	for _, p := range name {
		st.Name = append(st.Name, p.text)
	}
	if st.Header {
		brackets := 1
		if st.Array {
			brackets = 2
		}
		end := name[len(name)-1].at.end
		st.Start = bytes.LastIndexByte(s.src[:name[0].at.start], '[') + 1 - brackets
		st.End = end + bytes.IndexByte(s.src[end:], ']') + brackets
		s.header(name, st)
	} else {
		whole := s.span(of.Raw)
		st.Start, st.Value, st.End = whole.start, s.entry(s.table, of).start, whole.end
	}
	s.statements = append(s.statements, st)
}

// header adds `[a.b]` or `[[a.b]]`.
func (s *scanner) header(name []part, st Statement) {
	n := s.define(s.root, name)
	key, whole := name[len(name)-1].at, span{st.Start, st.End}
	if !n.header {
		n.header, n.key, n.value = true, key, whole
	}
	if st.Array {
		n = n.addElem()
		n.key, n.value = key, whole
	}
	s.table = n
}

// entry adds `a.b = value` to a table, and returns the position of the value.
func (s *scanner) entry(table *node, of *unstable.Node) span {
	name := s.name(of)
	n := s.define(table, name)
	start := name[len(name)-1].at.end
	start += bytes.IndexByte(s.src[start:], '=') + 1
	start += len(s.src[start:]) - len(bytes.TrimLeft(s.src[start:], " \t"))
	n.value = span{start, s.span(of.Raw).end}
	s.inside(n, of.Value())
	return n.value
}

// inside adds the elements and entries of a node's value.
func (s *scanner) inside(n *node, value *unstable.Node) {
	for items := value.Children(); items.Next() && s.deep == (span{}); {
		item := items.Node()
		if item.Kind == unstable.KeyValue {
			s.entry(n, item)
			continue
		}
		elem := n.addElem()
		if item.Raw.Length > 0 {
			elem.value = s.span(item.Raw)
		}
		if item.Kind == unstable.InlineTable { // Raw is its opening brace
			for entries := item.Children(); entries.Next(); {
				elem.value.end = s.span(entries.Node().Raw).end
			}
			elem.value.end += bytes.IndexByte(s.src[elem.value.end:], '}') + 1
		}
		s.inside(elem, item)
	}
}

// define returns the node of a name in a table, and makes the tables on the way.
func (s *scanner) define(table *node, name []part) *node {
	n := table
	for i, p := range name {
		n = n.child(p.text)
		implied := i < len(name)-1
		if n.names > maxNames {
			s.deep = p.at
			return n
		}
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
	return n
}
