package jpevents

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Event is one element of events.json. It refers to the scanned data.
type Event struct {
	Index  int // in the array, from 0
	Offset int // in the file, in bytes
	Kind   transcript.Kind
	// Turn is 0 for global kinds. A turn_start begins a turn, and so does the first typed event:
	// old streams have no turn_start.
	Turn      int
	Raw       []byte       // the recorded JSON object
	textValue jsontext.Raw // the value of the text, the arguments or the result; nil for none
	// Recorded values. If a key occurs twice, the last one counts.
	Type      string       `json:"type"`
	Timestamp jsontext.Raw `json:"timestamp"`
	Metadata  jsontext.Raw `json:"metadata"`
	Content   jsontext.Raw `json:"content"`
	Message   jsontext.Raw `json:"message"`
	Reasoning jsontext.Raw `json:"reasoning"`
	Data      jsontext.Raw `json:"data"`
	ID        string       `json:"id"`
	Name      string       `json:"name"`
	Arguments jsontext.Raw `json:"arguments"`
	IsError   bool         `json:"is_error"`
	Question  jsontext.Raw `json:"question"`
	Answer    jsontext.Raw `json:"answer"`
	ToTurn    jsontext.Raw `json:"to_turn"`
	Encoding  string       `json:"encoding"` // only in the output of a command line
	InTurn    jsontext.Raw `json:"turn"`     // the same
}

// interpret sets the kind of the event, and textValue to the recorded value that has its text. An event of an unknown type
// keeps the kind unknown. Of a response the first of message, reasoning and data counts; data is any value.
func (e *Event) interpret() {
	switch e.Type {
	case "turn_start":
		e.Kind = transcript.KindTurnStart
	case "chat_request":
		e.Kind, e.textValue = transcript.KindUser, e.Content
	case "chat_response":
		switch {
		case !isText(e.Message) && isText(e.Reasoning):
			e.Kind, e.textValue = transcript.KindReasoning, e.Reasoning
		case !isText(e.Message) && e.Data != nil:
			e.Kind, e.textValue = transcript.KindStructured, e.Data
		default:
			e.Kind, e.textValue = transcript.KindAssistant, e.Message
		}
	case "tool_call_request":
		e.Kind, e.textValue = transcript.KindToolCall, e.Arguments
	case "tool_call_response":
		e.Kind, e.textValue = transcript.KindToolResult, e.Content
	case "inquiry_request":
		e.Kind = transcript.KindInquiry
		for _, text := range [][]byte{e.Question, jsontext.Get(e.Question, "text")} {
			if isText(text) {
				e.textValue = text
			}
		}
	case "inquiry_response":
		e.Kind, e.textValue = transcript.KindInquiryResponse, e.Answer
	case "system_message": // only in the output of a command line
		e.Kind, e.textValue = transcript.KindSystem, e.Content
	case "config_delta":
		e.Kind = transcript.KindConfigDelta
	case "compaction":
		e.Kind = transcript.KindCompaction
	}
}

func isText(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }

// Time returns the timestamp in UTC; zero if there is none that can be read.
func (e *Event) Time() time.Time {
	t, _ := transcript.ParseTimestamp(jsontext.String(e.Timestamp))
	return t
}

// Printed returns the event without decoding base64, for events that the conversation command line printed. A recorded
// value that is no text, such as the arguments of a call, becomes the Arguments. The result refers to the scanned data.
func (e *Event) Printed() transcript.Event {
	p := transcript.Event{Index: e.Index, Turn: e.Turn, Kind: e.Kind, Time: e.Time(), Name: e.Name, CallID: e.ID, Failed: e.IsError}
	if text, ok := jsontext.Unquote(e.textValue); ok {
		p.Text = jsontext.Unescape(text)
	} else {
		p.Arguments = e.textValue
	}
	return p
}

// Decode returns an event of events.json, in which texts of tools can be in base64. It refers to the scanned data.
func (e *Event) Decode() transcript.Event {
	d := e.Printed()
	d.Object = e.object()
	switch {
	case e.Kind == transcript.KindToolResult && isText(e.textValue):
		d.Text, d.Encoding = AppendDecoded(nil, d.Text)
	case e.textValue != nil && (e.Kind == transcript.KindToolResult || e.Kind == transcript.KindToolCall):
		d.Text = nil
		d.Arguments, d.Encoding = decodeStrings(e.textValue)
	}
	return d
}

// object returns the recorded JSON object, with the texts in its metadata decoded from base64. JP does not encode the
// metadata of global kinds, which are the events outside of turns.
func (e *Event) object() []byte {
	if e.Metadata == nil || e.Kind.Global() {
		return e.Raw
	}
	object := make([]byte, 0, len(e.Raw))
	for m := range jsontext.Members(e.Raw) {
		value := m.Value
		if jsontext.KeyIs(m.Key, "metadata") {
			value, _ = decodeStrings(value)
		}
		object = append(append(append(append(object, `,"`...), m.Key...), `":`...), value...)
	}
	object[0] = '{' // in place of the comma before the first member
	return append(object, '}')
}

// CompactedTurns returns how many turns, from the first, a compaction replaces; 0 if that cannot be read.
func (e *Event) CompactedTurns() int {
	last, err := strconv.Atoi(string(e.ToTurn)) // from 0, inclusive
	if err != nil || e.Kind != transcript.KindCompaction {
		return 0
	}
	return last + 1
}

// AppendDecoded appends the text of a string that may be in base64: padded, standard or URL-safe. JP wrote the results of
// tools so until March 2026. It appends any other string as it is, and also base64 of bytes that are not UTF-8: then the
// encoding is Base64. stored has no JSON escapes.
//
// Line breaks, which Go's decoder skips, and stray bits at the end are not base64.
func AppendDecoded(dst, stored []byte) ([]byte, transcript.Encoding) {
	if len(stored)%4 != 0 || bytes.ContainsAny(stored, "\r\n") {
		return transcript.AppendValid(dst, stored), transcript.Plain
	}
	start := len(dst)
	dst = slices.Grow(dst, len(stored)/4*3)
	n, err := base64.StdEncoding.Strict().Decode(dst[start:cap(dst)], stored)
	if err != nil && bytes.ContainsAny(stored, "-_") {
		n, err = base64.URLEncoding.Strict().Decode(dst[start:cap(dst)], stored)
	}
	switch decoded := dst[start : start+n]; {
	case err != nil:
		return transcript.AppendValid(dst, stored), transcript.Plain
	case !utf8.Valid(decoded):
		return append(dst, stored...), transcript.Base64
	}
	return dst[:start+n], transcript.Plain
}

// decodeStrings returns a compact JSON value with its strings decoded. encoding is Base64 if any string stays so.
func decodeStrings(raw []byte) (value []byte, encoding transcript.Encoding) {
	w := jsontext.Writer{Text: func(dst, raw []byte) []byte {
		dst, stored := AppendDecoded(dst, jsontext.Unescape(raw)) // some writers escape '/', which base64 has
		encoding = max(encoding, stored)                          // Base64 is greater than Plain
		return dst
	}}
	return w.Append(make([]byte, 0, len(raw)), raw), encoding
}
