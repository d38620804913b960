package configedit

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// style is how a document is laid out, so that what is added looks like the rest.
type style struct {
	newline string // "" for everything on one line
	unit    string // one level of indentation
	space   string // behind colons and commas
}

// inline is the style of a value that stays on its line.
func (s style) inline() style { return style{space: s.space} }

// styleOf reads the style off the first member that begins a line.
func styleOf(src []byte, root hujson.Value) style {
	s := style{newline: newline(src), unit: "  ", space: " "}
	for v := range root.All() {
		obj, ok := v.Value.(*hujson.Object)
		if !ok || len(obj.Members) == 0 {
			continue
		}
		if first := &obj.Members[0]; ownLine(first) {
			inner, outer := indentAt(src, first.Name.StartOffset), indentAt(src, v.StartOffset)
			if unit, ok := strings.CutPrefix(inner, outer); ok && unit != "" {
				s.unit = unit
			}
			break
		}
	}
	obj, ok := root.Value.(*hujson.Object)
	if ok && len(obj.Members) > 0 && bytes.IndexByte(src[root.StartOffset:root.EndOffset], '\n') < 0 {
		s.newline = ""
		if len(obj.Members[0].Value.BeforeExtra) == 0 {
			s.space = ""
		}
	}
	return s
}

// ownLine reports whether a member begins a line.
func ownLine(m *hujson.ObjectMember) bool {
	return bytes.IndexByte(m.Name.BeforeExtra, '\n') >= 0
}

// newDocument puts an object behind whatever comments a document has.
func newDocument(src []byte, s style, members []Member) []byte {
	out := bytes.Clone(src)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, s.newline...)
	}
	out = append(out, render(members, "", s)...)
	return append(out, s.newline...)
}

// insert adds a member at the end of an object, behind the comments that belong
// to the line of the last one.
func insert(src []byte, s style, at *hujson.Value, m Member) []byte {
	obj, _ := at.Value.(*hujson.Object)
	if len(obj.Members) == 0 {
		return insertFirst(src, s, at, obj, m)
	}
	last := &obj.Members[len(obj.Members)-1]
	end, trailing := memberEnd(src, last)
	comma := change{last.Value.EndOffset, last.Value.EndOffset, ","}
	if !ownLine(last) {
		line := s.inline()
		line.space = strings.Repeat(" ", min(1, len(last.Value.BeforeExtra)))
		text := line.space + property(m, "", line)
		if trailing {
			return splice(src, change{end, end, text + ","})
		}
		return splice(src, comma, change{end, end, text})
	}
	indent := indentAt(src, last.Name.StartOffset)
	behind := lineCommentsEnd(src, end)
	if s.newline == "" { // the newline is outside of the object
		s.newline = newline(src)
	}
	text := s.newline + indent + property(m, indent, s)
	if trailing {
		return splice(src, change{behind, behind, text + ","})
	}
	return splice(src, comma, change{behind, behind, text})
}

// insertFirst adds a member to an object that has none.
func insertFirst(src []byte, s style, at *hujson.Value, obj *hujson.Object, m Member) []byte {
	open, closing := at.StartOffset+1, at.EndOffset-1
	if s.newline == "" {
		return splice(src, change{closing, closing, property(m, "", s)})
	}
	outer := indentAt(src, at.StartOffset)
	text := s.newline + outer + s.unit + property(m, outer+s.unit, s)
	inside := []byte(obj.AfterExtra)
	blanks := len(inside) - len(bytes.TrimRight(inside, " \t\r\n"))
	tail := closing - blanks // where the white space before the brace begins
	if i := bytes.LastIndexByte(src[tail:closing], '\n'); i >= 0 {
		at := tail + i
		if at > open && src[at-1] == '\r' {
			at--
		}
		return splice(src, change{at, at, text})
	}
	if tail == open {
		return splice(src, change{open, closing, text + s.newline + outer})
	}
	return splice(src, change{closing, closing, text + s.newline + outer})
}

// memberEnd returns the offset behind a member and its comma.
func memberEnd(src []byte, m *hujson.ObjectMember) (end int, comma bool) {
	end = m.Value.EndOffset
	if at := end + len(m.Value.AfterExtra); src[at] == ',' {
		return at + 1, true
	}
	return end, false
}

// lineCommentsEnd returns the offset behind the comments that stand on the rest
// of a line.
func lineCommentsEnd(src []byte, from int) int {
	end := from
	for i := from; i < len(src); i++ {
		if isBlank(src[i]) {
			continue
		}
		last := commentEnd(src, i)
		if last == i || bytes.IndexByte(src[i:last], '\n') >= 0 {
			break
		}
		i, end = last, last+1
	}
	return end
}

// cut removes a member, its comma, and the line it began.
func cut(src []byte, at *hujson.Value, index int) []byte {
	obj, _ := at.Value.(*hujson.Object)
	m := &obj.Members[index]
	from, to := m.Name.StartOffset, m.Value.EndOffset
	end, comma := memberEnd(src, m)
	edits := []change{}
	if comma {
		if end == to+1 {
			to = end
		} else { // a comment stands before it
			edits = append(edits, change{end - 1, end, ""})
		}
	}
	if index == len(obj.Members)-1 && index > 0 && !comma {
		if previous, ok := memberEnd(src, &obj.Members[index-1]); ok {
			edits = append(edits, change{previous - 1, previous, ""})
		}
	}
	start := from
	for start > 0 && isBlank(src[start-1]) {
		start--
	}
	next := to
	for next < len(src) && isBlank(src[next]) {
		next++
	}
	switch {
	case src[start-1] == '\n' && (src[next] == '\n' || src[next] == '\r'):
		// The member has its lines for itself. The line end before it goes, not
		// the one behind: nothing moves up behind a comment then.
		from = start - 1
		if src[from-1] == '\r' {
			from--
		}
	case index == 0:
		to = next
	case src[start-1] != '\n':
		from = start
	}
	edits = append(edits, change{from, to, ""})
	if len(obj.Members) == 1 {
		inside := splice(src[:at.EndOffset-1], edits...)[at.StartOffset+1:]
		if len(bytes.TrimSpace(inside)) == 0 {
			edits = []change{{at.StartOffset + 1, at.EndOffset - 1, ""}}
		}
	}
	return splice(src, edits...)
}

// property writes a member; indent is that of the line it stands on.
func property(m Member, indent string, s style) string {
	return string(hujson.String(m.Key)) + ":" + s.space + render(m.Value, indent, s)
}

// render writes a value: a string, a bool, a list of strings on one line, or
// members as an object.
func render(value any, indent string, s style) string {
	switch v := value.(type) {
	case string:
		return string(hujson.String(v))
	case bool:
		return string(hujson.Bool(v))
	case []string:
		var items []string
		for _, item := range v {
			items = append(items, string(hujson.String(item)))
		}
		return "[" + strings.Join(items, ","+s.space) + "]"
	case []Member:
		inner, lead, tail := indent, "", ""
		separator := "," + s.space
		if s.newline != "" {
			inner += s.unit
			lead, tail = s.newline+inner, s.newline+indent
			separator = "," + lead
		}
		var parts []string
		for _, m := range v {
			parts = append(parts, property(m, inner, s))
		}
		return "{" + lead + strings.Join(parts, separator) + tail + "}"
	}
	return "null"
}
