package events

import (
	"encoding/json"
	"time"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Field names a recorded key of an event.
type Field uint8

// The keys the accessors of [Event] know. Other keys are only part of Raw and
// AppendJSON.
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

// Stored implements [transcript.Record]. The slice aliases the scanned data.
func (e *Event) Stored() ([]byte, transcript.StoredForm) {
	if e.Kind == transcript.KindToolCall {
		return e.Raw(), transcript.StoredCall
	}
	f, base64 := e.textField()
	raw, ok := e.stringField(f)
	switch {
	case !ok:
		return nil, transcript.StoredOtherwise
	case base64:
		return raw, transcript.StoredBase64
	}
	return raw, transcript.StoredString
}

// AppendText implements [transcript.Record]. Of structured data it has only what is
// a string.
func (e *Event) AppendText(dst []byte) ([]byte, transcript.Encoding) {
	switch e.Kind {
	case transcript.KindToolCall:
		dst = e.AppendName(dst, 0)
		if raw, ok := e.Field(FieldArguments); ok && !jsontext.IsEmpty(raw) {
			w := jsontext.Writer{Indent: true, Decoder: base64Strings{}}
			dst = w.Append(append(dst, '\n'), raw)
			return dst, w.Encoding
		}
		return dst, transcript.Plain
	case transcript.KindInquiry:
		return transcript.AppendUnescaped(dst, e.question()), transcript.Plain
	}
	f, base64 := e.textField()
	raw, _ := e.stringField(f)
	if base64 {
		return appendStored(dst, raw)
	}
	return transcript.AppendUnescaped(dst, raw), transcript.Plain
}

// AppendBody implements [transcript.Record].
func (e *Event) AppendBody(dst []byte, limits transcript.Limits) ([]byte, transcript.BodyInfo) {
	f := FieldAnswer
	w := jsontext.Writer{Indent: true}
	switch e.Kind {
	case transcript.KindInquiry:
		return appendBody(dst, e.question(), limits, false)
	case transcript.KindToolCall:
		f, w.Decoder, w.MaxText = FieldArguments, base64Strings{}, limits.Text
	case transcript.KindStructured:
		f, w.MaxText = FieldData, limits.Text
	case transcript.KindInquiryResponse:
	default:
		var base64 bool
		f, base64 = e.textField()
		if raw, ok := e.stringField(f); ok {
			return appendBody(dst, raw, limits, base64)
		}
		w.Decoder, w.MaxText = decoder(base64), limits.Text
	}
	raw, ok := e.Field(f)
	if !ok {
		return dst, transcript.BodyInfo{}
	}
	if text, ok := jsontext.Unquote(raw); ok && e.Kind != transcript.KindToolCall {
		if e.Kind == transcript.KindInquiryResponse || limits.Part > 0 {
			return appendBody(dst, text, limits, false)
		}
		dst = w.AppendMarked(dst, text)
		return dst, transcript.BodyInfo{Cut: w.Cut}
	}
	if limits.Part > 0 {
		w.MaxText = 0
	} else {
		limits.Text = limits.JSON
	}
	w.Whole = jsontext.Keep(len(dst), limits)
	dst = w.Whole.Finish(w.Append(dst, raw))
	info := transcript.BodyInfo{Encoding: w.Encoding, JSON: true, Cut: w.Cut}
	w.Whole.Describe(&info)
	return dst, info
}

// appendBody appends what the limits let through of the text of a string.
func appendBody(dst, raw []byte, limits transcript.Limits, base64 bool) ([]byte, transcript.BodyInfo) {
	k := jsontext.Keep(len(dst), limits)
	var info transcript.BodyInfo
	dst, info.Encoding = k.Append(dst, raw, decoder(base64))
	k.Describe(&info)
	return dst, info
}

// AppendName implements [transcript.Record].
func (e *Event) AppendName(dst []byte, most int) []byte { return e.appendFirst(dst, FieldName, most) }

// AppendCallID implements [transcript.Record].
func (e *Event) AppendCallID(dst []byte, most int) []byte { return e.appendFirst(dst, FieldID, most) }

func (e *Event) appendFirst(dst []byte, f Field, most int) []byte {
	raw, _ := e.stringField(f)
	k := jsontext.KeepFirst(len(dst), most)
	dst, _ = k.Append(dst, raw, nil)
	return dst
}

// CompactedTurns implements [transcript.Record].
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

// textField returns the field of the main text. For kinds without one it is a
// field that does not exist.
func (e *Event) textField() (f Field, base64 bool) {
	switch e.Kind {
	case transcript.KindUser:
		return FieldContent, false
	case transcript.KindAssistant:
		return FieldMessage, false
	case transcript.KindReasoning:
		return FieldReasoning, false
	case transcript.KindStructured:
		return FieldData, false
	case transcript.KindToolResult:
		return FieldContent, true
	}
	return numFields, false
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
	var text []byte
	for m := range jsontext.Members(raw) {
		if jsontext.KeyIs(m.Key, "text") {
			text, _ = jsontext.Unquote(m.Value)
		}
	}
	return text
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
