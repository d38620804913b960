package conversationcli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
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

// results writes what a command has to tell: text, or an array of JSON. After a write
// that fails nothing is written any more, and err is why.
type results struct {
	format   format
	terminal bool
	out      *bufio.Writer
	err      error
	n        int // elements of the array
}

// results returns what --format asks for.
func (c *commands) results(cmd *cobra.Command) (*results, error) {
	f := format{pretty: strings.HasSuffix(c.formatFlag, "-pretty")}
	switch strings.TrimSuffix(c.formatFlag, "-pretty") {
	case "auto", "":
		f.pretty = c.host.Terminal
	case "text":
	case "json":
		f.json = true
	case "markdown":
		if f.markdown = true; cmd.Name() != "print" {
			return nil, usageError("use text or json", "only print writes markdown")
		}
	default:
		return nil, usageError("use auto, text, text-pretty, json or json-pretty", "unknown output format %q", c.formatFlag)
	}
	if c.summary && !f.json {
		return nil, usageError("add --format=json", "--summary is an element of JSON output")
	}
	f.colour = !f.json && f.pretty && c.host.Terminal && c.host.Getenv("NO_COLOR") == "" && c.host.Getenv("TERM") != "dumb"
	return &results{format: f, terminal: c.host.Terminal, out: bufio.NewWriterSize(c.host.Stdout, 64<<10)}, nil
}

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
	before := "["
	if r.n > 0 {
		before = ","
	}
	indent := ""
	if r.format.pretty {
		indent, before = "  ", before+"\n  "
	}
	element, err := marshal(value, indent)
	if r.terminal {
		element = text.AppendJSON(nil, element)
	}
	r.n++
	if r.write(before + string(element)); err != nil {
		r.err = err
	}
}

// object writes an object over several lines, in place of an array.
func (r *results) object(o object) error {
	r.format.json = false
	return cli.PrintJSON(r.out, r.terminal, o)
}

// show shows text that was written, where people wait for it.
func (r *results) show() error {
	if !r.format.json {
		r.flush()
	}
	return r.err
}

func (r *results) flush() {
	if err := r.out.Flush(); err != nil && r.err == nil {
		r.err = fmt.Errorf("writing the results: %w", err)
	}
}

// close ends the output.
func (r *results) close() error {
	switch {
	case !r.format.json:
	case r.n == 0:
		r.write("[]\n")
	case r.format.pretty:
		r.write("\n]\n")
	default:
		r.write("]\n")
	}
	r.flush()
	return r.err
}

// marshal writes a value as JSON, in which text stays as it is.
func marshal(value any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indent != "" {
		e.SetIndent(indent, indent)
	}
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// object is an object of JSON: keys in order, each followed by its value.
type object []any

// MarshalJSON implements [json.Marshaler]. No list is null, and no map.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, value := range o {
		switch v := value.(type) {
		case time.Time:
			value = timestamp(v)
		case error:
			value = v.Error()
		case *conversations.Problem:
			value = damageOf(v)
		}
		switch v := reflect.ValueOf(value); {
		case v.Kind() == reflect.Slice && v.IsNil():
			value = [0]int{}
		case v.Kind() == reflect.Map && v.IsNil():
			value = object{}
		}
		element, err := marshal(value, "")
		if err != nil {
			return nil, err
		}
		b = append(append(b, element...), ":,"[i%2])
	}
	return append(bytes.TrimSuffix(b, []byte(",")), '}'), nil
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

// damageOf is what is wrong with a conversation; nil for nothing.
func damageOf(p *conversations.Problem) any {
	if p == nil {
		return nil
	}
	return p.Err.Error()
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
