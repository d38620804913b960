package document

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store/toolcall"
)

// DiffLine is a line of a diff.
type DiffLine struct {
	Class string // ins, del, place or same
	Text  string // with its mark
}

// maxDiff is the number of bytes of a text that is compared with another.
const maxDiff = 256 << 10

// diffLines returns the diff of an edit: the changed lines with some lines around them.
func diffLines(edit toolcall.Edit) []DiffLine {
	var lines []DiffLine
	for line := range strings.Lines(text.Visible(compare(ended(edit.Before), ended(edit.After)))) {
		line = strings.TrimRight(line, "\n")
		class := "same"
		switch line[:min(len(line), 1)] {
		case "@":
			class = "place"
		case "+":
			class = "ins"
		case "-":
			class = "del"
		}
		lines = append(lines, DiffLine{class, line})
	}
	return lines
}

// compare returns the diff of two texts without its header. It does not compare large texts: all lines of before are
// removed and all lines of after added.
func compare(before, after string) string {
	if len(before)+len(after) > maxDiff {
		return marked("-", before) + marked("+", after)
	}
	if before == "" {
		return marked("+", after)
	}
	const header = 3 // lines
	lines := strings.SplitAfterN(string(diff.Diff("a", []byte(before), "b", []byte(after))), "\n", header+1)
	return lines[len(lines)-1]
}

// marked returns a text with a mark at the beginning of each line.
func marked(mark, said string) string {
	var b strings.Builder
	for line := range strings.Lines(said) {
		b.WriteString(mark + line)
	}
	return b.String()
}

// ended returns a text with a line break at its end. An empty text stays empty.
func ended(said string) string {
	if said == "" {
		return ""
	}
	return strings.TrimSuffix(said, "\n") + "\n"
}
