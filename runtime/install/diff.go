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

// shorten shortens the long lines of a diff without its header: of a line that is
// removed and the one that is added for it, what differs is shown, which is all of an
// added line where none is removed.
func shorten(hunks string) string {
	lines := strings.SplitAfter(hunks, "\n")
	for i := 0; i < len(lines); {
		var removed, added []*string
		start := i
		for ; i < len(lines) && lines[i] != "" && strings.ContainsRune(`-+\`, rune(lines[i][0])); i++ {
			switch lines[i][0] {
			case '-':
				removed = append(removed, &lines[i])
			case '+':
				added = append(added, &lines[i])
			}
		}
		for n := range max(len(removed), len(added)) {
			before, after := "-", "+"
			if n < len(removed) {
				before = *removed[n]
			}
			if n < len(added) {
				after = *added[n]
			}
			prefix, suffix := common(before[1:], after[1:])
			if n < len(removed) {
				*removed[n] = window(before, 1+prefix, min(len(before)-suffix, 1+prefix+mostRemoved))
			}
			if n < len(added) {
				*added[n] = window(after, 1+prefix, len(after)-suffix)
			}
		}
		if i == start {
			lines[i] = window(lines[i], 1, min(len(lines[i]), 1+head))
			i++
		}
	}
	return strings.Join(lines, "")
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
