package configedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tailscale/hujson"

	"github.com/convtools/convtools/runtime/base/text"
)

const notJSON = " (comments and trailing commas are not allowed in this file)"

// parseJSON parses a document. An empty one, or one of comments only, has a root
// of kind 0.
func parseJSON(format Format, src []byte) (hujson.Value, error) {
	if err := checkDepth(src); err != nil {
		return hujson.Value{}, err
	}
	// A comment may end with the file, for editors; hujson wants its line ended.
	padded := append(src[:len(src):len(src)], '\n')
	root, err := hujson.Parse(padded)
	if err != nil {
		if _, other := hujson.Parse(append(padded, "{}"...)); other != nil {
			return hujson.Value{}, jsonSyntax(src, err)
		}
		if text := bytes.TrimLeft(src, " \t\r\n"); format == JSON && len(text) > 0 {
			line, column := position(src, len(src)-len(text))
			return hujson.Value{}, &SyntaxError{line, column, "a comment" + notJSON}
		}
		return hujson.Value{}, nil // there is nothing but blanks and comments
	}
	if format == JSON {
		var invalid *json.SyntaxError
		if err := json.Unmarshal(src, new(json.RawMessage)); errors.As(err, &invalid) {
			line, column := position(src, int(invalid.Offset)-1)
			return hujson.Value{}, &SyntaxError{line, column, clip(invalid.Error()) + notJSON}
		}
	}
	return root, nil
}

// jsonSyntax takes apart the message of hujson, whose errors have no fields.
func jsonSyntax(src []byte, err error) error {
	e := &SyntaxError{Detail: err.Error()}
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &e.Line, &e.Column); scanErr == nil {
		e.Detail = errors.Unwrap(err).Error()
	}
	if line, column := position(src, len(src)); e.Line > line {
		e.Line, e.Column = line, column
	}
	e.Detail = clip(e.Detail)
	return e
}

// checkDepth refuses what would make a recursive parser run out of stack.
func checkDepth(src []byte) error {
	depth := 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '"':
			for i++; i < len(src) && src[i] != '"'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
		case '/':
			i = commentEnd(src, i)
		case '{', '[':
			if depth++; depth > maxDepth {
				line, column := position(src, i)
				return &SyntaxError{line, column, fmt.Sprintf("nested more than %d levels deep", maxDepth)}
			}
		case '}', ']':
			depth--
		}
	}
	return nil
}

// commentEnd returns the offset of the last byte of the comment that begins at
// i, without the line end of a line comment; i itself if none begins there.
func commentEnd(src []byte, i int) int {
	rest := src[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return len(src) - 1
		}
		if rest[end-1] == '\r' {
			end--
		}
		return i + end - 1
	case bytes.HasPrefix(rest, []byte("/*")):
		end := bytes.Index(rest[2:], []byte("*/"))
		if end < 0 {
			return len(src) - 1
		}
		return i + 2 + end + 1
	}
	return i
}

func decodeJSON(format Format, src []byte) (map[string]any, error) {
	// Readers disagree about what a byte that is no text stands for.
	if at := text.Invalid(string(src)); at >= 0 {
		line, column := position(src, at)
		return nil, &SyntaxError{line, column, "a byte that is not UTF-8"}
	}
	if format == JSON && checkDepth(src) == nil {
		// Most files are fine; what is wrong with the others is said below.
		dec := json.NewDecoder(bytes.NewReader(src))
		dec.UseNumber()
		var doc map[string]any
		if err := dec.Decode(&doc); err == nil && doc != nil && len(bytes.TrimLeft(src[dec.InputOffset():], " \t\r\n")) == 0 {
			return doc, nil
		}
	}
	root, err := parseJSON(format, src)
	if err != nil {
		return nil, err
	}
	if root.Value == nil {
		return map[string]any{}, nil
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, &ConflictError{Path: []string{"the document"}, Detail: "is not an object in braces", Fix: makeTable}
	}
	root.Standardize() // it was parsed from a copy, and is used for nothing else
	dec := json.NewDecoder(bytes.NewReader(root.Pack()))
	dec.UseNumber()
	var doc map[string]any
	if err := dec.Decode(&doc); err != nil {
		return nil, &SyntaxError{1, 1, clip(err.Error())}
	}
	return doc, nil
}

// member returns the member that a value at a path has under a name, and its index;
// nil if there is none. Readers disagree about which of two counts, so two are an
// error, and so is a value that is no object.
func member(at *hujson.Value, path []string, name string) (*hujson.ObjectMember, int, error) {
	obj, ok := at.Value.(*hujson.Object)
	if !ok {
		return nil, -1, &ConflictError{Path: path, Detail: "is not an object in braces", Fix: makeTable}
	}
	var found *hujson.ObjectMember
	index := -1
	for i := range obj.Members {
		if key, ok := obj.Members[i].Name.Value.(hujson.Literal); !ok || key.String() != name {
			continue
		}
		if found != nil {
			return nil, -1, &ConflictError{Path: append(path[:len(path):len(path)], name), Detail: "stands in the file twice", Fix: "remove one of the two"}
		}
		found, index = &obj.Members[i], i
	}
	return found, index, nil
}

// setJSON sets members in the object at path. It edits the tree of a document,
// which packs to the bytes it was parsed from where nothing is changed.
func setJSON(format Format, src []byte, path []string, members []Member) ([]byte, error) {
	root, at, missing, err := find(format, src, path)
	if err != nil {
		return nil, err
	}
	style := styleOf(src, root)
	switch {
	case root.Value == nil:
		return newDocument(src, style, nested(path, members)), nil
	case len(missing) > 0:
		insert(src, style, at, nested(missing, members)[0])
		return pack(root), nil
	}
	for _, want := range members {
		m, _, err := member(at, path, want.Key)
		switch {
		case err != nil:
			return nil, err
		case m == nil:
			insert(src, style, at, want)
		case !sameJSON(m.Value, want.Value):
			m.Value.Value = literal(want.Value, "", style.inline())
		}
	}
	return pack(root), nil
}

// find parses a document and returns the value at path, or the object it is missing
// in and what is missing.
func find(format Format, src []byte, path []string) (root, at *hujson.Value, missing []string, err error) {
	doc, err := parseJSON(format, src)
	if err != nil {
		return nil, nil, nil, err
	}
	at = &doc
	for i, name := range path {
		if doc.Value == nil {
			return &doc, at, path, nil
		}
		m, _, err := member(at, path[:i], name)
		if err != nil {
			return nil, nil, nil, err
		}
		if m == nil {
			return &doc, at, path[i:], nil
		}
		at = &m.Value
	}
	return &doc, at, nil, nil
}

// pack returns the text of a document that [parseJSON] has parsed.
func pack(root *hujson.Value) []byte { return bytes.TrimSuffix(root.Pack(), []byte("\n")) }

// nested wraps members in objects, one for each element of path.
func nested(path []string, members []Member) []Member {
	var value any = members
	for i := len(path) - 1; i > 0; i-- {
		value = []Member{{path[i], value}}
	}
	return []Member{{path[0], value}}
}

func sameJSON(v hujson.Value, want any) bool {
	plain := v.Clone()
	plain.BeforeExtra, plain.AfterExtra = nil, nil
	plain.Standardize()
	var got any
	return json.Unmarshal(plain.Pack(), &got) == nil && equal(got, decoded(want))
}

// removeJSON removes a member that is there.
func removeJSON(format Format, src []byte, path []string) ([]byte, error) {
	last := len(path) - 1
	root, at, _, err := find(format, src, path[:last])
	if err != nil {
		return nil, err
	}
	_, index, err := member(at, path[:last], path[last])
	if err != nil {
		return nil, err
	}
	cut(at, index)
	return pack(root), nil
}

// restoreJSON replaces the value at path by that in original. Both are there.
func restoreJSON(format Format, src []byte, path []string, original []byte) ([]byte, error) {
	root, to, _, err := find(format, src, path)
	if err != nil {
		return nil, err
	}
	_, from, _, err := find(format, original, path)
	if err != nil {
		return nil, err
	}
	to.Value = from.Value
	return pack(root), nil
}
