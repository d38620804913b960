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

// decodeJSON returns the decoded document, with numbers as json.Number. The error is a *SyntaxError or a
// *ConflictError.
func decodeJSON(format Format, src []byte) (map[string]any, error) {
	// Programs disagree about the meaning of bytes that are not UTF-8.
	if offset := text.Invalid(string(src)); offset >= 0 {
		return nil, syntaxError(src, offset, "a byte that is not UTF-8")
	}
	if format == JSONC {
		root, err := parseJSONC(src)
		if err != nil {
			return nil, err
		}
		if root.Value == nil { // the document has only blanks and comments
			return map[string]any{}, nil
		}
		root.Standardize() // removes comments and trailing commas
		src = root.Pack()
	}
	if len(bytes.TrimSpace(src)) == 0 {
		return map[string]any{}, nil
	}
	if invalid, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(src, new(json.RawMessage))); ok {
		e := syntaxError(src, int(invalid.Offset)-1, invalid.Error()) // Offset counts the wrong byte too
		e.Detail += " (comments and trailing commas are not allowed in this file)"
		return nil, e
	}
	var doc any
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, syntaxError(src, int(dec.InputOffset()), err.Error())
	}
	object, ok := doc.(map[string]any)
	if !ok {
		return nil, &ConflictError{Path: []string{"the document"}, Detail: "is not an object in braces", Fix: makeTable}
	}
	return object, nil
}

// parseJSONC parses a document. A document that has only blanks and comments is no error: its Value is nil.
func parseJSONC(src []byte) (hujson.Value, error) {
	depth := 0
	for i, c := range src {
		switch c {
		case '{', '[':
			depth++
			if depth > maxDepth {
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
	if _, errWithValue := hujson.Parse(append(padded, "{}"...)); errWithValue == nil {
		return hujson.Value{}, nil // only a value is missing
	}
	e := syntaxError(src, len(src), err.Error()) // at the end of src, for an error in the line that was added
	var line, column int                         // in padded; only the text of the error has the position
	_, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column)
	if isInSrc := scanErr == nil && line <= e.Line; isInSrc {
		e.Line, e.Column, e.Detail = line, column, text.Cut(errors.Unwrap(err).Error(), 80)
	}
	return hujson.Value{}, e
}

// walk returns the value at path, or else the deepest value on the way there and the rest of path that is missing. A
// value on the way that is not an object, and a key that an object has twice, are a *ConflictError.
func walk(root *hujson.Value, path []string) (value *hujson.Value, missing []string, err error) {
	value = root
	for i, key := range path {
		object, ok := value.Value.(*hujson.Object)
		if !ok {
			return nil, nil, &ConflictError{Path: path[:i], Detail: "is not an object in braces", Fix: makeTable}
		}
		switch found := memberIndexes(object, key); len(found) {
		case 0:
			return value, path[i:], nil
		case 1:
			value = &object.Members[found[0]].Value
		default: // programs disagree about which of the two members counts
			return nil, nil, &ConflictError{Path: path[:i+1], Detail: "is in the file twice", Fix: "remove one of the two"}
		}
	}
	return value, nil, nil
}

// memberIndexes returns the indexes of the members of an object that have a key.
func memberIndexes(object *hujson.Object, key string) (found []int) {
	for i := range object.Members {
		if name, ok := object.Members[i].Name.Value.(hujson.Literal); ok && name.String() == key {
			found = append(found, i)
		}
	}
	return found
}

// setJSON returns src with the members set in the object at path. It makes the objects that are missing.
func setJSON(src []byte, path []string, _ bool, members []Member) ([]byte, error) {
	root, err := parseJSONC(src)
	if err != nil {
		return nil, err
	}
	if root.Value == nil { // src has only blanks and comments: the document begins after these
		eol := newline(src)
		comments := string(src)
		if comments != "" && !strings.HasSuffix(comments, "\n") {
			comments += eol
		}
		document := layout{eol, "  ", " "}.render(nested(path, members), "")
		return []byte(comments + document + eol), nil
	}
	value, missing, err := walk(&root, path)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		members = nested(missing, members)
	}
	for _, m := range members {
		if _, _, err := walk(value, []string{m.Key}); err != nil { // value is no object, or has the key twice
			return nil, err
		}
		setMember(src, value, m)
	}
	return pack(&root), nil
}

// setMember sets a member of parent, which is an object in the document src. If the object has a member with the key,
// setMember replaces only the member's value. Otherwise it adds m at the end of the object.
func setMember(src []byte, parent *hujson.Value, m Member) {
	object, _ := parent.Value.(*hujson.Object) // the caller has checked the type
	if found := memberIndexes(object, m.Key); len(found) > 0 {
		object.Members[found[0]].Value.Value = hujson.Literal(layout{space: " "}.render(m.Value, "")) // on one line
		return
	}
	l := layout{newline(src), indentUnit(src), " "}
	if braceIndent := indentAt(src, parent.StartOffset); len(object.Members) == 0 {
		l.addFirst(object, src, braceIndent, m)
	} else {
		l.addLast(object, braceIndent, m)
	}
}

// addFirst adds a member to an empty object in the document src. The member is on a line of its own if the document has
// several lines or is only {}. braceIndent is the indentation of the closing brace.
func (l layout) addFirst(object *hujson.Object, src []byte, braceIndent string, m Member) {
	document, indent := bytes.TrimSpace(src), braceIndent+l.unit
	before, after := string(object.AfterExtra), "" // the blanks and comments around the member
	if bytes.Contains(document, []byte("\n")) || len(document) == len("{}") {
		before, after = strings.TrimRight(before, " \t\r\n")+l.eol+indent, l.eol+braceIndent
	} else {
		l.eol = "" // the document stays on one line
		if !bytes.Contains(src, []byte(`": `)) {
			l.space = "" // as after the other colons of the document
		}
	}
	l.add(object, before, m, indent, after)
}

// addLast adds a member after the last member of an object. The new member is on a line of its own if the last one is.
func (l layout) addLast(object *hujson.Object, braceIndent string, m Member) {
	last := object.Members[len(object.Members)-1]
	rest := string(object.AfterExtra) // the blanks and comments between the last member and the closing brace
	if isOnOneLine := !bytes.Contains(last.Name.BeforeExtra, []byte("\n")); isOnOneLine {
		l.eol, l.space = "", strings.Repeat(" ", min(1, len(last.Value.BeforeExtra))) // a blank if the last member has any
		l.add(object, l.space, m, "", rest)
		return
	}
	indent := indentAt(last.Name.BeforeExtra, len(last.Name.BeforeExtra))
	line, below, hasBelow := strings.Cut(rest, "\n") // a comment on the line of the last member stays there
	if commentGoesOn := strings.Count(line, "/*") != strings.Count(line, "*/"); !hasBelow || commentGoesOn {
		line, below = strings.TrimRight(rest, " \t\r\n"), braceIndent // all comments stay before the new member
	}
	l.add(object, strings.TrimSuffix(line, "\r")+l.eol+indent, m, indent, l.eol+below)
}

// add adds a member at the end of an object. before and after are the blanks and comments around the new member.
func (l layout) add(object *hujson.Object, before string, m Member, indent, after string) {
	var comma hujson.Extra // nil means no comma after the new member
	if n := len(object.Members); n > 0 && object.Members[n-1].Value.AfterExtra != nil {
		comma = hujson.Extra{} // not nil: a comma, as after the member before
	}
	object.AfterExtra = hujson.Extra(after)
	object.Members = append(object.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra(before), Value: hujson.String(m.Key)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(l.space), Value: hujson.Literal(l.render(m.Value, indent)), AfterExtra: comma},
	})
}

// removeJSON returns src without the member at path, which must exist. Comments beside the member stay.
func removeJSON(src []byte, path []string) ([]byte, error) {
	root, err := parseJSONC(src)
	if err != nil {
		return nil, err
	}
	if _, _, err := walk(&root, path); err != nil { // the member is in no object, or twice in it
		return nil, err
	}
	last := len(path) - 1
	parent, _, _ := walk(&root, path[:last])   // no error: the first walk came this way
	object, _ := parent.Value.(*hujson.Object) // the first walk has checked that it is an object with the member
	removeMember(object, memberIndexes(object, path[last])[0])
	return pack(&root), nil
}

// removeMember removes the member at index from an object. It keeps the comments around the member: they come before
// the next member or, after the last member, before the closing brace.
func removeMember(object *hujson.Object, index int) {
	m := object.Members[index]
	beforeNext := &object.AfterExtra // before the closing brace
	isLast := index == len(object.Members)-1
	if !isLast {
		beforeNext = &object.Members[index+1].Name.BeforeExtra
	}
	comments := commentsAround(m, *beforeNext)
	if isLast && index > 0 { // the member before m becomes the last one, with a comma if m has one
		previous := &object.Members[index-1].Value
		// AfterExtra has the comments between a value and its comma. For the last value, nil means no comma.
		if hasComma := m.Value.AfterExtra != nil; hasComma {
			previous.AfterExtra = append(hujson.Extra{}, previous.AfterExtra...) // not nil: a comma
		} else { // previous loses its comma, but not the comments before the comma
			comments, previous.AfterExtra = slices.Concat(previous.AfterExtra, comments), nil
		}
	}
	*beforeNext = slices.Concat(comments, *beforeNext)
	object.Members = slices.Delete(object.Members, index, index+1)
	if len(object.Members) == 0 && len(bytes.TrimSpace(object.AfterExtra)) == 0 {
		object.AfterExtra = nil // write {}
	}
}

// commentsAround returns the comments before m and after the value of m. The text next will follow these comments. A
// line ending after the comments is kept if one of them begins with // and next does not begin with a line ending.
func commentsAround(m hujson.ObjectMember, next hujson.Extra) hujson.Extra {
	comments := bytes.TrimRight(slices.Concat(m.Name.BeforeExtra, m.Value.AfterExtra), " \t")
	newlineFollows := bytes.HasPrefix(bytes.TrimLeft(next, " \t\r"), []byte("\n"))
	if bytes.Contains(comments, []byte("//")) && !newlineFollows {
		return comments
	}
	return bytes.TrimRight(comments, " \t\r\n")
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

// layout has the blanks between the parts of a document.
type layout struct {
	eol   string // line ending; "" for everything on one line
	unit  string // one level of indentation
	space string // after colons and commas
}

// render returns the value of a [Member] as text. Each member of an object is on a line of its own; if l.eol is empty,
// everything is on one line. indent is the indentation of the line on which the value begins.
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

// indentUnit returns one level of indentation: that of the first indented line, or two spaces if there is none.
func indentUnit(src []byte) string {
	for line := range bytes.Lines(src) {
		text := bytes.TrimLeft(line, " \t")
		if len(text) < len(line) && len(bytes.TrimSpace(text)) > 0 {
			return string(line[:len(line)-len(text)])
		}
	}
	return "  "
}
