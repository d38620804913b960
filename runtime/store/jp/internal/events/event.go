package events

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Field names a recorded key of an event.
type Field uint8

// The keys the accessors of [Event] know. Other keys are only part of Raw.
const (
	FieldType Field = iota
	FieldTimestamp
	FieldMetadata
	FieldContent
	FieldMessage
	FieldReasoning
	FieldData
	FieldID
	FieldName
	FieldArguments
	FieldIsError
	FieldQuestion
	FieldAnswer
	numFields
)

// Event is one element of events.json. When a key occurs twice, the last one
// counts.
type Event struct {
	Index  int   // position in the array, from 0
	Offset int64 // byte offset of the event in the file
	Kind   transcript.Kind
	Turn   int // 1-based; 0 for global kinds

	data       []byte // the whole file
	start, end int
	present    uint16 // one bit per Field; fields is only valid where set
	fields     [numFields]span
}

type span struct{ start, end int }

// Raw returns the recorded JSON object. It aliases the scanned data.
func (e *Event) Raw() []byte { return e.data[e.start:e.end:e.end] }

// Field returns the recorded JSON value of a key, quotes included for strings,
// and false when the key is missing. It aliases the scanned data.
func (e *Event) Field(f Field) ([]byte, bool) {
	if f >= numFields || e.present>>f&1 == 0 {
		return nil, false
	}
	v := e.fields[f]
	return e.data[v.start:v.end:v.end], true
}

// HasTimestamp reports whether the event has a timestamp key that holds a
// string. The string may still not be a timestamp.
func (e *Event) HasTimestamp() bool {
	_, ok := e.stringField(FieldTimestamp)
	return ok
}

// Time returns the timestamp, in UTC; zero where there is none that can be used.
func (e *Event) Time() time.Time {
	raw, ok := e.stringField(FieldTimestamp)
	if !ok {
		return time.Time{}
	}
	return parseTime(raw)
}

// parseTime reads what stands between the quotes of a timestamp.
func parseTime(raw []byte) time.Time {
	if jsontext.HasEscape(raw) { // legal, if never seen
		raw = transcript.AppendUnescaped(nil, raw)
	}
	t, err := transcript.ParseTimestamp(raw)
	if err != nil {
		return time.Time{}
	}
	return t
}

// IsError reports whether a tool result is marked as an error.
func (e *Event) IsError() bool {
	raw, _ := e.Field(FieldIsError)
	return string(raw) == "true"
}

// AppendString appends the decoded text of a field that holds a JSON string,
// and nothing for any other value. It does not decode base64: it is for
// FieldType, FieldName, FieldID and the like.
func (e *Event) AppendString(dst []byte, f Field) []byte {
	raw, _ := e.stringField(f)
	return transcript.AppendUnescaped(dst, raw)
}

// Decode returns the event as a plain value, which refers to the scanned data.
func (e *Event) Decode() transcript.Event {
	d := transcript.Event{
		Index: e.Index, Turn: e.Turn, Kind: e.Kind, Time: e.Time(),
		Name: string(e.AppendString(nil, FieldName)), CallID: string(e.AppendString(nil, FieldID)),
		Failed: e.IsError(), CompactedTurns: e.CompactedTurns(), Object: e.object(),
	}
	if e.Kind == transcript.KindInquiry {
		d.Text = unescaped(e.question())
		return d
	}
	raw, ok := e.content()
	if !ok {
		return d
	}
	text, isText := jsontext.Unquote(raw)
	switch e.Kind {
	case transcript.KindToolCall:
		d.Arguments, d.Encoding = decodeStrings(raw)
	case transcript.KindToolResult:
		if isText {
			d.Text, d.Encoding = appendStored(nil, text)
		} else {
			d.Arguments, d.Encoding = decodeStrings(raw)
		}
	default:
		if isText {
			d.Text = unescaped(text)
		} else {
			d.Arguments = raw
		}
	}
	return d
}

// unescaped returns the text of a string; raw is between its quotes.
func unescaped(raw []byte) []byte {
	return transcript.AppendUnescaped(make([]byte, 0, len(raw)), raw)
}

// object returns the recorded object, with decoded metadata, which JP stores as it stores
// tool data.
func (e *Event) object() []byte {
	metadata, ok := e.Field(FieldMetadata)
	if !ok || !e.Kind.Typed() {
		return e.Raw()
	}
	decoded, _ := decodeStrings(metadata)
	at := e.fields[FieldMetadata]
	return slices.Concat(e.data[e.start:at.start], decoded, e.data[at.end:e.end])
}

// CompactedTurns returns how many turns, from the first, a compaction replaces.
func (e *Event) CompactedTurns() int {
	if e.Kind != transcript.KindCompaction {
		return 0
	}
	// The bounds on disk count from 0 and include the last turn. One that cannot be
	// read covers nothing.
	var c struct {
		ToTurn *int `json:"to_turn"`
	}
	if err := json.Unmarshal(e.Raw(), &c); err != nil || c.ToTurn == nil {
		return 0
	}
	return *c.ToTurn + 1
}

// contentFields are the fields of what was said, asked for or returned; FieldType stands for
// none.
var contentFields = [...]Field{
	transcript.KindUser:            FieldContent,
	transcript.KindAssistant:       FieldMessage,
	transcript.KindReasoning:       FieldReasoning,
	transcript.KindStructured:      FieldData,
	transcript.KindToolCall:        FieldArguments,
	transcript.KindToolResult:      FieldContent,
	transcript.KindInquiryResponse: FieldAnswer,
}

func (e *Event) content() ([]byte, bool) {
	if int(e.Kind) >= len(contentFields) || contentFields[e.Kind] == FieldType {
		return nil, false
	}
	return e.Field(contentFields[e.Kind])
}

// stringField returns what stands between the quotes of a field that holds a
// JSON string.
func (e *Event) stringField(f Field) ([]byte, bool) {
	raw, _ := e.Field(f)
	return jsontext.Unquote(raw)
}

// question returns the text of an inquiry, as it stands between its quotes:
// {"text": …}, or the question itself where it is a string.
func (e *Event) question() []byte {
	raw, _ := e.Field(FieldQuestion)
	if text, ok := jsontext.Unquote(raw); ok {
		return text
	}
	return jsontext.GetText(raw, "text")
}

func (e *Event) set(f Field, v span) {
	e.fields[f] = v
	e.present |= 1 << f
}

// classify finds the kind from the type and, for a chat_response, from which of
// its three forms is there: a message or reasoning must be a string, data may be
// anything.
func (e *Event) classify() transcript.Kind {
	name, ok := e.stringField(FieldType)
	if !ok {
		return transcript.KindUnknown
	}
	kind := kindOf(name)
	if kind != transcript.KindAssistant {
		return kind
	}
	if _, ok := e.stringField(FieldMessage); ok {
		return transcript.KindAssistant
	}
	if _, ok := e.stringField(FieldReasoning); ok {
		return transcript.KindReasoning
	}
	if _, ok := e.Field(FieldData); ok {
		return transcript.KindStructured
	}
	return transcript.KindAssistant
}

func kindOf(name []byte) transcript.Kind {
	for kind, recorded := range kindTypes {
		if recorded != "" && jsontext.KeyIs(name, recorded) {
			return transcript.Kind(kind)
		}
	}
	return transcript.KindUnknown
}

// kindTypes are the recorded types, by the kind they stand for by themselves.
var kindTypes = [...]string{
	transcript.KindTurnStart:       "turn_start",
	transcript.KindUser:            "chat_request",
	transcript.KindAssistant:       "chat_response",
	transcript.KindToolCall:        "tool_call_request",
	transcript.KindToolResult:      "tool_call_response",
	transcript.KindInquiry:         "inquiry_request",
	transcript.KindInquiryResponse: "inquiry_response",
	transcript.KindConfigDelta:     "config_delta",
	transcript.KindCompaction:      "compaction",
}

// fieldNames are the keys of the fields.
var fieldNames = [numFields]string{
	FieldType: "type", FieldTimestamp: "timestamp", FieldMetadata: "metadata", FieldContent: "content", FieldMessage: "message",
	FieldReasoning: "reasoning", FieldData: "data", FieldID: "id", FieldName: "name", FieldArguments: "arguments",
	FieldIsError: "is_error", FieldQuestion: "question", FieldAnswer: "answer",
}

// fieldOf finds the field of a key as it stands between its quotes.
func fieldOf(key []byte) (Field, bool) {
	escaped := jsontext.HasEscape(key)
	for f, name := range fieldNames {
		if string(key) == name || escaped && jsontext.KeyIs(key, name) {
			return Field(f), true
		}
	}
	return 0, false
}
