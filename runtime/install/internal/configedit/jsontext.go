package configedit

import (
	"bytes"
	"slices"
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
func styleOf(src []byte, root *hujson.Value) style {
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
func insert(src []byte, s style, at *hujson.Value, m Member) {
	obj, _ := at.Value.(*hujson.Object)
	text, after := string(obj.AfterExtra), "" // before the member, and behind it
	indent := ""
	var comma hujson.Extra
	switch n := len(obj.Members); {
	case n > 0 && ownLine(&obj.Members[n-1]):
		last := &obj.Members[n-1]
		if s.newline == "" { // there is one, outside of the document's object
			s.newline = newline(src)
		}
		comma, indent = last.Value.AfterExtra, indentIn(last.Name.BeforeExtra)
		behind := lineCommentsEnd(obj.AfterExtra)
		text, after = text[:behind]+s.newline+indent, text[behind:]
	case n > 0:
		last := &obj.Members[n-1]
		s = s.inline()
		s.space = strings.Repeat(" ", min(1, len(last.Value.BeforeExtra)))
		comma, text, after = last.Value.AfterExtra, s.space, text
	case s.newline != "":
		outer := indentAt(src, at.StartOffset)
		indent = outer + s.unit
		comments := strings.TrimRight(text, " \t\r\n")
		if i := strings.LastIndexByte(text[len(comments):], '\n'); i >= 0 {
			text, after = text[:len(comments)+i], text[len(comments)+i:]
			if strings.HasSuffix(text, "\r") {
				text, after = text[:len(text)-1], "\r"+after
			}
		} else {
			after = s.newline + outer
			if comments == "" {
				text = ""
			}
		}
		text += s.newline + indent
	}
	if comma != nil {
		comma = hujson.Extra{} // the last member had one, so this one gets one
	}
	obj.Members = append(obj.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra(text), Value: hujson.String(m.Key)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(s.space), Value: literal(m.Value, indent, s), AfterExtra: comma},
	})
	obj.AfterExtra = hujson.Extra(after)
}

// literal is a value for a tree that is only packed: a literal packs to its bytes,
// whatever they are.
func literal(value any, indent string, s style) hujson.Literal {
	return hujson.Literal(render(value, indent, s))
}

// indentIn returns the blanks that begin the line that is the last of some text.
func indentIn(text []byte) string {
	line := text[bytes.LastIndexByte(text, '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// lineCommentsEnd returns the offset behind the comments that stand on the first
// line of some text.
func lineCommentsEnd(text []byte) int {
	end := 0
	for i := 0; i < len(text); i++ {
		if isBlank(text[i]) {
			continue
		}
		last := commentEnd(text, i)
		if last == i || bytes.IndexByte(text[i:last], '\n') >= 0 {
			break
		}
		i, end = last, last+1
	}
	return end
}

// cut removes a member, its comma, and the line it began. Comments beside it stay.
func cut(at *hujson.Value, index int) {
	obj, _ := at.Value.(*hujson.Object)
	m := obj.Members[index]
	isLast := index == len(obj.Members)-1
	behind := &obj.AfterExtra
	if !isLast {
		behind = &obj.Members[index+1].Name.BeforeExtra
	}
	before, gap, after := string(m.Name.BeforeExtra), string(m.Value.AfterExtra), string(*behind)
	follows := &after
	if gap != "" { // before the comma
		follows = &gap
	}
	next := strings.TrimLeft(*follows, " \t")
	start := strings.TrimRight(before, " \t")
	switch {
	case strings.HasSuffix(start, "\n") && strings.HasPrefix(strings.TrimPrefix(next, "\r"), "\n"):
		// The member has its lines for itself. The line end before it goes, not
		// the one behind: nothing moves up behind a comment then.
		before = strings.TrimSuffix(strings.TrimSuffix(start, "\n"), "\r")
	case index == 0:
		*follows = next
	case !strings.HasSuffix(start, "\n"):
		before = start
	}
	if isLast && index > 0 {
		previous := &obj.Members[index-1].Value
		if m.Value.AfterExtra == nil { // without a comma, so is the one before it now
			before = string(previous.AfterExtra) + before
			previous.AfterExtra = nil
		} else if previous.AfterExtra == nil {
			previous.AfterExtra = hujson.Extra{}
		}
	}
	*behind = hujson.Extra(before + gap + after)
	obj.Members = slices.Delete(obj.Members, index, index+1)
	if len(obj.Members) == 0 && len(bytes.TrimSpace(obj.AfterExtra)) == 0 {
		obj.AfterExtra = nil
	}
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
