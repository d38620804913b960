// Package eventtext returns the searched text, the text for reading and the JSON of an event of any store.
//
// The texts are valid UTF-8, and can be parts of the event.
package eventtext

import (
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Searched returns the text that is searched: the text of the event; for a call the name of the tool and, on the next
// line, the arguments, indented and without the escapes in their strings. Kinds without a scope have none.
func Searched(e *transcript.Event) []byte {
	if e.Kind.Scope() == 0 {
		return nil
	}
	if e.Kind != transcript.KindToolCall {
		return e.Text
	}
	searched := make([]byte, 0, len(e.Name)+len("\n")+len(e.Text)+roomFor(len(e.Arguments)))
	searched = append(searched, e.Name...)
	switch {
	case len(e.Arguments) > 0 && !jsontext.IsEmpty(e.Arguments):
		w := jsontext.Writer{Indent: true, Unescaped: true}
		searched = w.Append(append(searched, '\n'), e.Arguments)
	case len(e.Text) > 0:
		searched = append(append(searched, '\n'), e.Text...)
	}
	return searched
}

// roomFor returns the usual size of a text of n bytes as JSON.
func roomFor(n int) int { return n + n/8 }

// Body returns the text for reading: the text of the event, or the arguments of a call as indented JSON.
func Body(e *transcript.Event) []byte {
	if len(e.Arguments) == 0 {
		return e.Text
	}
	w := jsontext.Writer{Indent: true}
	return w.Append(make([]byte, 0, roomFor(len(e.Arguments))), e.Arguments)
}
