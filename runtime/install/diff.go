package install

import (
	"bytes"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

const (
	// longLine is the length from which only a part of a line is shown, in bytes.
	// Files that programs write are often one line, with other people's secrets.
	longLine = 80
	// around is how much is shown on both sides of what has changed in such a line,
	// in bytes: enough to see braces and commas, and next to nothing of a value.
	around = 4
	// head is how much is shown of a line that has not changed, in bytes.
	head = 36
	// mostRemoved is how much is shown of what is removed from a line, in bytes.
	mostRemoved = 160
)

// Diff returns the change as a unified diff, with the line ends of Unix. Of long
// lines it shows what has changed, with … for the rest: it is for people, not for
// a program to apply.
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
		if len(parts) == 4 {
			b.WriteString(parts[1] + parts[2] + shorten(parts[3]))
		}
	}
	return b.String()
}

func unixLines(data []byte) []byte {
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
}

// shorten shortens the long lines of a diff without its header: of each run of
// lines that are removed and added, what differs is shown, which is all of an
// added line where no line is removed.
func shorten(hunks string) string {
	lines := strings.SplitAfter(hunks, "\n")
	for i := 0; i < len(lines); {
		var removed, added []int
		start := i
		for ; i < len(lines) && lines[i] != "" && strings.ContainsRune(`-+\`, rune(lines[i][0])); i++ {
			switch lines[i][0] {
			case '-':
				removed = append(removed, i)
			case '+':
				added = append(added, i)
			}
		}
		prefix, suffix := common(joined(lines, removed), joined(lines, added))
		showChanged(lines, removed, prefix, suffix)
		showChanged(lines, added, prefix, suffix)
		if i == start {
			lines[i] = window(lines[i], 1, min(len(lines[i]), 1+head))
			i++
		}
	}
	return strings.Join(lines, "")
}

// joined returns the text of some lines of a diff.
func joined(lines []string, indices []int) string {
	var b strings.Builder
	for _, i := range indices {
		b.WriteString(lines[i][1:])
	}
	return b.String()
}

// showChanged shortens lines to what of their text together lies between a prefix
// and a suffix.
func showChanged(lines []string, indices []int, prefix, suffix int) {
	length := len(joined(lines, indices))
	at := 0 // where the text of a line begins
	for _, i := range indices {
		line := lines[i]
		size := len(line) - 1
		from := 1 + min(max(prefix-at, 0), size)
		to := 1 + min(max(length-suffix-at, from-1), size)
		if line[0] == '-' {
			to = min(to, from+mostRemoved)
		}
		lines[i] = window(line, from, to)
		at += size
	}
}

// common returns how many bytes two texts have in common at their start and, of
// the rest, at their end.
func common(a, b string) (prefix, suffix int) {
	for prefix < min(len(a), len(b)) && a[prefix] == b[prefix] {
		prefix++
	}
	a, b = a[prefix:], b[prefix:]
	for suffix < min(len(a), len(b)) && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	return prefix, suffix
}

// window shortens a long line of a diff to the bytes [from, to), and a little
// around them.
func window(line string, from, to int) string {
	if len(line) <= longLine {
		return line
	}
	text := strings.TrimSuffix(line, "\n")
	from = min(max(from-around, 1), len(text))
	to = min(to+around, len(text))
	for from > 1 && from < len(text) && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	var b strings.Builder
	b.WriteByte(line[0])
	if from > 1 {
		b.WriteString("…")
	}
	b.WriteString(text[from:to])
	if to < len(text) {
		b.WriteString("…")
	}
	return b.String() + line[len(text):]
}
