// Package envelope writes the XML-style answers of tools. Recorded content in them looks unchanged, but can neither
// close an element nor hide anything from a reader.
//
// Names of elements and attributes come from generated code and are trusted. Everything else is untrusted and escaped
// here, so that callers need not. The package never drops a character silently.
package envelope

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
)

// Writer builds one document. Nested elements are indented; no newline is at the end. The zero value is ready to use.
type Writer struct {
	buf   []byte
	stack []frame
}

type frame struct {
	name string
	tag  tagState
}

type tagState uint8

const (
	tagOpen     tagState = iota // "<name attr…" is written, ">" is not
	tagChildren                 // has a child element on its own line
	tagBody                     // has a body, or child elements on the same line
)

// Bytes returns the document so far.
func (w *Writer) Bytes() []byte { return w.buf }

// Open starts an element inside the current one, on a line of its own.
func (w *Writer) Open(name string) {
	if len(w.stack) > 0 {
		w.endStartTag()
		w.stack[len(w.stack)-1].tag = tagChildren
		w.newline(len(w.stack))
	}
	w.begin(name)
}

// OpenBeside starts an element inside the current one, on the same line as the content before it.
func (w *Writer) OpenBeside(name string) {
	if len(w.stack) > 0 {
		w.endStartTag()
	}
	w.begin(name)
}

// endStartTag ends the start tag of the current element if it is still open.
func (w *Writer) endStartTag() {
	if top := &w.stack[len(w.stack)-1]; top.tag == tagOpen {
		w.buf = append(w.buf, '>')
		top.tag = tagBody
	}
}

// begin writes the start tag of an element without its end, and makes the element the current one.
func (w *Writer) begin(name string) {
	w.buf = append(w.buf, "<"+name...)
	w.stack = append(w.stack, frame{name: name})
}

// Close ends the current element, as an empty tag if it has no content.
func (w *Writer) Close() {
	top := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	switch top.tag {
	case tagOpen:
		w.buf = append(w.buf, "/>"...)
		return
	case tagChildren:
		w.newline(len(w.stack))
	case tagBody:
	}
	w.buf = append(w.buf, "</"+top.name+">"...)
}

func (w *Writer) newline(depth int) {
	w.buf = append(w.buf, '\n')
	for range depth {
		w.buf = append(w.buf, "  "...)
	}
}

// Attribute writes an attribute: a text, an integer, a boolean, or a time as RFC 3339 in UTC, in whole seconds.
// Attributes are for values of this program; they are escaped all the same.
func (w *Writer) Attribute(name string, value any) {
	if t, ok := value.(time.Time); ok {
		value = t.UTC().Format("2006-01-02T15:04:05Z")
	}
	escaped := text.Line(fmt.Sprint(value))
	if strings.ContainsAny(escaped, "&<>\"\t") { // making a replacer takes longer than all else here
		escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\t", "&#9;").Replace(escaped)
	}
	w.buf = append(w.buf, " "+name+`="`+escaped+`"`...)
}

// Body writes the body of the current element in a form: inline, lines, json or block.
func (w *Writer) Body(form, text string) {
	switch form {
	case "inline":
		w.Inline(text)
	case "lines":
		w.Lines(text)
	case "json":
		w.JSON(text)
	default:
		w.Block(text)
	}
}

// Inline writes the body of the current element on one line, in a CDATA section if it could be taken for markup.
func (w *Writer) Inline(body string) {
	w.inline(text.Line(body))
}

// Lines is [Writer.Inline] for several lines: line breaks stay.
func (w *Writer) Lines(body string) { w.inline(text.Visible(body)) }

// inline writes a clean text as the body of the current element, in a CDATA section if it could be taken for markup.
func (w *Writer) inline(clean string) {
	w.endStartTag()
	if !strings.ContainsAny(clean, "<&") && !strings.Contains(clean, "]]>") {
		w.buf = append(w.buf, clean...)
		return
	}
	w.buf = append(w.buf, "<![CDATA["...)
	w.cdata(clean)
	w.buf = append(w.buf, "]]>"...)
}

// Block writes the body of the current element, with hidden characters made visible, in a CDATA section that begins and
// ends with a newline. The content is everything between those two newlines.
func (w *Writer) Block(body string) {
	w.endStartTag()
	w.buf = append(w.buf, "<![CDATA[\n"...)
	w.cdata(text.Visible(body))
	w.buf = append(w.buf, "\n]]>"...)
}

// JSON writes the body of the current element, which is JSON, between two lines of three backticks, in a CDATA section.
// If the body is not JSON, for instance because it was cut, the lines have more backticks than the body has in a row.
func (w *Writer) JSON(body string) {
	w.endStartTag()
	w.buf = append(w.buf, "<![CDATA[\n"...)
	fence := "```"
	if json.Valid([]byte(body)) {
		w.buf = append(w.buf, "```json\n"...)
		w.buf = append(w.buf, strings.ReplaceAll(string(text.JSON(body)), "]]>", `]]\u003e`)...) // outside strings JSON has no '>'
	} else {
		fence = strings.Repeat("`", max(3, text.LongestRun(body, '`')+1))
		w.buf = append(w.buf, fence+"\n"...)
		w.cdata(text.Visible(body))
	}
	w.buf = append(w.buf, "\n"+fence+"\n]]>"...)
}

// cdata writes a clean text in an open CDATA section. Each "]]>" in it is split between two sections.
func (w *Writer) cdata(clean string) {
	w.buf = append(w.buf, strings.ReplaceAll(clean, "]]>", "]]]]><![CDATA[>")...)
}

// Chars returns the length of a document in Unicode characters, as limits count it.
func Chars(document []byte) int { return utf8.RuneCount(document) }
