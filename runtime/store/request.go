package store

import (
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
)

// MaxRequest is how many characters of a request are kept.
const MaxRequest = 400

// Request returns the beginning of a request, in two lines at the most: its first one, and
// behind that all others. Blank lines, more white space than one space, and the marks of
// headings are left out.
func Request(said string) string {
	var b strings.Builder
	separator := ""
	for line := range strings.Lines(said[:min(len(said), 8*MaxRequest)]) {
		words := strings.Fields(line)
		if len(words) > 1 && strings.Trim(words[0], "#") == "" {
			words = words[1:]
		}
		if len(words) == 0 {
			continue
		}
		b.WriteString(separator)
		b.WriteString(strings.Join(words, " "))
		if separator == "" {
			separator = "\n"
		} else {
			separator = " "
		}
	}
	return text.Cut(strings.ToValidUTF8(b.String(), ""), MaxRequest)
}
