// Package eventtext makes of an event, from any store, the text that is searched, the
// text that is read, and the JSON for programs.
//
// All of it is valid UTF-8, and may refer to the event.
package eventtext

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
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
func Body(e *transcript.Event, limits transcript.Limits) ([]byte, transcript.BodyInfo) {
	info := transcript.BodyInfo{Encoding: e.Encoding}
	if len(e.Arguments) == 0 {
		return limited(e.Text, limits, &info), info
	}
	info.JSON = true
	w := jsontext.Writer{Indent: true}
	if limits.Part == 0 {
		if c := (cutter{most: limits.Text}); limits.JSON == 0 && e.Kind != transcript.KindInquiryResponse {
			w.Text = c.text()
		}
		limits.Text = limits.JSON
	}
	return limited(w.Append(make([]byte, 0, roomFor(len(e.Arguments))), e.Arguments), limits, &info), info
}

// limited returns what a limit lets through of a text.
func limited(all []byte, limits transcript.Limits, info *transcript.BodyInfo) []byte {
	if limits.Part > 0 {
		before, most := limits.PartRange()
		info.Chars = utf8.RuneCount(all)
		first, _, _ := text.Ends(all, before, 0)
		part, _, _ := text.Ends(all[len(first):], most, 0)
		return part
	}
	if first, last, omitted := ends(all, limits.Text); omitted > 0 {
		info.Chars, info.Head = limits.Text+omitted, transcript.HeadChars(limits.Text)
		return slices.Concat(first, last)
	}
	return all
}

// ends returns the first and the last characters of a text that has more than most of
// them, and how many are between. With a most of 0 it has not.
func ends(all []byte, most int) (first, last []byte, omitted int) {
	if most <= 0 {
		return all, nil, 0
	}
	head := transcript.HeadChars(most)
	return text.Ends(all, head, most-head)
}

// cutter cuts strings, each with a mark where it is cut.
type cutter struct {
	most int  // characters of a string; 0 is any number
	cut  bool // a string was cut
}

func (c *cutter) marked(all []byte) []byte {
	first, last, omitted := ends(all, c.most)
	if omitted == 0 {
		return all
	}
	c.cut = true
	return fmt.Appendf(nil, "%s … %d characters omitted … %s", first, omitted, last)
}

// text is the [jsontext.Writer.Text] that cuts; nil where nothing is cut.
func (c *cutter) text() func(dst, raw []byte) []byte {
	if c.most <= 0 {
		return nil
	}
	return func(dst, raw []byte) []byte {
		start := len(dst)
		dst = transcript.AppendUnescaped(dst, raw)
		return append(dst[:start], c.marked(dst[start:])...)
	}
}
