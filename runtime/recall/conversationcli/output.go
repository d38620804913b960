package conversationcli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/transcript"
)

// Styles of a terminal that shows colour.
const (
	styleMatch = "\x1b[1;31m"
	styleID    = "\x1b[1m"
	styleDim   = "\x1b[2m"
	styleReset = "\x1b[0m"
)

// output writes the results of a command: text, or a JSON array. It keeps the first error of writing.
type output struct {
	json     bool
	pretty   bool // JSON over several lines; text laid out for people
	colour   bool
	terminal bool
	width    int // of the terminal; 0 if unknown
	to       *bufio.Writer
	err      error
	elements int // of the array; -1 if another value replaces it
}

// newOutput returns the output that --format or --json asks for.
func (c *commands) newOutput() *output {
	o := &output{terminal: c.host.Terminal, width: c.host.Width, to: bufio.NewWriterSize(c.host.Stdout, 64<<10)}
	name, isPretty := strings.CutSuffix(c.format, "-pretty")
	o.pretty = isPretty || o.terminal && (name == "" || name == "auto")
	o.json = name == "json"
	getenv := c.host.Getenv
	o.colour = o.terminal && o.pretty && !o.json && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	return o
}

// addJSON defines the flag --json, which selects a format.
func (c *commands) addJSON(cmd *cobra.Command, format string) {
	cmd.Flags().BoolFunc("json", "print the results as JSON, for programs", func(string) error {
		c.format = format
		return nil
	})
}

// style returns a text in a style, or as it is if there is no colour.
func (o *output) style(style, text string) string {
	if !o.colour {
		return text
	}
	return style + text + styleReset
}

// keep keeps err if it is the first error.
func (o *output) keep(err error) {
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("writing the results: %w", err)
	}
}

// write writes a piece of output.
func (o *output) write(text string) {
	_, err := o.to.WriteString(text)
	o.keep(err)
}

// add writes shown if the output is text, or value as an element of the JSON array.
func (o *output) add(shown string, value any) {
	if !o.json {
		o.write(shown)
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	before := either(o.elements > 0, ",", "[")
	if o.pretty {
		e.SetIndent("  ", "  ")
		before += "\n  "
	}
	o.keep(e.Encode(value))
	element := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if o.terminal {
		element = text.JSON(element)
	}
	o.elements++
	o.write(before + string(element))
}

// object writes an object over several lines as the whole output: close does not write the array of JSON elements.
func (o *output) object(value object) {
	o.elements = -1 // no array
	o.keep(cli.PrintJSON(o.to, o.terminal, value))
}

// isBegun reports whether there is output to end or to flush.
func (o *output) isBegun() bool { return o.elements > 0 || o.to.Buffered() > 0 }

// flush hands on what is written, and returns the first error of the output.
func (o *output) flush() error {
	o.keep(o.to.Flush())
	return o.err
}

// close ends the array of JSON output, which is "[]" if it has no element, and flushes the output.
func (o *output) close() error {
	switch {
	case o.json && o.elements == 0:
		o.write("[]\n")
	case o.json && o.elements > 0: // -1 if there is another value in place of the array
		o.write(either(o.pretty, "\n", "") + "]\n")
	}
	return o.flush()
}

// object is an object of JSON: keys in order, each followed by its value. A time is encoded by
// [timestamp], an error as its text, and a nil slice or map as an empty one.
type object []any

// MarshalJSON implements [json.Marshaler].
func (o object) MarshalJSON() ([]byte, error) {
	b := bytes.NewBufferString("{")
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	for i, value := range o {
		switch v := value.(type) {
		case time.Time:
			value = timestamp(v)
		case error:
			value = v.Error()
		}
		switch v := reflect.ValueOf(value); {
		case v.Kind() == reflect.Slice && v.IsNil():
			value = [0]int{}
		case v.Kind() == reflect.Map && v.IsNil():
			value = object{}
		}
		if err := e.Encode(value); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - 1) // without the line end, which Encode writes
		b.WriteByte(":,"[i%2])  // keys have an even index, and their values an odd one
	}
	return append(bytes.TrimSuffix(b.Bytes(), []byte(",")), '}'), nil
}

// with returns the object with another key, unless the value is nil or zero.
func (o object) with(key string, value any) object {
	if v := reflect.ValueOf(value); !v.IsValid() || v.IsZero() {
		return o
	}
	return append(o, key, value)
}

// objects returns the object of each value.
func objects[T any](values []T, objectOf func(*T) object) (list []object) {
	for i := range values {
		list = append(list, objectOf(&values[i]))
	}
	return list
}

// orNull returns a value for JSON: nil, which becomes null, for an empty text or 0.
func orNull[T ~string | int](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}

// about begins an object about a conversation.
func about(id transcript.ID, title string, more ...any) object {
	return append(object{"id", id, "title", orNull(title)}, more...)
}

// timestamp returns a time in RFC 3339 and UTC; nil, which becomes null, for the zero time. A fraction of a second has
// three, six or nine digits, as in JP.
func timestamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	digits := t.UTC().Format("2006-01-02T15:04:05.000000000")
	for range 3 {
		digits = strings.TrimSuffix(digits, "000")
	}
	return strings.TrimSuffix(digits, ".") + "Z"
}

// isTable reports whether lists are tables for a person at a terminal.
func (o *output) isTable() bool { return o.terminal && o.pretty && !o.json }

// The least width of a column that is cut, and the greatest of the last column.
const (
	minRoom = 10
	maxRoom = 200
)

// table writes rows with aligned columns; the first row has the heads of the columns. right has the indexes of columns to
// align to the right. Unless full is set, table cuts columns so that rows fit a terminal, and the last one to maxRoom.
func (o *output) table(full bool, rows [][]string, right ...int) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], text.Width(cell))
		}
	}
	if last := len(widths) - 1; !full {
		widths[last] = min(widths[last], maxRoom)
		if o.isTable() && o.width > 0 {
			fit(widths, o.width-2*last) // two spaces between columns
		}
	}
	for n, row := range rows {
		line := ""
		for i, cell := range row {
			cell = text.Truncate(cell, widths[i])
			pad := strings.Repeat(" ", widths[i]-text.Width(cell))
			line += either(slices.Contains(right, i), pad+cell, cell+pad) + "  "
		}
		line = strings.TrimRight(line, " ")
		o.write(either(n == 0, o.style(styleDim, line), line) + "\n")
	}
}

// fit reduces the widths of columns until their sum is at most room, or all except the first have at most minRoom. It
// always reduces the widest column, but never the first one. The last one, which has the titles, counts as half as wide.
func fit(widths []int, room int) {
	for _, width := range widths {
		room -= width
	}
	for ; room < 0; room++ {
		widest, most := 0, 0 // the index of the widest column, and its width; 0 if no column can be reduced
		for i, width := range widths {
			if isTitles := i == len(widths)-1; isTitles {
				width /= 2
			}
			if i > 0 && widths[i] > minRoom && width > most {
				widest, most = i, width
			}
		}
		if widest == 0 {
			return
		}
		widths[widest]--
	}
}

// dropEmpty removes the columns that are empty in all rows, except the first and the last column. In a table on a
// terminal a dash is empty too. It returns the heads of the columns that are left; the first row has the heads.
func (o *output) dropEmpty(rows [][]string) []string {
	for column := len(rows[0]) - 2; column > 0; column-- {
		hasText := func(row []string) bool { return row[column] != "" && (row[column] != "-" || !o.isTable()) }
		if !slices.ContainsFunc(rows[1:], hasText) {
			for i := range rows {
				rows[i] = slices.Delete(rows[i], column, column+1)
			}
		}
	}
	return rows[0]
}

// filled returns the texts that are not empty. It reuses the slice.
func filled(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// shortPath returns a path for people, with "~" for the home directory.
func (c *commands) shortPath(path string) string {
	return text.Cell(config.Short(path, c.host.Getenv))
}

// coloured returns recorded text in a style, with the spans in the style of matches. It ignores a span that overlaps an
// earlier span. It makes hidden characters visible, so that the text cannot add a style.
func (o *output) coloured(recorded string, spans []excerpt.Span, style string) string {
	if !o.colour {
		return text.Visible(recorded)
	}
	var b strings.Builder
	b.WriteString(style)
	end := 0
	for _, span := range spans {
		if span.Start >= end && span.End > span.Start {
			b.WriteString(text.Visible(recorded[end:span.Start]) + styleMatch + text.Visible(recorded[span.Start:span.End]) + styleReset + style)
			end = span.End
		}
	}
	b.WriteString(text.Visible(recorded[end:]))
	return b.String() + either(style == "", "", styleReset)
}
