package conversationcli

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/transcript"
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

// resolveFormat reads --format and checks what depends on it.
func (c *commands) resolveFormat() (format, error) {
	var f format
	switch c.format {
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
		return f, usageError("use text or json", "only print writes markdown")
	default:
		return f, usageError("use auto, text, text-pretty, json or json-pretty", "unknown output format %q", c.format)
	}
	if c.summary && !f.json {
		return f, usageError("add --format=json", "--summary is an element of JSON output")
	}
	f.colour = !f.json && f.pretty && c.host.Terminal && c.host.Getenv("NO_COLOR") == "" && c.host.Getenv("TERM") != "dumb"
	return f, nil
}

// output buffers the results of a command. After a failed write every further
// one fails at once, so that work stops when nobody reads it.
type output struct {
	*bufio.Writer
}

func newOutput(w io.Writer) output { return output{bufio.NewWriterSize(w, 64<<10)} }

// write writes a piece of output and says why that failed.
func (o output) write(p []byte) error {
	if _, err := o.Write(p); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}

func (o output) flush() error {
	if err := o.Flush(); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}

// array streams a JSON array, one element at a time.
type array struct {
	out      output
	pretty   bool
	terminal bool // the output is a terminal
	n        int
	layout   indenter
}

func (c *commands) newArray(out output, f format) *array {
	return &array{out: out, pretty: f.pretty, terminal: c.host.Terminal}
}

// results writes what a command has to tell of conversations: objects in an array of JSON,
// or text.
type results struct {
	out   output
	array *array // nil for text
	rec   record
}

func (c *commands) newResults(f format) *results {
	r := &results{out: newOutput(c.host.Stdout)}
	if f.json {
		r.array = c.newArray(r.out, f)
	}
	return r
}

// add writes a text, or in its place an object of JSON with what fill puts into it.
func (r *results) add(text string, fill func(*record)) error {
	if r.array == nil {
		return r.out.write([]byte(text))
	}
	r.rec.reset()
	fill(&r.rec)
	return r.array.add(r.rec.end())
}

func (r *results) close() error {
	if r.array == nil {
		return r.out.flush()
	}
	return r.array.close()
}

// about begins a record of a conversation.
func (r *record) about(id, title string) {
	r.string("id", id)
	r.optional("title", title)
}

// add writes an element, which is compact JSON.
func (a *array) add(element []byte) error {
	if err := a.next(); err != nil {
		return err
	}
	return a.part(element)
}

// next begins an element, to be written in parts.
func (a *array) next() error {
	open, between := "[", ","
	if a.pretty {
		open, between = "[\n  ", ",\n  "
	}
	if a.n > 0 {
		open = between
	}
	a.n++
	a.layout.depth = 1
	return a.out.write([]byte(open))
}

// part writes a part of an element that is compact JSON and breaks at the
// boundary of a character.
func (a *array) part(p []byte) error {
	if a.terminal {
		p = text.AppendJSON(nil, p)
	}
	if a.pretty {
		p = a.layout.lay(p)
	}
	return a.out.write(p)
}

func (a *array) close() error {
	end := "]\n"
	switch {
	case a.n == 0:
		end = "[]\n"
	case a.pretty:
		end = "\n]\n"
	}
	if err := a.out.write([]byte(end)); err != nil {
		return err
	}
	return a.out.flush()
}

// record builds one JSON object.
type record struct {
	buf []byte
	// sink, when set, takes the beginning of an object that grows large; what end
	// returns is the rest.
	sink func([]byte) error
	err  error // the one sink returned
}

// maxPart is how many bytes of text are written at a time.
const maxPart = 32 << 10

// reset starts a new object in the same memory.
func (r *record) reset() { r.buf = append(r.buf[:0], '{') }

// spill hands a large buffer to the sink, all but the last character, which tells
// key whether a comma is due.
func (r *record) spill() {
	if r.sink == nil || len(r.buf) < maxPart {
		return
	}
	last := len(r.buf) - 1
	// The sink takes whole characters.
	for last > 0 && !utf8.RuneStart(r.buf[last]) {
		last--
	}
	if r.err == nil {
		r.err = r.sink(r.buf[:last])
	}
	r.buf = append(r.buf[:0], r.buf[last:]...)
}

// longText writes a text of any length.
func (r *record) longText(key string, value []byte) {
	r.key(key)
	r.longValue(value)
}

func (r *record) longValue(value []byte) {
	r.buf = append(r.buf, '"')
	for part := range parts(value) {
		if r.err != nil {
			return
		}
		// The opening quote of a part goes where the last byte before it is.
		last := len(r.buf) - 1
		before := r.buf[last]
		r.buf = transcript.AppendQuoted(r.buf[:last], part)
		r.buf[last] = before
		r.buf = r.buf[:len(r.buf)-1]
		r.spill()
	}
	r.buf = append(r.buf, '"')
}

// parts cuts a text into parts of up to maxPart bytes between characters, and
// never between a carriage return and a line feed.
func parts(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(text) > maxPart {
			n := maxPart
			for n > maxPart-utf8.UTFMax && (!utf8.RuneStart(text[n]) || text[n-1] == '\r') {
				n--
			}
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
		if len(text) > 0 {
			yield(text)
		}
	}
}

// end closes the object; the result is valid until the next reset.
func (r *record) end() []byte {
	r.buf = append(r.buf, '}')
	return r.buf
}

func (r *record) key(key string) {
	if len(r.buf) > 0 && r.buf[len(r.buf)-1] != '{' {
		r.buf = append(r.buf, ',')
	}
	r.buf = append(r.buf, '"')
	r.buf = append(r.buf, key...)
	r.buf = append(r.buf, '"', ':')
}

func (r *record) null(key string) {
	r.key(key)
	r.buf = append(r.buf, "null"...)
}

func (r *record) string(key, value string) {
	r.key(key)
	r.buf = appendQuoted(r.buf, value)
}

// optional writes null for an empty string.
func (r *record) optional(key, value string) {
	if value == "" {
		r.null(key)
		return
	}
	r.string(key, value)
}

func (r *record) int(key string, value int) {
	r.key(key)
	r.buf = strconv.AppendInt(r.buf, int64(value), 10)
}

// positive writes null for 0, which stands for "none" where counting starts at 1.
func (r *record) positive(key string, value int) {
	if value == 0 {
		r.null(key)
		return
	}
	r.int(key, value)
}

func (r *record) bool(key string, value bool) {
	r.key(key)
	r.buf = strconv.AppendBool(r.buf, value)
}

// time writes RFC 3339 in UTC, and null for the zero time. Fractions of a second
// have three, six or nine digits, as JP writes them.
func (r *record) time(key string, value time.Time) {
	if value.IsZero() {
		r.null(key)
		return
	}
	r.key(key)
	r.buf = append(r.buf, '"')
	value = value.UTC()
	layout := "2006-01-02T15:04:05.000000000Z"
	switch ns := value.Nanosecond(); {
	case ns == 0:
		layout = "2006-01-02T15:04:05Z"
	case ns%1_000_000 == 0:
		layout = "2006-01-02T15:04:05.000Z"
	case ns%1_000 == 0:
		layout = "2006-01-02T15:04:05.000000Z"
	}
	r.buf = value.AppendFormat(r.buf, layout)
	r.buf = append(r.buf, '"')
}

// raw writes a value that is JSON already.
func (r *record) raw(key string, value []byte) {
	r.key(key)
	r.buf = append(r.buf, value...)
}

func appendQuoted(dst []byte, s string) []byte {
	return transcript.AppendQuoted(dst, []byte(s))
}

// addSummary writes the element {"summary":{…}}.
func (a *array) addSummary(fill func(*record)) error {
	var inner record
	inner.reset()
	fill(&inner)
	var outer record
	outer.reset()
	outer.raw("summary", inner.end())
	return a.add(outer.end())
}

// ids writes an array of conversation ids.
func (r *record) ids(key string, ids []transcript.ID) {
	r.key(key)
	r.buf = append(r.buf, '[')
	for i, id := range ids {
		if i > 0 {
			r.buf = append(r.buf, ',')
		}
		r.buf = appendQuoted(r.buf, string(id))
	}
	r.buf = append(r.buf, ']')
}

// objects writes an array of n objects.
func (r *record) objects(key string, n int, fill func(i int, r *record)) {
	r.key(key)
	r.buf = append(r.buf, '[')
	for i := range n {
		if i > 0 {
			r.buf = append(r.buf, ',')
		}
		r.buf = append(r.buf, '{')
		fill(i, r)
		r.buf = append(r.buf, '}')
	}
	r.buf = append(r.buf, ']')
}
