package coerce

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Together returns those of names that are members, where there are more than
// one, and nil otherwise.
func (o Object) Together(names ...string) []string {
	given := 0
	for _, name := range names {
		if o.Any(name) {
			given++
		}
	}
	if given < 2 { // as with nearly all calls, for which nothing is allocated
		return nil
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !o.Any(name) })
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

// Read reads a member with a function that reads its value. It is the zero value where
// there is no such member.
func Read[T any](o Object, name string, read func(any) (T, bool)) T {
	v, _ := o.Get(name)
	value, _ := read(v)
	return value
}

// ReadOr is [Read] for a member that has a default.
func ReadOr[T any](o Object, name string, otherwise T, read func(any) (T, bool)) T {
	if _, given := o.Get(name); !given {
		return otherwise
	}
	return Read(o, name, read)
}

// Pointer is [Read] for a member that may be absent or null, which is nil.
func Pointer[T any](o Object, name string, read func(any) (T, bool)) *T {
	v, _ := o.Get(name)
	if value, ok := read(v); ok {
		return &value
	}
	return nil
}

// PointerOr is [Pointer] for a member that has a default. Null wins over it.
func PointerOr[T any](o Object, name string, otherwise T, read func(any) (T, bool)) *T {
	if _, given := o.Get(name); !given {
		return &otherwise
	}
	return Pointer(o, name, read)
}

// ReadForm reads an object where it has one of its forms: where key is value. It is nil
// where it has another.
func ReadForm[T any](v any, key, value string, read func(any) (T, bool)) *T {
	o, _ := v.(Object)
	if form, ok := read(v); ok && o.Text(key) == value {
		return &form
	}
	return nil
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

// ListOf returns what reads an array, with a function that reads an item.
func ListOf[T any](read func(any) (T, bool)) func(any) ([]T, bool) {
	return func(v any) ([]T, bool) {
		values, ok := v.([]any)
		if !ok {
			return nil, false
		}
		list := make([]T, len(values))
		for i := range values {
			if list[i], ok = read(values[i]); !ok {
				return nil, false
			}
		}
		return list, true
	}
}

// OrNull returns what reads a value that may be null, which is nil.
func OrNull[T any](read func(any) (T, bool)) func(any) (*T, bool) {
	return func(v any) (*T, bool) {
		if value, ok := read(v); ok {
			return &value, true
		}
		return nil, v == nil
	}
}

// ListOrNull is [OrNull] for an array.
func ListOrNull[T any](read func(any) (T, bool)) func(any) ([]T, bool) {
	list := ListOf(read)
	return func(v any) ([]T, bool) {
		values, ok := list(v)
		return values, ok || v == nil
	}
}

// Strings reads an array of strings into a slice of its own. It is not ok where
// v is anything else.
func Strings(v any) ([]string, bool) { return ListOf(Text)(v) }

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
