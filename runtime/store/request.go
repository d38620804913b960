package store

import (
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
)

// MaxRequest is the largest number of characters that [Request] returns.
const MaxRequest = 400

// Request returns the beginning of a request in up to two lines: its first line, and the other lines joined. It
// leaves out blank lines, repeated white space and the marks of headings.
func Request(request string) string {
	const most = 8 * MaxRequest // bytes that are looked at
	var lines []string
	for line := range strings.Lines(request[:min(len(request), most)]) {
		words := strings.Fields(line)
		if len(words) > 1 && strings.Trim(words[0], "#") == "" { // the mark of a heading
			words = words[1:]
		}
		if len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	if len(lines) > 1 {
		lines = []string{lines[0], strings.Join(lines[1:], " ")}
	}
	return text.Cut(strings.ToValidUTF8(strings.Join(lines, "\n"), ""), MaxRequest)
}
