package gocode

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/gen/ir"
)

// camel turns a word of a contract, such as tool-result, into a Go name. It
// keeps ASCII letters and digits and begins a new word at everything else; the
// result still has to be checked.
func camel(word string) string {
	var b strings.Builder
	upper := true
	for _, r := range word {
		if r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			upper = true
			continue
		}
		if upper {
			r = unicode.ToUpper(r)
			upper = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// field is the dispatcher's field for a family's handler.
func field(family *ir.Family) string { return family.Package + "Handler" }
