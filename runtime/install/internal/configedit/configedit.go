// Package configedit sets or removes one entry of a configuration file that
// belongs to somebody else's program, and leaves every other byte of it alone:
// comments, order, indentation, line ends and a byte order mark stay as they are.
//
// An edit is made in the text, at the place a parser finds, and then checked by
// decoding the text before and after: they may differ in the one entry and
// nowhere else. What cannot be edited that way is an error. It never re-encodes
// a document, and it never reads or writes files.
package configedit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
)

// Format is the language of a configuration file.
type Format int

// The formats.
const (
	// JSON is JSON as of RFC 8259: a comment or a trailing comma is an error,
	// because the program that reads the file would refuse it too.
	JSON Format = iota + 1
	// JSONC is JSON with comments and trailing commas.
	JSONC
	// TOML is TOML 1.0.
	TOML
)

// A Member is one key of an entry. Value is a string, a bool or a []string.
type Member struct {
	Key   string
	Value any
}

// maxDepth is how deeply a document may be nested. Configuration files stay
// below ten; parsers recurse, and their stack is not endless.
const maxDepth = 200

// SyntaxError is the error for a document that is not of its format.
type SyntaxError struct {
	Line, Column int // both from 1; Column counts bytes
	Detail       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Detail)
}

// ConflictError is the error for a document that is well-formed, but has
// something at a path that cannot be edited.
type ConflictError struct {
	Path   []string
	Detail string
	Fix    string // what to do about it, or empty
}

func (e *ConflictError) Error() string {
	return strings.Join(e.Path, ".") + " " + e.Detail
}

// makeTable is what to do about a value that stands where a table has to be.
const makeTable = "remove it, or make it one that holds keys and values"

// errChecked is the error for an edit that changed something it should not have: a
// defect of this package, found before anything was written.
var errChecked = errors.New("the edit would have changed something else in the file")

// Get returns the entry at path as it decodes. A document without it, an empty
// one included, is not an error.
func Get(format Format, src []byte, path []string) (entry map[string]any, ok bool, err error) {
	doc, err := decode(format, trimBOM(src))
	if err != nil {
		return nil, false, err
	}
	value, ok := lookup(doc, path)
	if !ok {
		return nil, false, nil
	}
	entry, ok = value.(map[string]any)
	if !ok {
		return nil, false, &ConflictError{Path: path, Detail: "is not a table of keys and values", Fix: makeTable}
	}
	return entry, true, nil
}

// Has reports whether anything stands at path.
func Has(format Format, src []byte, path []string) (bool, error) {
	doc, err := decode(format, trimBOM(src))
	if err != nil {
		return false, err
	}
	_, ok := lookup(doc, path)
	return ok, nil
}

// Set returns src with the members set in the entry at path; the entry, and the
// tables around it, are made where they are missing. Members that are there with
// an equal value, and all others, keep their bytes: setting what is set already
// returns src.
func Set(format Format, src []byte, path []string, members []Member) ([]byte, error) {
	return edit(format, src, path, func(src []byte, there value) ([]byte, error, error) {
		if format == TOML {
			return setTOML(src, path, there, members)
		}
		edited, err := setJSON(format, src, path, members)
		return edited, nil, err
	}, func(before, after value) bool {
		want := map[string]any{}
		old, _ := before.is.(map[string]any)
		maps.Copy(want, old)
		for _, m := range members {
			want[m.Key] = decoded(m.Value)
		}
		return equal(after.is, want)
	})
}

// Remove returns src without what stands at path. The tables around it stay,
// also when they are empty then.
func Remove(format Format, src []byte, path []string) ([]byte, error) {
	if there, err := Has(format, src, path); err != nil || !there {
		return src, err
	}
	return edit(format, src, path, func(src []byte, _ value) ([]byte, error, error) {
		if format == TOML {
			edited, err := removeTOML(src, path)
			return edited, noHeader(path), err
		}
		edited, err := removeJSON(format, src, path)
		return edited, nil, err
	}, func(_, after value) bool { return !after.ok })
}

// Restore returns src with what stands at path replaced by the bytes that stand
// there in another document, original. It has to be there in both.
func Restore(format Format, src []byte, path []string, original []byte) ([]byte, error) {
	original = trimBOM(original)
	doc, err := decode(format, original)
	if err != nil {
		return nil, err
	}
	want, ok := lookup(doc, path)
	return edit(format, src, path, func(src []byte, there value) (edited []byte, otherwise, err error) {
		switch {
		case !ok || !there.ok:
			err = &ConflictError{Path: path, Detail: "is not there"}
		case format == TOML:
			edited, err = restoreTOML(src, path, original)
		default:
			edited, err = restoreJSON(format, src, path, original)
		}
		return edited, nil, err
	}, func(_, after value) bool { return after.ok && equal(after.is, want) })
}

// value is what stands at a path of a decoded document, if anything does.
type value struct {
	is any
	ok bool
}

// edit makes an edit and checks it: right reports whether what stands at path then
// is what it should be. change also returns the error for an edit that comes out
// otherwise; nil for one that never should.
func edit(format Format, src []byte, path []string, change func(src []byte, there value) (edited []byte, otherwise, err error), right func(before, after value) bool) ([]byte, error) {
	text := trimBOM(src)
	before, err := decode(format, text)
	if err != nil {
		return nil, err
	}
	var old, now value
	old.is, old.ok = lookup(before, path)
	edited, otherwise, err := change(text, old)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(edited, text) {
		edited = text
	}
	after, err := decode(format, edited)
	now.is, now.ok = lookup(after, path)
	if err != nil || !right(old, now) || !equal(without(before, path), without(after, path)) {
		return nil, cmp.Or(otherwise, errChecked)
	}
	return append(src[:len(src)-len(text):len(src)-len(text)], edited...), nil
}

func decode(format Format, text []byte) (map[string]any, error) {
	if format == TOML {
		return decodeTOML(text)
	}
	return decodeJSON(format, text)
}

func trimBOM(src []byte) []byte {
	return bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
}

// lookup returns what stands at path in a decoded document.
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

// without returns a copy of a decoded document without what stands at path, and
// without the tables on the way to it that hold nothing else.
func without(doc any, path []string) any {
	table, ok := doc.(map[string]any)
	if !ok || len(path) == 0 {
		return doc
	}
	rest := map[string]any{}
	for key, value := range table {
		if key != path[0] {
			rest[key] = value
			continue
		}
		if len(path) == 1 {
			continue
		}
		inner := without(value, path[1:])
		if m, ok := inner.(map[string]any); !ok || len(m) > 0 {
			rest[key] = inner
		}
	}
	return rest
}

// decoded returns the value of a member as it decodes.
func decoded(value any) any {
	list, ok := value.([]string)
	if !ok {
		return value
	}
	items := make([]any, len(list))
	for i, item := range list {
		items[i] = item
	}
	return items
}

// equal compares decoded values. A number that is not one equals itself: nothing
// happened to it.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case []map[string]any:
		b, ok := b.([]map[string]any)
		return ok && slices.EqualFunc(a, b, func(x, y map[string]any) bool { return equal(x, y) })
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || math.IsNaN(a) && math.IsNaN(b))
	case interface{ String() string }: // times: their text holds all there is to them
		b, ok := b.(interface{ String() string })
		return ok && a.String() == b.String()
	default:
		return a == b
	}
}

// splice returns src with edits made in it. Edits do not overlap; those at the
// same place are made in their order.
func splice(src []byte, edits ...change) []byte {
	slices.SortStableFunc(edits, func(a, b change) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(out, src[at:e.from]...)
		out = append(out, e.text...)
		at = e.to
	}
	return append(out, src[at:]...)
}

// change replaces the bytes [from, to) by text.
type change struct {
	from, to int
	text     string
}

// position returns the line and the column of an offset, both from 1.
func position(src []byte, offset int) (line, column int) {
	offset = min(max(offset, 0), len(src))
	return 1 + bytes.Count(src[:offset], []byte("\n")), offset - bytes.LastIndexByte(src[:offset], '\n')
}

// newline returns the line end that a document uses.
func newline(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// indentAt returns the blanks that begin the line of an offset.
func indentAt(src []byte, offset int) string {
	start := bytes.LastIndexByte(src[:offset], '\n') + 1
	end := start
	for end < offset && isBlank(src[end]) {
		end++
	}
	return string(src[start:end])
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// clip shortens text from a document that goes into a message.
func clip(s string) string { return text.Cut(s, 80) }

// Snippet returns the entry with the tables that path has around it, for people to
// copy: a table to put at the end of a document in TOML, and else a member to put
// between the braces of one.
func Snippet(format Format, path []string, members []Member) string {
	if format == TOML {
		return tomlTable(path, members, "\n")
	}
	return property(nested(path, members)[0], "", style{"\n", "  ", " "}) + "\n"
}
