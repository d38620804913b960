package conversationcli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// Styles of a terminal that shows colour.
const (
	styleMatch = "\x1b[1;31m"
	styleID    = "\x1b[1m"
	styleDim   = "\x1b[2m"
	styleReset = "\x1b[0m"
)

// format is how results are written.
type format struct {
	json     bool
	markdown bool // of print alone
	pretty   bool // JSON over several lines; text laid out for people
	colour   bool
}

// style has a text in a style where there is colour.
func (f format) style(style, text string) string {
	if !f.colour {
		return text
	}
	return style + text + styleReset
}

// either is one of two texts.
func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// filled are the texts that are not empty.
func filled(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// results writes what a command has to tell: text, or an array of JSON. After a write
// that fails nothing is written any more, and err is why.
type results struct {
	format   format
	terminal bool
	out      *bufio.Writer
	err      error
	n        int // elements of the array
}

// results returns what --format or --json ask for.
func (c *commands) results(cmd *cobra.Command) (*results, error) {
	name := c.formatFlag
	if asJSON, _ := cmd.Flags().GetBool("json"); asJSON { // there need not be such a flag
		name = "json" + either(cmd.Name() == "import", "-pretty", "")
	}
	f := format{pretty: strings.HasSuffix(name, "-pretty")}
	switch name {
	case "auto", "":
		f.pretty = c.host.Terminal
	case "text", "text-pretty":
	case "json", "json-pretty":
		f.json = true
	case "markdown":
		if f.markdown = true; cmd.Name() != "print" {
			return nil, usageError("use text or json", "only print writes markdown")
		}
	default:
		return nil, usageError("use auto, text, text-pretty, json or json-pretty", "unknown output format %q", name)
	}
	f.colour = !f.json && f.pretty && c.host.Terminal && c.host.Getenv("NO_COLOR") == "" && c.host.Getenv("TERM") != "dumb"
	return &results{format: f, terminal: c.host.Terminal, out: bufio.NewWriterSize(c.host.Stdout, 64<<10)}, nil
}

// addJSON defines the flag for output for programs.
func addJSON(cmd *cobra.Command, usage string) { cmd.Flags().Bool("json", false, usage) }

// write writes a piece of output.
func (r *results) write(text string) {
	if _, err := r.out.WriteString(text); err != nil && r.err == nil {
		r.err = fmt.Errorf("writing the results: %w", err)
	}
}

// add writes a text, or JSON in its place.
func (r *results) add(shown string, value any) {
	if !r.format.json {
		r.write(shown)
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if r.format.pretty {
		e.SetIndent("  ", "  ")
	}
	r.err = cmp.Or(r.err, e.Encode(value))
	element := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if r.terminal {
		element = text.AppendJSON(nil, element)
	}
	r.write(either(r.n > 0, ",", "[") + either(r.format.pretty, "\n  ", "") + string(element))
	r.n++
}

// object writes an object over several lines, in place of an array.
func (r *results) object(o object) error {
	r.format.json = false
	return cli.PrintJSON(r.out, r.terminal, o)
}

// flush shows what was written.
func (r *results) flush() error {
	if err := r.out.Flush(); err != nil && r.err == nil {
		r.err = fmt.Errorf("writing the results: %w", err)
	}
	return r.err
}

// isBegun reports whether there is output that has to be ended, or shown.
func (r *results) isBegun() bool { return r.n > 0 || r.out.Buffered() > 0 }

// close ends the output.
func (r *results) close() error {
	if r.format.json {
		r.write(either(r.n == 0, "[", either(r.format.pretty, "\n", "")) + "]\n")
	}
	return r.flush()
}

// object is an object of JSON: keys in order, each followed by its value.
type object []any

// MarshalJSON implements [json.Marshaler]. No list is null, and no map.
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
		case *conversations.Problem: // nil for none
			if value = nil; v != nil {
				value = v.Err.Error()
			}
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

// objects makes an object of each value.
func objects[T any](values []T, of func(T) object) []object {
	var made []object
	for _, v := range values {
		made = append(made, of(v))
	}
	return made
}

// given is a key with a text; nothing where that is empty.
func given(key, value string) object {
	if value == "" {
		return nil
	}
	return object{key, value}
}

// orNull is a value, and null for an empty text, and for a 0 where counting starts
// at 1.
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

// printTable writes a head, rows as a table, and remarks below it.
func (c *commands) printTable(head string, rows [][]string, remarks []string, right ...int) {
	lines := align(rows, right...)
	if len(remarks) > 0 {
		lines = slices.Concat(lines, []string{""}, remarks)
	}
	for _, line := range lines {
		head += strings.TrimRight(line, " ") + "\n"
	}
	c.out.write(head)
}

// align makes lines of rows, with columns below one another and two spaces after each.
// The columns right are aligned to the right.
func align(rows [][]string, right ...int) []string {
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], text.Width(cell))
		}
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		for column, cell := range row {
			pad := strings.Repeat(" ", widths[column]-text.Width(cell))
			if slices.Contains(right, column) {
				cell, pad = pad+cell, ""
			}
			lines[i] += cell + pad + "  "
		}
	}
	return lines
}

// How wide a column of titles is: at least on a terminal, and at most where the width
// is not known, such as in a pipe.
const (
	minTitleWidth = 20
	maxTitleWidth = 200
)

// room is how many columns a title may have on a line on which so many are taken.
func (c *commands) room(full bool, taken int) int {
	switch {
	case full:
		return math.MaxInt
	case c.out.format.pretty && c.host.Terminal && c.host.Width > 0:
		return max(c.host.Width-taken, minTitleWidth)
	}
	return maxTitleWidth
}

func eventsCell(l *conversations.Listed) string {
	if l.Damage != nil {
		return "?"
	}
	return strconv.Itoa(l.Events)
}

// fullTime is the form of a time in full, in UTC.
const fullTime = "2006-01-02 15:04:05Z"

// when writes a time for people: its age, or in full.
func (c *commands) when(t time.Time, full bool) string {
	switch {
	case t.IsZero():
		return "?"
	case full:
		return t.UTC().Format(fullTime)
	}
	return age(t.UTC(), c.host.Now().UTC())
}

// age writes how long ago t was in its largest unit.
func age(t, now time.Time) string {
	d := now.Sub(t)
	if d < -time.Minute {
		return "in the future"
	}
	for _, u := range units() {
		if n := int(d / u.length); n > 0 && u.length > time.Second {
			return plural(n, u.names[len(u.names)-1]) + " ago"
		}
	}
	return "just now"
}

// shortPath writes a path for people, with "~" for the home directory.
func (c *commands) shortPath(path string) string {
	return text.Cell(config.Short(path, c.host.Getenv))
}
