// Package configedit sets or removes one entry of a configuration file of another program. It keeps every other
// entry, with its comments, order and layout.
//
// It edits the text, and checks the result by decoding the text before and after: only the one entry may differ. A
// document that cannot be edited that way is an error. The package never re-encodes a document, and never reads or
// writes files.
package configedit

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
)

// Format is the language of a configuration file.
type Format int

// The formats.
const (
	// JSON is RFC 8259, without comments and trailing commas: the program that reads the file would refuse them.
	JSON Format = iota + 1
	// JSONC is JSON with comments and trailing commas.
	JSONC
	// TOML is TOML 1.0.
	TOML
)

// A Member is a key of an entry. Value is a string, bool or []string; in JSON also []Member or [][]Member.
type Member struct {
	Key   string
	Value any
}

// SyntaxError is the error for a document that is not valid in its format.
type SyntaxError struct {
	Line, Column int // both from 1; Column counts bytes
	Detail       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Detail)
}

func syntaxError(src []byte, offset int, detail string) *SyntaxError {
	offset = min(max(offset, 0), len(src))
	return &SyntaxError{
		Line: 1 + bytes.Count(src[:offset], []byte("\n")), Column: offset - bytes.LastIndexByte(src[:offset], '\n'),
		Detail: text.Cut(detail, 80),
	}
}

// ConflictError is the error for a valid document that cannot be edited because of the value at Path or its form.
type ConflictError struct {
	Path   []string
	Detail string
	Fix    string // advice, or empty
}

func (e *ConflictError) Error() string {
	return strings.Join(e.Path, ".") + " " + e.Detail
}

// makeTable is the advice for a value in the place of a table.
const makeTable = "remove it, or make it one that holds keys and values"

// errChecked is the error for an edit that would change another entry: a defect of this package. Nothing was written.
var errChecked = errors.New("the edit would have changed something else in the file")

// Get returns the decoded table at path, and whether it exists. A value that is no table is a *ConflictError.
func Get(format Format, src []byte, path []string) (entry map[string]any, ok bool, err error) {
	doc, err := decode(format, src)
	if err != nil {
		return nil, false, err
	}
	value, ok := lookup(doc, path)
	if !ok {
		return nil, false, nil
	}
	if entry, ok = value.(map[string]any); !ok {
		return nil, false, &ConflictError{Path: path, Detail: "is not a table of keys and values", Fix: makeTable}
	}
	return entry, true, nil
}

// Has reports whether there is anything at path.
func Has(format Format, src []byte, path []string) (bool, error) {
	doc, err := decode(format, src)
	if err != nil {
		return false, err
	}
	_, ok := lookup(doc, path)
	return ok, nil
}

// Set returns src with the members set in the entry at path. It makes the entry and the tables around it if they are
// missing. Other members of the entry, and members that have the value already, keep their bytes.
func Set(format Format, src []byte, path []string, members []Member) ([]byte, error) {
	entry, exists, err := Get(format, src, path)
	if err != nil {
		return nil, err
	}
	want := maps.Clone(entry)
	if want == nil {
		want = map[string]any{}
	}
	var changed []Member
	for _, m := range members {
		value, isThere := entry[m.Key]
		if isThere && reflect.DeepEqual(value, decoded(m.Value)) {
			continue
		}
		changed = append(changed, m)
		want[m.Key] = decoded(m.Value)
	}
	if exists && len(changed) == 0 {
		return src, nil
	}
	set := setJSON
	if format == TOML {
		set = setTOML
	}
	bom, body := splitBOM(src)
	edited, err := set(body, path, exists, changed)
	if err != nil {
		return nil, err
	}
	return checkEdit(format, src, append(bom, edited...), path, want)
}

// Remove returns src without the value at path. The tables around the value stay, even if they are empty then.
func Remove(format Format, src []byte, path []string) ([]byte, error) {
	exists, err := Has(format, src, path)
	if err != nil || !exists {
		return src, err
	}
	remove := removeJSON
	if format == TOML {
		remove = removeTOML
	}
	bom, body := splitBOM(src)
	edited, err := remove(body, path)
	if err != nil {
		return nil, err
	}
	return checkEdit(format, src, append(bom, edited...), path, nil)
}

// checkEdit returns edited if it differs from the document src only in the value at path, and this value is want. A nil
// want stands for no value. If edited differs in any other way, the error is errChecked.
func checkEdit(format Format, src, edited []byte, path []string, want any) ([]byte, error) {
	before, err := decode(format, src)
	if err != nil {
		return nil, err
	}
	after, err := decode(format, edited)
	if err != nil {
		return nil, errChecked
	}
	// For reflect.DeepEqual a NaN differs from itself.
	equal := func(a, b any) bool { return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) }
	value, exists := lookup(after, path)
	isWanted := exists == (want != nil) && equal(value, want)
	dropValue(before, path)
	dropValue(after, path)
	if !isWanted || !equal(before, after) {
		return nil, errChecked
	}
	return edited, nil
}

// decode decodes a document. The error is a *SyntaxError, or a *ConflictError if a JSON document is not an object.
func decode(format Format, src []byte) (map[string]any, error) {
	_, body := splitBOM(src)
	if format == TOML {
		return decodeTOML(body)
	}
	return decodeJSON(format, body)
}

// splitBOM splits the byte order mark off a document.
func splitBOM(src []byte) (bom, body []byte) {
	body = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	n := len(src) - len(body)
	return src[:n:n], body
}

// lookup returns the value at path in a decoded document, and whether there is one.
func lookup(doc any, path []string) (any, bool) {
	for _, key := range path {
		table, ok := doc.(map[string]any)
		if !ok {
			return nil, false
		}
		if doc, ok = table[key]; !ok {
			return nil, false
		}
	}
	return doc, true
}

// dropValue removes the value at path from a decoded document, and the tables around it that become empty. A value in
// the middle of path that is no table is removed too.
func dropValue(doc map[string]any, path []string) {
	if inner, ok := doc[path[0]].(map[string]any); ok && len(path) > 1 {
		dropValue(inner, path[1:])
		if len(inner) > 0 {
			return
		}
	}
	delete(doc, path[0])
}

// decoded returns the value of a [Member] in the types that [decode] returns: map[string]any and []any.
func decoded(value any) any {
	items := []any{}
	switch v := value.(type) {
	case []string:
		for _, item := range v {
			items = append(items, item)
		}
	case [][]Member:
		for _, item := range v {
			items = append(items, decoded(item))
		}
	case []Member:
		object := map[string]any{}
		for _, m := range v {
			object[m.Key] = decoded(m.Value)
		}
		return object
	default:
		return value
	}
	return items
}

// newline returns the line ending of a document, which is that of its first line.
func newline(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// Snippet returns the text of the entry at path, for people to copy into a document. In TOML it is a table for the end
// of the document. In JSON it is a member for the outermost braces.
func Snippet(format Format, path []string, members []Member) string {
	if format == TOML {
		return tomlTable(path, members, "\n")
	}
	text := layout{"\n", "  ", " "}.render(nested(path, members), "")
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(text, "{\n  "), "\n}"), "\n  ", "\n") + "\n"
}
