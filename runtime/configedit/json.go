package configedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/convtools/convtools/runtime/base/text"
)

// maxDepth is the greatest depth of a document with comments: its parser recurses without a bound.
const maxDepth = 10_000

func decodeJSON(format Format, src []byte) (map[string]any, error) {
	// Readers disagree about bytes that are not text.
	if at := text.Invalid(string(src)); at >= 0 {
		return nil, syntaxError(src, at, "a byte that is not UTF-8")
	}
	if format == JSONC {
		root, err := parseJSONC(src)
		if err != nil {
			return nil, err
		}
		if root.Value == nil {
			return map[string]any{}, nil
		}
		root.Standardize()
		src = root.Pack()
	}
	if len(bytes.TrimSpace(src)) == 0 {
		return map[string]any{}, nil
	}
	var doc any
	var invalid *json.SyntaxError
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	if err := json.Unmarshal(src, new(json.RawMessage)); errors.As(err, &invalid) {
		e := syntaxError(src, int(invalid.Offset)-1, invalid.Error())
		e.Detail += " (comments and trailing commas are not allowed in this file)"
		return nil, e
	}
	if err := dec.Decode(&doc); err != nil {
		return nil, syntaxError(src, int(dec.InputOffset()), err.Error())
	}
	object, ok := doc.(map[string]any)
	if !ok {
		return nil, &ConflictError{Path: []string{"the document"}, Detail: "is not an object in braces", Fix: makeTable}
	}
	return object, nil
}

// parseJSONC parses a document. The value of one with blanks and comments only is nil.
func parseJSONC(src []byte) (hujson.Value, error) {
	depth := 0
	for i, c := range src {
		switch c {
		case '{', '[':
			if depth++; depth > maxDepth {
				return hujson.Value{}, syntaxError(src, i, fmt.Sprintf("nested more than %d levels deep", maxDepth))
			}
		case '}', ']':
			depth--
		}
	}
	// A comment may end with the file, but hujson requires a line ending.
	padded := append(src[:len(src):len(src)], '\n')
	root, err := hujson.Parse(padded)
	if err == nil {
		return root, nil
	}
	if _, other := hujson.Parse(append(padded, "{}"...)); other == nil {
		return hujson.Value{}, nil
	}
	e := syntaxError(src, len(src), err.Error())
	// The errors of hujson have no fields.
	var line, column int
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr == nil && line <= e.Line {
		e.Line, e.Column, e.Detail = line, column, text.Cut(errors.Unwrap(err).Error(), 80)
	}
	return hujson.Value{}, e
}

// walk returns the value at a path, or the deepest one on the way and the rest of the path.
func walk(root *hujson.Value, path []string) (at *hujson.Value, missing []string, err error) {
	at = root
	for i, key := range path {
		object, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil, nil, &ConflictError{Path: path[:i], Detail: "is not an object in braces", Fix: makeTable}
		}
		switch found := indexes(object, key); len(found) {
		case 0:
			return at, path[i:], nil
		case 1:
			at = &object.Members[found[0]].Value
		default: // readers disagree about which one counts
			return nil, nil, &ConflictError{Path: path[:i+1], Detail: "is in the file twice", Fix: "remove one of the two"}
		}
	}
	return at, nil, nil
}

// indexes returns the indexes of the members with a name.
func indexes(object *hujson.Object, key string) (found []int) {
	for i := range object.Members {
		if name, ok := object.Members[i].Name.Value.(hujson.Literal); ok && name.String() == key {
			found = append(found, i)
		}
	}
	return found
}

// setJSON sets members in the object at path.
func setJSON(src []byte, path []string, _ bool, members []Member) ([]byte, error) {
	root, err := parseJSONC(src)
	if err != nil {
		return nil, err
	}
	if root.Value == nil {
		out := bytes.Clone(src)
		if len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, newline(src)...)
		}
		return append(out, layout{newline(src), "  ", " "}.render(nested(path, members), "")+newline(src)...), nil
	}
	at, missing, err := walk(&root, path)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		members = nested(missing, members)
	}
	for _, m := range members {
		if _, _, err := walk(at, []string{m.Key}); err != nil {
			return nil, err
		}
		setMember(src, at, m)
	}
	return pack(&root), nil
}

// setMember sets a member of an object. A new one has the layout of the one before it.
func setMember(src []byte, at *hujson.Value, m Member) {
	object, _ := at.Value.(*hujson.Object) // walk has checked it
	if found := indexes(object, m.Key); len(found) > 0 {
		object.Members[found[0]].Value.Value = hujson.Literal(layout{space: " "}.render(m.Value, ""))
		return
	}
	layout := layout{newline(src), indentUnit(src), " "}
	outer := indentAt(src, at.StartOffset)
	indent := outer + layout.unit
	lines := bytes.Contains(bytes.TrimSpace(src), []byte("\n")) || len(bytes.TrimSpace(src)) == len("{}")
	if !lines && !bytes.Contains(src, []byte(`": `)) {
		layout.space = ""
	}
	var comma hujson.Extra // nil means no comma at the end
	if n := len(object.Members); n > 0 {
		last := &object.Members[n-1]
		if lines = bytes.Contains(last.Name.BeforeExtra, []byte("\n")); lines {
			indent = indentAt(last.Name.BeforeExtra, len(last.Name.BeforeExtra))
		} else {
			layout.space = strings.Repeat(" ", min(1, len(last.Value.BeforeExtra)))
		}
		if last.Value.AfterExtra != nil {
			comma = hujson.Extra{}
		}
	}
	before, after := string(object.AfterExtra), ""
	switch {
	case lines && len(object.Members) > 0: // comments on the line of the last member stay there
		if end := strings.IndexByte(before, '\n'); end >= 0 && strings.Count(before[:end], "/*") == strings.Count(before[:end], "*/") {
			before, after = strings.TrimSuffix(before[:end], "\r"), before[end:]
			if strings.HasSuffix(layout.eol, "\r\n") {
				after = "\r" + after
			}
		} else {
			before, after = strings.TrimRight(before, " \t\r\n"), layout.eol+outer
		}
		before += layout.eol + indent
	case lines:
		before, after = strings.TrimRight(before, " \t\r\n")+layout.eol+indent, layout.eol+outer
	default:
		layout.eol = ""
		if len(object.Members) > 0 {
			before, after = layout.space, before
		}
	}
	object.AfterExtra = hujson.Extra(after)
	object.Members = append(object.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra(before), Value: hujson.String(m.Key)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(layout.space), Value: hujson.Literal(layout.render(m.Value, indent)), AfterExtra: comma},
	})
}

// removeJSON removes an existing member. Comments beside it stay.
func removeJSON(src []byte, path []string) ([]byte, error) {
	root, err := parseJSONC(src)
	if err != nil {
		return nil, err
	}
	last := len(path) - 1
	if _, _, err := walk(&root, path); err != nil {
		return nil, err
	}
	at, _, err := walk(&root, path[:last])
	if err != nil {
		return nil, err
	}
	object, _ := at.Value.(*hujson.Object) // walk has checked it
	cut(object, indexes(object, path[last])[0])
	return pack(&root), nil
}

// cut removes a member.
func cut(object *hujson.Object, index int) {
	m := object.Members[index]
	behind := &object.AfterExtra
	isLast := index == len(object.Members)-1
	if !isLast {
		behind = &object.Members[index+1].Name.BeforeExtra
	}
	comments := bytes.TrimRight(slices.Concat(m.Name.BeforeExtra, m.Value.AfterExtra), " \t")
	if next := bytes.TrimLeft(*behind, " \t\r"); bytes.HasPrefix(next, []byte("\n")) || !bytes.Contains(comments, []byte("//")) {
		comments = bytes.TrimRight(comments, " \t\r\n")
	}
	if isLast && index > 0 {
		previous := &object.Members[index-1].Value
		if m.Value.AfterExtra == nil { // without a comma at the end
			comments, previous.AfterExtra = slices.Concat(previous.AfterExtra, comments), nil
		} else if previous.AfterExtra == nil {
			previous.AfterExtra = hujson.Extra{}
		}
	}
	*behind = slices.Concat(comments, *behind)
	object.Members = slices.Delete(object.Members, index, index+1)
	if len(object.Members) == 0 && len(bytes.TrimSpace(object.AfterExtra)) == 0 {
		object.AfterExtra = nil
	}
}

// pack returns the text of a document from [parseJSONC].
func pack(root *hujson.Value) []byte { return bytes.TrimSuffix(root.Pack(), []byte("\n")) }

// nested wraps members in objects, one for each element of path.
func nested(path []string, members []Member) []Member {
	for i := len(path) - 1; i >= 0; i-- {
		members = []Member{{path[i], members}}
	}
	return members
}

// layout is the layout of a document.
type layout struct {
	eol   string // line ending; "" for everything on one line
	unit  string // one level of indentation
	space string // after colons and commas
}

// render returns a value as text: a string, a bool, a list of strings on one line, members as an object on lines after
// one with that indentation, or a list of such objects.
func (l layout) render(value any, indent string) string {
	var items []string
	switch v := value.(type) {
	case string:
		return string(hujson.String(v))
	case bool:
		return string(hujson.Bool(v))
	case []string:
		for _, item := range v {
			items = append(items, string(hujson.String(item)))
		}
		return "[" + strings.Join(items, ","+l.space) + "]"
	case [][]Member:
		for _, item := range v {
			items = append(items, l.render(item, indent))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case []Member:
		for _, m := range v {
			items = append(items, string(hujson.String(m.Key))+":"+l.space+l.render(m.Value, indent+l.unit))
		}
	}
	if l.eol == "" {
		return "{" + strings.Join(items, ","+l.space) + "}"
	}
	inner := l.eol + indent + l.unit
	return "{" + inner + strings.Join(items, ","+inner) + l.eol + indent + "}"
}

// indentAt returns the indentation of the line at an offset.
func indentAt(src []byte, offset int) string {
	line := src[bytes.LastIndexByte(src[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// indentUnit returns the indentation of the first indented line, as one level.
func indentUnit(src []byte) string {
	for line := range bytes.Lines(src) {
		text := bytes.TrimLeft(line, " \t")
		if len(text) < len(line) && len(bytes.TrimSpace(text)) > 0 {
			return string(line[:len(line)-len(text)])
		}
	}
	return "  "
}
