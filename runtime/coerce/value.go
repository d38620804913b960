package coerce

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Together returns those of names that are members, where there are more than
// one, and nil otherwise.
func (o Object) Together(names ...string) []string {
	count := 0
	for _, name := range names {
		if _, given := o.Get(name); given {
			count++
		}
	}
	if count < 2 {
		return nil
	}
	given := make([]string, 0, count)
	for _, name := range names {
		if _, ok := o.Get(name); ok {
			given = append(given, name)
		}
	}
	return given
}

// Strings reads an array of strings into a slice of its own. It is not ok where
// v is anything else.
func Strings(v any) (list []string, ok bool) {
	values, ok := v.([]any)
	if !ok {
		return nil, false
	}
	list = make([]string, len(values))
	for i := range values {
		if list[i], ok = values[i].(string); !ok {
			return nil, false
		}
	}
	return list, true
}

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
