// Package format formats TOML as specs are written: one space on each side of =, = signs and comments of neighbouring
// lines aligned, and one blank line before a table.
//
// It must never change a comment, the order of keys or a value, and never reads or writes a file.
package format

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/runtime/base/tomlpos"
)

// ErrSyntax is returned for text that is not TOML.
var ErrSyntax = errors.New("it is no TOML")

// TOML returns src formatted, without a byte order mark and with \n at the end of every line. It returns [ErrSyntax] if
// src is not TOML, and another error if the result would not decode to the same values.
func TOML(src []byte) ([]byte, error) {
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	statements, complete := tomlpos.Scan(src).Statements()
	if !complete {
		return nil, ErrSyntax
	}
	f := &formatter{src: src}
	pos := 0
	for _, s := range statements {
		f.addComments(pos, s.Start)
		f.addStatement(s)
		pos = s.End
	}
	f.addComments(pos, len(src))
	out := f.text()
	return out, checkSame(src, out)
}

// checkSame returns [ErrSyntax] if document a is not TOML, and another error if b does not decode to the values of a.
func checkSame(a, b []byte) error {
	var before, after map[string]any
	if err := toml.Unmarshal(a, &before); err != nil {
		return ErrSyntax
	}
	if err := toml.Unmarshal(b, &after); err != nil {
		return fmt.Errorf("reading the formatted text: %w", err)
	}
	if !equal(before, after) {
		return errors.New("formatting would change its meaning")
	}
	return nil
}

// equal reports whether two decoded values are equal. Unlike [reflect.DeepEqual] it treats NaN as equal to itself.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	case []map[string]any:
		b, ok := b.([]map[string]any)
		return ok && slices.EqualFunc(a, b, func(a, b map[string]any) bool { return maps.EqualFunc(a, b, equal) })
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || (math.IsNaN(a) && math.IsNaN(b)))
	default:
		return reflect.DeepEqual(a, b)
	}
}

// line is a line of the result, or the lines of an entry whose value has line breaks.
type line struct {
	blank   bool   // a blank line comes before it
	header  bool   // it is the header of a table
	key     string // the text before = in an aligned entry; "" in other lines
	code    string // the text after = in an aligned entry; otherwise the whole line without its comment
	comment string
}

// formatter collects the lines of the result while the statements of src are read.
type formatter struct {
	src   []byte
	lines []line
	blank bool // the next line follows a blank line
}

func (f *formatter) add(l line) {
	l.blank = f.blank
	f.blank = false
	f.lines = append(f.lines, l)
}

// addComments adds the source between two statements to the result: the comment on the line of the first statement, and
// then lines with only a comment. Blank lines become one blank line before the next line of the result.
func (f *formatter) addComments(start, end int) {
	pieces := strings.Split(string(f.src[start:end]), "\n")
	for i, piece := range pieces {
		comment := strings.Trim(piece, " \t\r")
		switch {
		case i == 0 && start > 0: // the rest of the line of a statement
			f.lines[len(f.lines)-1].comment = comment
		case comment != "":
			f.add(line{comment: comment})
		case i < len(pieces)-1: // the last piece is the indentation of the next statement
			f.blank = true
		}
	}
}

// addStatement adds a header, or a key and its value, to the result.
func (f *formatter) addStatement(s tomlpos.Statement) {
	text := string(f.src[s.Start:s.End])
	if s.Header {
		brackets := 1
		if s.Array {
			brackets = 2
		}
		name := strings.Trim(text[brackets:len(text)-brackets], " \t")
		f.add(line{header: true, code: text[:brackets] + name + text[len(text)-brackets:]})
		return
	}
	key := strings.TrimRight(string(f.src[s.Start:s.Value]), " \t")
	key = strings.TrimRight(strings.TrimSuffix(key, "="), " \t")
	value := string(f.src[s.Value:s.End])
	if strings.HasPrefix(value, `"""`) || strings.HasPrefix(value, "'''") {
		f.add(line{code: key + " = " + value}) // a string with line breaks is not aligned
		return
	}
	f.add(line{key: key, code: value})
}

// text returns the formatted document.
func (f *formatter) text() []byte {
	var b bytes.Buffer
	keys, comments := f.columns()
	for i, l := range f.lines {
		if i > 0 && (l.blank || f.beginsTable(i)) {
			b.WriteByte('\n')
		}
		text := l.code
		if l.key != "" {
			text = l.key + strings.Repeat(" ", keys[i]-width(l.key)) + " = " + l.code
		}
		if l.comment != "" && text != "" {
			text += strings.Repeat(" ", max(comments[i]-width(text), 0)) + " "
		}
		b.WriteString(strings.TrimRight(text+l.comment, " ") + "\n")
	}
	return b.Bytes()
}

// beginsTable reports whether line i is the first line of a table: the first of the comments directly before the header,
// or the header if it has no such comments.
func (f *formatter) beginsTable(i int) bool {
	isComment := func(l line) bool { return l.code == "" && l.key == "" }
	if i > 0 && isComment(f.lines[i-1]) && !f.lines[i].blank { // blank is true if a blank line comes before line i
		return false // a comment is directly before line i
	}
	for j, l := range f.lines[i:] { // skips comments
		if j > 0 && l.blank { // a blank line separates the comments from the header
			return false
		}
		if !isComment(l) {
			return l.header
		}
	}
	return false
}

// columns returns for each line the width to which its key is padded, and the width to which the text before its
// comment is padded.
func (f *formatter) columns() (keys, comments []int) {
	hasKey := func(l line) bool { return l.key != "" }
	keys = f.widest(hasKey, func(i int) int { return width(f.lines[i].key) })
	hasKeyAndComment := func(l line) bool { return l.key != "" && l.comment != "" && !hasLineBreak(l) }
	comments = f.widest(hasKeyAndComment, func(i int) int { return keys[i] + len(" = ") + width(f.lines[i].code) })
	return keys, comments
}

// widest returns for each aligned line the greatest size in its group, and 0 for other lines. size returns the size of
// line i. A group is a run of aligned lines. A blank line ends a group, and so does a line whose value has line breaks.
func (f *formatter) widest(aligned func(line) bool, size func(i int) int) []int {
	result := make([]int, len(f.lines))
	joined := func(i int) bool { // line i is in the group of the line before it
		before, l := f.lines[i-1], f.lines[i]
		return aligned(before) && aligned(l) && !l.blank && !hasLineBreak(before)
	}
	for i, l := range f.lines {
		if aligned(l) {
			result[i] = size(i)
		}
		if i > 0 && joined(i) {
			result[i] = max(result[i], result[i-1])
		}
	}
	for i := len(result) - 1; i > 0; i-- { // now the last line of a group has the greatest size
		if joined(i) {
			result[i-1] = result[i]
		}
	}
	return result
}

// hasLineBreak reports whether the value in a line has line breaks.
func hasLineBreak(l line) bool { return strings.Contains(l.code, "\n") }

func width(text string) int { return utf8.RuneCountInString(text) }
