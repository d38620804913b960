// Package eventtext makes of an event, from any store, the text that is searched, the
// text that is read, and the JSON for programs.
//
// All of it is valid UTF-8, and may refer to the event.
package eventtext

import (
	"bytes"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Searched returns the text that is searched: what was said, thought, asked or returned;
// of a call the name of the tool and, on the next line, its arguments, indented and
// without the escapes in their strings. Kinds that no scope has have none.
func Searched(e *transcript.Event) []byte {
	switch {
	case e.Kind.Scope() == 0:
		return nil
	case e.Kind != transcript.KindToolCall:
		return e.Text
	}
	searched := make([]byte, 0, len(e.Name)+len("\n")+len(e.Text)+roomFor(len(e.Arguments)))
	searched = append(searched, e.Name...)
	switch {
	case len(e.Arguments) > 0 && !jsontext.IsEmpty(e.Arguments):
		w := jsontext.Writer{Indent: true}
		searched = w.Append(append(searched, '\n'), e.Arguments)
	case len(e.Text) > 0:
		searched = append(append(searched, '\n'), e.Text...)
	}
	return unescapeStrings(searched, len(e.Name))
}

// unescapeStrings unescapes the strings of the JSON text[from:], in place: no escape is
// shorter than its character. A string that does not end is unescaped to the end.
func unescapeStrings(text []byte, from int) []byte {
	out, last := text[:from], bytes.LastIndexByte(text, '\\')
	for from <= last {
		n := bytes.IndexByte(text[from:], '"')
		if n < 0 {
			break
		}
		open := from + n
		end := jsontext.StringEnd(text, open)
		closing := end - 1
		if end < 0 {
			closing = len(text)
		}
		out = append(out, text[from:open+1]...)
		out = transcript.AppendUnescaped(out, text[open+1:closing])
		if from = closing; end >= 0 {
			out, from = append(out, '"'), end
		}
	}
	return append(out, text[from:]...)
}

// roomFor returns how many bytes so many usually become as JSON.
func roomFor(bytes int) int { return bytes + bytes/8 }

// Body returns the text that is read: as [Searched] returns it, except that it has only
// the arguments of a call, as JSON, and also answers and structured data.
func Body(e *transcript.Event) ([]byte, transcript.BodyInfo) {
	info := transcript.BodyInfo{Encoding: e.Encoding, JSON: len(e.Arguments) > 0}
	if !info.JSON {
		return e.Text, info
	}
	w := jsontext.Writer{Indent: true}
	return w.Append(make([]byte, 0, roomFor(len(e.Arguments))), e.Arguments), info
}
