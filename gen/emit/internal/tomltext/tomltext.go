// Package tomltext writes TOML 1.0 as a person would: keys in the given order, and texts with several lines as blocks.
//
// A string must never end early or start a key: everything that is not printable is escaped, and so are quotes and
// backslashes where they are special.
package tomltext

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Document is a TOML file that is being written. The zero value is ready to use.
type Document struct {
	b strings.Builder
}

// Bytes returns the document so far.
func (d *Document) Bytes() []byte { return []byte(d.b.String()) }

// Comment writes text as comment lines. Invisible characters become spaces, because TOML forbids controls in comments.
func (d *Document) Comment(text string) {
	visible := func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}
	for line := range strings.SplitSeq(text, "\n") {
		d.b.WriteString(strings.TrimRight("# "+strings.Map(visible, line), " ") + "\n")
	}
}

// Blank writes an empty line.
func (d *Document) Blank() { d.b.WriteByte('\n') }

// Table starts the table at path, after an empty line.
func (d *Document) Table(path ...string) { d.header("[", path, "]") }

// ArrayTable starts the next table in the array of tables at path, after an empty line.
func (d *Document) ArrayTable(path ...string) { d.header("[[", path, "]]") }

// header writes the header of a table, after an empty line unless it is the first line of the document.
func (d *Document) header(left string, path []string, right string) {
	if d.b.Len() > 0 {
		d.Blank()
	}
	d.b.WriteString(left + Key(path...) + right + "\n")
}

// String writes key = "value".
func (d *Document) String(key, value string) { d.Raw(key, Quote(value)) }

// Block writes key and text as a multi-line string. The value of this string is text with one newline at its end.
func (d *Document) Block(key, text string) {
	d.b.WriteString(key + " = \"\"\"\n" + blockText(strings.TrimRight(text, "\n")) + "\n\"\"\"\n")
}

// Value returns a bool, a number, a string, or a list of them as TOML.
func Value(value any) string {
	switch v := value.(type) {
	case float64:
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0" // without it, readers would see an integer
		}
		return text
	case string:
		return Quote(v)
	case []string:
		return Array(v)
	case []any:
		items := make([]string, len(v))
		for i := range v {
			items[i] = Value(v[i])
		}
		return "[" + strings.Join(items, ", ") + "]"
	default:
		return fmt.Sprint(v)
	}
}

// Raw writes key = value. value must be TOML already.
func (d *Document) Raw(key, value string) { d.b.WriteString(key + " = " + value + "\n") }

// Key returns a dotted key, with quotes around the steps that need them.
func Key(path ...string) string {
	steps := make([]string, len(path))
	for i, step := range path {
		steps[i] = step
		if !isBare(step) {
			steps[i] = Quote(step)
		}
	}
	return strings.Join(steps, ".")
}

// isBare reports whether s can be a step of a key without quotes.
func isBare(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// Array returns strings as an array: on one line if it is short, and with one item a line otherwise.
func Array(items []string) string {
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = Quote(s)
	}
	line := "[" + strings.Join(quoted, ", ") + "]"
	if utf8.RuneCountInString(line) <= 80 {
		return line
	}
	return "[\n  " + strings.Join(quoted, ",\n  ") + ",\n]"
}

// Quote returns s as a basic string on one line. Invalid UTF-8 becomes U+FFFD.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r == '"' {
			b.WriteString(`\"`)
		} else {
			escape(&b, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// blockText returns s as the text inside a multi-line basic string. It escapes every third quote of a run, so that the
// run cannot end the string.
func blockText(s string) string {
	var b strings.Builder
	quotes := 0
	for _, r := range s {
		if r == '"' {
			quotes++
			if quotes == 3 {
				b.WriteByte('\\')
				quotes = 0
			}
			b.WriteByte('"')
			continue
		}
		quotes = 0
		if r == '\n' {
			b.WriteByte('\n')
		} else {
			escape(&b, r)
		}
	}
	return b.String()
}

// escape writes a character of a basic string, escaped if it is a backslash or not printable. The callers treat quotes.
func escape(b *strings.Builder, r rune) {
	switch {
	case r == '\\':
		b.WriteString(`\\`)
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case unicode.IsPrint(r):
		b.WriteRune(r)
	case r <= 0xFFFF:
		fmt.Fprintf(b, `\u%04X`, r)
	default:
		fmt.Fprintf(b, `\U%08X`, r)
	}
}
