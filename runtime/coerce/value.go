package coerce

import (
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/contract"
)

// Together returns the names that are members of the object if two or more are, otherwise nil.
func (o Object) Together(names ...string) []string {
	given := 0
	for _, name := range names {
		if o.Any(name) {
			given++
		}
	}
	if given < 2 { // the usual case allocates nothing
		return nil
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !o.Any(name) })
}

// Any reports whether at least one of names is a member.
func (o Object) Any(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, given := o.Get(name)
		return given
	})
}

// Text returns a member that is a string, or an empty string.
func (o Object) Text(name string) string {
	v, _ := o.Get(name)
	s, _ := v.(string)
	return s
}

// JSON returns a decoded value as JSON on one line, without escapes for HTML.
func JSON(v any) string { return contract.JSON(v) }

// Blank reports whether s has only ASCII white space. Other white space, such as U+3000, is text: schemas list the
// same six characters, because dialects of regular expressions differ in the rest.
func Blank(s string) bool { return strings.Trim(s, " \t\n\v\f\r") == "" }

// SingleLine reports whether s has no line break and no NUL: it can be a line of input, or an argument of a process.
func SingleLine(s string) bool { return !strings.ContainsAny(s, "\n\r\x00") }
