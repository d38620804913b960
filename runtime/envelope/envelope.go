// Package envelope writes the XML-style answers of tools. Recorded content goes
// into them unchanged to the eye, and can neither close an element nor hide
// anything from a reader.
//
// Element and attribute names come from generated code and are trusted. Nothing
// else is: every attribute value and every body is escaped here, so that no
// caller has to remember to. The package never drops a character silently.
package envelope

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
)

// Writer builds one document. Elements nest by two spaces; the text ends
// without a newline. The zero value is ready to use.
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
	tagChildren                 // has a child element on a line of its own
	tagBody                     // has a body or child elements beside it, ends on the line it is on
)

// Bytes returns the document so far.
func (w *Writer) Bytes() []byte { return w.buf }

// Open starts an element inside the current one.
func (w *Writer) Open(name string) {
	if len(w.stack) > 0 {
		w.inside()
		w.stack[len(w.stack)-1].tag = tagChildren
		w.newline(len(w.stack))
	}
	w.begin(name)
}

// OpenBeside starts an element inside the current one, on the line of what stands
// before it.
func (w *Writer) OpenBeside(name string) {
	if len(w.stack) > 0 {
		w.inside()
	}
	w.begin(name)
}

// inside ends the start tag of the current element, where it is still open.
func (w *Writer) inside() {
	if top := &w.stack[len(w.stack)-1]; top.tag == tagOpen {
		w.buf = append(w.buf, '>')
		top.tag = tagBody
	}
}

func (w *Writer) begin(name string) {
	w.buf = append(w.buf, '<')
	w.buf = append(w.buf, name...)
	w.stack = append(w.stack, frame{name: name})
}

// Close ends the current element: as an empty tag where nothing was put in it.
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
	w.buf = append(w.buf, "</"...)
	w.buf = append(w.buf, top.name...)
	w.buf = append(w.buf, '>')
}

func (w *Writer) newline(depth int) {
	w.buf = append(w.buf, '\n')
	for range depth {
		w.buf = append(w.buf, "  "...)
	}
}

// Attribute writes an attribute: a text, an integer, a boolean, or a time as RFC 3339 in UTC, in
// whole seconds. Attributes are for values this program vouches for; they are escaped all the
// same.
func (w *Writer) Attribute(name string, value any) {
	if at, ok := value.(time.Time); ok {
		value = at.UTC().Format("2006-01-02T15:04:05Z")
	}
	w.buf = append(append(append(w.buf, ' '), name...), `="`...)
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\t", "&#9;")
	w.buf = append(w.buf, escape.Replace(text.Line(fmt.Sprint(value)))...)
	w.buf = append(w.buf, '"')
}

// Body makes a text the body of the current element, in a form: inline, lines, json or block.
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

// Inline makes a text the body of the current element, on one line: line breaks
// become spaces. It stands as it is where nothing in it can be taken for markup,
// and in one CDATA section otherwise.
func (w *Writer) Inline(body string) {
	w.inline(text.Line(body))
}

// Lines is [Writer.Inline] for a text of several lines: line breaks stay.
func (w *Writer) Lines(body string) { w.inline(text.Visible(body)) }

func (w *Writer) inline(clean string) {
	w.inside()
	if !strings.ContainsAny(clean, "<&") && !strings.Contains(clean, "]]>") {
		w.buf = append(w.buf, clean...)
		return
	}
	w.buf = append(w.buf, "<![CDATA["...)
	w.cdata(clean)
	w.buf = append(w.buf, "]]>"...)
}

// Block makes a text the body of the current element, verbatim between a newline
// after the opening and one before the closing of a CDATA section. Everything
// between those two newlines is content.
func (w *Writer) Block(body string) {
	w.inside()
	w.buf = append(w.buf, "<![CDATA[\n"...)
	w.cdata(text.Visible(body))
	w.buf = append(w.buf, "\n]]>"...)
}

// JSON makes a JSON text the body of the current element, in a fence: no line of a JSON text can
// begin with a backtick. A text that is not JSON, such as one that had to be shortened, is in a
// fence one backtick longer than the longest run of backticks inside.
func (w *Writer) JSON(body string) {
	w.inside()
	w.buf = append(w.buf, "<![CDATA[\n"...)
	fence := "```"
	if json.Valid([]byte(body)) {
		w.buf = append(w.buf, "```json\n"...)
		w.buf = append(w.buf, strings.ReplaceAll(string(text.JSON(body)), "]]>", `]]\u003e`)...) // outside strings JSON has no '>'
	} else {
		fence = strings.Repeat("`", max(3, longestRun(body, '`')+1))
		w.buf = append(append(w.buf, fence...), '\n')
		w.cdata(text.Visible(body))
	}
	w.buf = append(append(append(w.buf, '\n'), fence...), "\n]]>"...)
}

// cdata writes a clean text into an open CDATA section. The section is ended and begun again inside every "]]>", so that
// the text cannot end it.
func (w *Writer) cdata(clean string) {
	w.buf = append(w.buf, strings.ReplaceAll(clean, "]]>", "]]]]><![CDATA[>")...)
}

func longestRun(s string, b byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != b {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// Chars is the length of a document as caps count it: in Unicode characters.
func Chars(document []byte) int { return utf8.RuneCount(document) }
