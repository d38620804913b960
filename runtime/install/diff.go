package install

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

const (
	// longLine is the length from which only a part of a line is shown, in bytes.
	// Files that programs write are often one line, with other people's secrets.
	longLine = 200
	// around is how much is shown on both sides of what has changed in such a line.
	around = 4
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

// shorten shortens the long lines of a diff without its header. Lines that are
// removed are compared with those added in their place, in order.
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
		pairs := min(len(removed), len(added))
		for j := range pairs {
			from, to := &lines[removed[j]], &lines[added[j]]
			prefix, suffix := common((*from)[1:], (*to)[1:])
			*from, *to = window(*from, 1+prefix, suffix), window(*to, 1+prefix, suffix)
		}
		for _, j := range slices.Concat(removed[pairs:], added[pairs:]) {
			lines[j] = head(lines[j])
		}
		if i == start {
			lines[i] = head(lines[i])
			i++
		}
	}
	return strings.Join(lines, "")
}

// common returns how many bytes two lines have in common at their start and, of
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

// window shortens a long line of a diff to what is between a prefix and a suffix,
// and a little around it.
func window(line string, prefix, suffix int) string {
	if len(line) <= longLine {
		return line
	}
	text := strings.TrimSuffix(line, "\n")
	from := max(prefix-around, 1)
	to := min(max(len(line)-suffix, prefix)+around, len(text))
	for from > 1 && !utf8.RuneStart(text[from]) {
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

// head shortens a long line to its start.
func head(line string) string { return window(line, 1, len(line)-1-9*around) }
