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

// TOML returns src formatted. The result decodes to the same values. The error is [ErrSyntax] if src is not TOML.
func TOML(src []byte) ([]byte, error) {
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	statements, whole := tomlpos.Scan(src).Statements()
	if !whole {
		return nil, ErrSyntax
	}
	f := &formatter{src: src}
	pos := 0
	for _, s := range statements {
		f.between(pos, s.Start)
		f.statement(s)
		pos = s.End
	}
	f.between(pos, len(src))
	out := f.text()
	return out, same(src, out)
}

// same returns an error if two documents decode to different values.
func same(a, b []byte) error {
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
		return ok && (a == b || math.IsNaN(a) && math.IsNaN(b))
	default:
		return reflect.DeepEqual(a, b)
	}
}

// line is a line of the result, or several lines for a string with line breaks.
type line struct {
	blank   bool   // a blank line comes before it
	header  bool   // it is the header of a table
	key     string // the text before =, for an aligned entry
	code    string // the text after =, or the whole of another line
	comment string
}

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

// between reads the source between two statements: the comment after the first one, then comment lines and blank
// lines.
func (f *formatter) between(start, end int) {
	pieces := strings.Split(string(f.src[start:end]), "\n")
	for i, piece := range pieces {
		comment := strings.Trim(piece, " \t\r")
		switch {
		case i == 0 && start > 0:
			f.comment(comment)
		case comment != "":
			f.add(line{comment: comment})
		case i < len(pieces)-1:
			f.blank = true
		}
	}
}

// comment adds a comment to the last line.
func (f *formatter) comment(text string) {
	if text != "" {
		f.lines[len(f.lines)-1].comment = text
	}
}

// statement reads a header, or a key and its value.
func (f *formatter) statement(s tomlpos.Statement) {
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

// beginsTable reports whether a line is a header, or the first of the comments directly before one.
func (f *formatter) beginsTable(i int) bool {
	isComment := func(i int) bool { return f.lines[i].code == "" && f.lines[i].key == "" }
	if i > 0 && isComment(i-1) && !f.lines[i].blank {
		return false
	}
	for ; i < len(f.lines); i++ {
		switch {
		case f.lines[i].header:
			return true
		case !isComment(i):
			return false
		case i+1 < len(f.lines) && f.lines[i+1].blank:
			return false
		}
	}
	return false
}

// columns returns the columns of = and of the comment for each line. The widest line of a group determines them.
func (f *formatter) columns() (keys, comments []int) {
	keys, comments = make([]int, len(f.lines)), make([]int, len(f.lines))
	align := func(column []int, member func(line) bool, size func(int) int) {
		for i := 0; i < len(f.lines); {
			end, widest := i, 0
			for end < len(f.lines) && member(f.lines[end]) && (end == i || !f.lines[end].blank && !over(f.lines[end-1])) {
				widest = max(widest, size(end))
				end++
			}
			for j := i; j < end; j++ {
				column[j] = widest
			}
			i = max(end, i+1)
		}
	}
	align(keys, func(l line) bool { return l.key != "" }, func(i int) int { return width(f.lines[i].key) })
	trailing := func(l line) bool { return l.comment != "" && l.key != "" && !over(l) }
	align(comments, trailing, func(i int) int {
		return keys[i] + len(" = ") + width(f.lines[i].code)
	})
	return keys, comments
}

// over reports whether a line has line breaks in it.
func over(l line) bool { return strings.Contains(l.code, "\n") }

func width(text string) int { return utf8.RuneCountInString(text) }
