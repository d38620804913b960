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
	"github.com/convtools/convtools/runtime/transcript"
)

// Styles of a terminal that shows colour.
const (
	styleMatch = "\x1b[1;31m"
	styleID    = "\x1b[1m"
	styleDim   = "\x1b[2m"
	styleReset = "\x1b[0m"
)

// output writes the results of a command: text, or an array of JSON. After the first
// error, which it keeps, it writes nothing.
type output struct {
	json     bool
	markdown bool // of print alone
	pretty   bool // JSON over several lines; text laid out for people
	colour   bool
	terminal bool
	width    int // of the terminal; 0 where it is not known
	to       *bufio.Writer
	err      error
	elements int // of the array; -1 where there is another value in its place
}

// newOutput returns the output that --format or --json asks for.
func (c *commands) newOutput(cmd *cobra.Command) (*output, error) {
	o := &output{terminal: c.host.Terminal, width: c.host.Width, to: bufio.NewWriterSize(c.host.Stdout, 64<<10)}
	name, isPretty := strings.CutSuffix(c.format, "-pretty")
	o.pretty = isPretty || o.terminal && (name == "" || name == "auto")
	o.json, o.markdown = name == "json", name == "markdown"
	if o.markdown && cmd.Name() != "print" {
		return nil, misused("use text or json", "only print writes markdown")
	}
	getenv := c.host.Getenv
	o.colour = o.terminal && o.pretty && !o.json && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	return o, nil
}

// addJSON defines the flag --json, which stands for a format.
func (c *commands) addJSON(cmd *cobra.Command, format string) {
	cmd.Flags().BoolFunc("json", "print the results as JSON, for programs", func(string) error {
		c.format = format
		return nil
	})
}

// style returns a text in a style where there is colour.
func (o *output) style(style, text string) string {
	if !o.colour {
		return text
	}
	return style + text + styleReset
}

// keep keeps the first error.
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

// add writes a text, or JSON in its place.
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
		element = text.AppendJSON(nil, element)
	}
	o.elements++
	o.write(before + string(element))
}

// object writes an object over several lines in place of the array.
func (o *output) object(value object) {
	o.elements = -1
	o.keep(cli.PrintJSON(o.to, o.terminal, value))
}

// isBegun reports whether there is output that has to be ended, or shown.
func (o *output) isBegun() bool { return o.elements > 0 || o.to.Buffered() > 0 }

// flush shows what was written.
func (o *output) flush() error {
	o.keep(o.to.Flush())
	return o.err
}

// close ends the output.
func (o *output) close() error {
	if o.json && o.elements >= 0 {
		o.write(either(o.elements == 0, "[", either(o.pretty, "\n", "")) + "]\n")
	}
	return o.flush()
}

// object is an object of JSON: keys in order, each followed by its value. A time is written
// as [timestamp] does, an error as its text, and no list or map is null.
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
		b.Truncate(b.Len() - 1) // the end of the line
		b.WriteByte(":,"[i%2])
	}
	return append(bytes.TrimSuffix(b.Bytes(), []byte(",")), '}'), nil
}

// with returns the object with a key more, unless its value is the zero value.
func (o object) with(key string, value any) object {
	if reflect.ValueOf(value).IsZero() {
		return o
	}
	return append(o, key, value)
}

// objects returns an object for each value.
func objects[T any](values []T, of func(*T) object) (made []object) {
	for i := range values {
		made = append(made, of(&values[i]))
	}
	return made
}

// orNull returns a value, and null for an empty text or a 0.
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

// timestamp writes RFC 3339 in UTC, and null for the zero time. Fractions of a second
// have three, six or nine digits, as JP writes them.
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

// isTable reports whether lists are laid out for a terminal.
func (o *output) isTable() bool { return o.terminal && o.pretty && !o.json }

// The fewest columns that one of a table is cut to, and the most of the last one in a pipe.
const (
	minRoom = 10
	maxRoom = 200
)

// table writes rows below a head, with their columns aligned, those of right to the right.
// Unless they are wanted in full, the widest columns but the first one are cut until a
// terminal has room for all.
func (o *output) table(full bool, rows [][]string, right ...int) {
	widths := make([]int, len(rows[0]))
	last, taken := len(widths)-1, 2*(len(widths)-1)
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], text.Width(row[i]))
		}
		if i == last && !full {
			widths[i] = min(widths[i], maxRoom)
		}
		taken += widths[i]
	}
	for room := o.width; !full && o.isTable() && room > 0 && taken > room; taken-- {
		widest := widestOf(widths)
		if widest == 0 {
			break
		}
		widths[widest]--
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

// widestOf returns the column of a table that is cut next: the widest one, where titles, the
// last one, count half. The first one is never cut; it stands for none.
func widestOf(widths []int) (column int) {
	most := 0
	for i, width := range widths {
		weight := width
		if i == len(widths)-1 {
			weight = width / 2
		}
		if i > 0 && width > minRoom && weight > most {
			column, most = i, weight
		}
	}
	return column
}

// telling removes the columns of a table but its first and last in which no row has a text;
// on a terminal a dash is none. It returns the head.
func (o *output) telling(rows [][]string) []string {
	for column := len(rows[0]) - 2; column > 0; column-- {
		tells := func(row []string) bool { return row[column] != "" && (row[column] != "-" || !o.isTable()) }
		if !slices.ContainsFunc(rows[1:], tells) {
			for i := range rows {
				rows[i] = slices.Delete(rows[i], column, column+1)
			}
		}
	}
	return rows[0]
}

// filled returns the texts that are not empty.
func filled(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// shortPath writes a path for people, with "~" for the home directory.
func (c *commands) shortPath(path string) string {
	return text.Cell(config.Short(path, c.host.Getenv))
}
