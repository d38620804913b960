package coerce

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/contract"
)

// Together returns those of names that are members, where there are more than
// one, and nil otherwise.
func (o Object) Together(names ...string) []string {
	var given []string
	for _, name := range names {
		if _, ok := o.Get(name); ok {
			given = append(given, name)
		}
	}
	if len(given) < 2 {
		return nil
	}
	return given
}

// Any reports whether one of names, or more, are members.
func (o Object) Any(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, given := o.Get(name)
		return given
	})
}

// Text returns a member that is a string, or nothing.
func (o Object) Text(name string) string {
	v, _ := o.Get(name)
	s, _ := v.(string)
	return s
}

// WrongVariant is the problem of an object whose member key, which stands at path,
// is none of the values that tell its variants apart.
func WrongVariant(path string, o Object, key string, values []string) contract.Problem {
	want := "one of " + strings.Join(values, ", ")
	v, given := o.Get(key)
	s, isText := v.(string)
	switch {
	case !given:
		return contract.Missing(path, want, "")
	case !isText:
		return contract.Type(path, want, v, "")
	}
	return contract.Enum(path, s, values, "")
}

// Text reads a string. Like all functions that read a value, it is not ok where v is
// anything else.
func Text(v any) (string, bool) {
	s, ok := v.(string)
	return s, ok
}

// Boolean reads a boolean.
func Boolean(v any) (bool, bool) {
	b, ok := v.(bool)
	return b, ok
}

// Whole reads an integer, as [Int] does.
func Whole(v any) (int, bool) {
	n, ok := Int(v)
	return int(n), ok
}

// List reads an array with a function that reads an item.
func List[T any](v any, read func(any) (T, bool)) (list []T, ok bool) {
	values, ok := v.([]any)
	if !ok {
		return nil, false
	}
	list = make([]T, len(values))
	for i := range values {
		if list[i], ok = read(values[i]); !ok {
			return nil, false
		}
	}
	return list, true
}

// OrNull reads a value that may be null, which is nil.
func OrNull[T any](v any, read func(any) (T, bool)) *T {
	if value, ok := read(v); ok {
		return &value
	}
	return nil
}

// ListOrNull reads an array that may be null, which is nil.
func ListOrNull[T any](v any, read func(any) (T, bool)) []T {
	list, _ := List(v, read)
	return list
}

// Strings reads an array of strings into a slice of its own. It is not ok where
// v is anything else.
func Strings(v any) (list []string, ok bool) { return List(v, Text) }

// OneOrMany reads one string, or an array of strings, into a slice of its own. It
// is not ok where v is anything else.
func OneOrMany(v any) (list []string, ok bool) {
	if s, ok := v.(string); ok {
		return []string{s}, true
	}
	return Strings(v)
}

// JSON returns a decoded value as JSON text on one line. Markup characters stay
// as they are: the text is for messages, not for web pages.
func JSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null" // decoded values always encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Blank reports whether s has no character but ASCII white space. Other white space,
// such as U+3000, is text: schemas spell the same six characters out, because
// the classes of regular expression dialects differ beyond them.
func Blank(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case ' ', '\t', '\n', '\v', '\f', '\r':
		default:
			return false
		}
	}
	return true
}

// SingleLine reports whether s has no line break and no NUL, so that it can be a line
// of input and an argument of a process.
func SingleLine(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case '\n', '\r', 0:
			return false
		}
	}
	return true
}
