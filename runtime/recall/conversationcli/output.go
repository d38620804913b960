package conversationcli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
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

// formats returns the values of --format.
func formats() []string { return []string{"auto", "text", "text-pretty", "json", "json-pretty"} }

// markdownFormat is a value of --format of print alone.
const markdownFormat = "markdown"

// resolveFormat reads --format of all commands but print.
func (c *commands) resolveFormat() (format, error) {
	if c.formatFlag == markdownFormat {
		return format{}, usageError("use text or json", "only print writes markdown")
	}
	return c.printFormat()
}

// printFormat reads --format of print, and checks what depends on it.
func (c *commands) printFormat() (format, error) {
	var f format
	switch c.formatFlag {
	case "auto":
		f.pretty = c.host.Terminal
	case "text":
	case "text-pretty":
		f.pretty = true
	case "json":
		f.json = true
	case "json-pretty":
		f.json, f.pretty = true, true
	case markdownFormat:
		f.markdown = true
	default:
		return f, usageError("use auto, text, text-pretty, json or json-pretty", "unknown output format %q", c.formatFlag)
	}
	if c.summary && !f.json {
		return f, usageError("add --format=json", "--summary is an element of JSON output")
	}
	f.colour = !f.json && f.pretty && c.host.Terminal && c.host.Getenv("NO_COLOR") == "" && c.host.Getenv("TERM") != "dumb"
	return f, nil
}

// style has a text in a style where there is colour.
func (f format) style(style, text string) string {
	if !f.colour {
		return text
	}
	return style + text + styleReset
}

// results writes what a command has to tell: text, or an array of JSON. After a
// write that fails nothing is written any more, and err is why.
type results struct {
	format   format
	terminal bool
	out      *bufio.Writer
	err      error
	n        int          // elements of the array
	pending  bytes.Buffer // the element that is written, where it is to be indented
}

// results returns what --format asks for.
func (c *commands) results() (*results, error) {
	f, err := c.resolveFormat()
	return c.newResults(f), err
}

func (c *commands) newResults(f format) *results {
	return &results{format: f, terminal: c.host.Terminal, out: bufio.NewWriterSize(c.host.Stdout, 64<<10)}
}

// write writes a piece of output.
func (r *results) write(p []byte) {
	if _, err := r.out.Write(p); err != nil {
		r.err = fmt.Errorf("writing the results: %w", err)
	}
}

func (r *results) flush() error {
	if err := r.out.Flush(); err != nil {
		r.err = fmt.Errorf("writing the results: %w", err)
	}
	return r.err
}

// show shows text that was written, where people wait for it.
func (r *results) show() error {
	if r.format.json {
		return r.err
	}
	return r.flush()
}

// close ends the output.
func (r *results) close() error {
	r.end()
	switch {
	case !r.format.json:
	case r.n == 0:
		r.write([]byte("[]\n"))
	case r.format.pretty:
		r.write([]byte("\n]\n"))
	default:
		r.write([]byte("]\n"))
	}
	return r.flush()
}

// add writes a text, or an object of JSON in its place.
func (r *results) add(text string, o object) {
	if r.format.json {
		r.element(appendValue(nil, o))
	} else {
		r.write([]byte(text))
	}
}

// element writes an element, which is compact JSON.
func (r *results) element(element []byte) {
	r.begin()
	r.part(element)
}

// begin begins an element, to be written in parts.
func (r *results) begin() {
	r.end()
	before := "["
	if r.n > 0 {
		before = ","
	}
	if r.format.pretty {
		before += "\n  "
	}
	r.n++
	r.write([]byte(before))
}

// part writes a part of an element that is compact JSON and breaks at the
// boundary of a character.
func (r *results) part(p []byte) {
	if r.terminal {
		p = text.AppendJSON(nil, p)
	}
	if r.format.pretty {
		r.pending.Write(p)
	} else {
		r.write(p)
	}
}

// end writes the element that is to be indented.
func (r *results) end() {
	var indented bytes.Buffer
	if r.pending.Len() == 0 {
		return
	}
	if err := json.Indent(&indented, r.pending.Bytes(), "  ", "  "); err != nil {
		r.err = fmt.Errorf("writing the results: %w", err)
	}
	r.pending.Reset()
	r.write(indented.Bytes())
}

// object is an object of JSON: keys in order, each followed by its value.
type object []any

// appendValue appends a value as compact JSON.
func appendValue(dst []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...)
	case string:
		return appendQuoted(dst, v)
	case transcript.ID:
		return appendQuoted(dst, string(v))
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case bool:
		return strconv.AppendBool(dst, v)
	case time.Time:
		return appendTime(dst, v)
	case error:
		return appendQuoted(dst, v.Error())
	case json.RawMessage:
		return append(dst, v...)
	case []string:
		return appendArray(dst, v)
	case []transcript.ID:
		return appendArray(dst, v)
	case []object:
		return appendArray(dst, v)
	case object:
		dst = append(dst, '{')
		for i := 0; i < len(v); i += 2 {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendValue(dst, v[i]), ':')
			dst = appendValue(dst, v[i+1])
		}
		return append(dst, '}')
	}
	panic(fmt.Sprintf("no JSON is written of %T", value))
}

func appendArray[T any](dst []byte, values []T) []byte {
	dst = append(dst, '[')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendValue(dst, v)
	}
	return append(dst, ']')
}

// objects makes an object of each value.
func objects[T any](values []T, of func(T) object) []object {
	made := make([]object, len(values))
	for i, v := range values {
		made[i] = of(v)
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

// nano is a time with all digits that it has; null for the zero time.
func nano(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// orNull is a value, and null for an empty text, and for a 0 where counting
// starts at 1.
func orNull[T ~string | int](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}

// printObject prints an object of JSON over several lines.
func (c *commands) printObject(o object) error {
	return cli.PrintJSON(c.host.Stdout, c.host.Terminal, json.RawMessage(appendValue(nil, o)))
}

// about begins an object about a conversation.
func about(id transcript.ID, title string, more ...any) object {
	return append(object{"id", id, "title", orNull(title)}, more...)
}

// appendTime appends RFC 3339 in UTC, and null for the zero time. Fractions of a
// second have three, six or nine digits, as JP writes them.
func appendTime(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, "null"...)
	}
	digits := t.UTC().Format("2006-01-02T15:04:05.000000000")
	for range 3 {
		digits = strings.TrimSuffix(digits, "000")
	}
	return appendQuoted(dst, strings.TrimSuffix(digits, ".")+"Z")
}

func appendQuoted(dst []byte, s string) []byte {
	return transcript.AppendQuoted(dst, []byte(s))
}
