package install

import (
	"bytes"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// longLine is the length in bytes of the longest lines that are shown. A file that a program has written is often one
// line, with secrets of other programs.
const longLine = 80

// Diff returns the change as a unified diff with Unix line ends, for people to read. If a file has long lines, its part
// of the diff shows only the entry that changes. A file has no part if nothing but its line ends changes.
func (c *Change) Diff() string {
	var b strings.Builder
	for _, f := range c.Files {
		before := f.Path
		if f.Target != f.Path {
			before += " (through a link: " + f.Target + ")"
		}
		after := before
		if f.Before == nil {
			before = os.DevNull
		}
		if f.After == nil {
			after = os.DevNull
		}
		text := string(diff.Diff(before, unixLines(f.Before), after, unixLines(f.After)))
		parts := strings.SplitAfterN(text, "\n", 4) // "diff a b", "--- a", "+++ b", and the hunks
		if len(parts) < 4 {
			continue // the texts are equal
		}
		isLong := func(line []byte) bool { return len(line) > longLine }
		if f.entry != "" && slices.ContainsFunc(bytes.SplitAfter(f.Before, []byte("\n")), isLong) {
			parts[3] = "@@ this entry; the rest of the file, which has long lines, stays and is not shown @@\n" + f.entry
		}
		b.WriteString(parts[1] + parts[2] + parts[3])
	}
	return b.String()
}

func unixLines(data []byte) []byte {
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
}

// marked returns a text with a mark before every line, and one line end at its end.
func marked(mark, text string) string {
	return mark + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+mark) + "\n"
}
