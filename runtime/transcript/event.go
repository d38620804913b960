package transcript

import "time"

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
	Kind   Kind
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

// Timestamp parses the timestamp, in UTC. The error is ErrNoTimestamp when
// there is none.
func (e *Event) Timestamp() (time.Time, error) {
	raw, ok := e.stringField(FieldTimestamp)
	if !ok {
		return time.Time{}, ErrNoTimestamp
	}
	if t, ok := parseTimestamp(raw); ok {
		return t, nil
	}
	// Escapes in a timestamp are legal, if never seen.
	return ParseTimestamp(string(AppendUnescaped(nil, raw)))
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
	return AppendUnescaped(dst, raw)
}

// RawText returns the main text of an event as it is stored: what stands
// between the quotes, JSON escapes included. It is for cheap tests on stored
// bytes before the exact AppendText. base64 reports that JP stores this text
// as base64. ok is false for kinds without one main string (tool calls,
// inquiries, structured data that is not a string, …) and when the string is
// missing. The slice aliases the scanned data.
func (e *Event) RawText() (raw []byte, base64, ok bool) {
	f, base64 := e.textField()
	raw, ok = e.stringField(f)
	return raw, base64 && ok, ok
}

// AppendText appends the text of an event as people read and search it:
//
//   - user, assistant, reasoning: the text;
//   - structured: the data when it is a JSON string, else nothing;
//   - tool call: the tool name, then, when there are any, a newline and the
//     arguments as by AppendArguments;
//   - tool result: the decoded content;
//   - inquiry: the text of the question;
//   - all others: nothing.
//
// The result is valid UTF-8. Encoding is Base64 when stored base64 could not be
// decoded; the text is then as stored.
func (e *Event) AppendText(dst []byte) ([]byte, Encoding) {
	switch e.Kind {
	case KindToolCall:
		dst = e.AppendString(dst, FieldName)
		nameEnd := len(dst)
		dst = append(dst, '\n')
		dst, enc := e.AppendArguments(dst)
		if len(dst) == nameEnd+1 {
			dst = dst[:nameEnd]
		}
		return dst, enc
	case KindInquiry:
		return e.appendQuestion(dst), Plain
	}
	raw, base64, _ := e.RawText()
	if base64 {
		return appendStored(dst, raw)
	}
	return AppendUnescaped(dst, raw), Plain
}

// AppendArguments appends the decoded arguments of a tool call as JSON with an
// indent of two spaces: keys in recorded order, numbers as written, no HTML
// escaping. It appends nothing when there are none, or {}. Encoding is Base64
// when at least one string could not be decoded and stands as stored.
func (e *Event) AppendArguments(dst []byte) ([]byte, Encoding) {
	raw, ok := e.Field(FieldArguments)
	if !ok || isEmptyContainer(raw) {
		return dst, Plain
	}
	w := valueWriter{pretty: true, decode: true}
	dst = w.append(dst, raw)
	return dst, w.encoding
}

// AppendPretty appends the JSON value of a field with an indent of two spaces,
// without decoding base64; nothing when the field is missing.
func (e *Event) AppendPretty(dst []byte, f Field) []byte {
	raw, ok := e.Field(f)
	if !ok {
		return dst
	}
	w := valueWriter{pretty: true}
	return w.append(dst, raw)
}

// textField returns the field of the main text. For kinds without one it is a
// field that does not exist.
func (e *Event) textField() (f Field, base64 bool) {
	switch e.Kind {
	case KindUser:
		return FieldContent, false
	case KindAssistant:
		return FieldMessage, false
	case KindReasoning:
		return FieldReasoning, false
	case KindStructured:
		return FieldData, false
	case KindToolResult:
		return FieldContent, true
	}
	return numFields, false
}

// stringField returns what stands between the quotes of a field that holds a
// JSON string.
func (e *Event) stringField(f Field) ([]byte, bool) {
	raw, _ := e.Field(f)
	return unquote(raw)
}

// appendQuestion appends the text of an inquiry: {"text": …}, or the question
// itself where it is a string.
func (e *Event) appendQuestion(dst []byte) []byte {
	raw, _ := e.Field(FieldQuestion)
	if text, ok := unquote(raw); ok {
		return AppendUnescaped(dst, text)
	}
	var text []byte
	for m := range members(raw) {
		if keyIs(m.key, "text") {
			text, _ = unquote(m.value)
		}
	}
	return AppendUnescaped(dst, text)
}

func (e *Event) set(f Field, v span) {
	e.fields[f] = v
	e.present |= 1 << f
}

// classify finds the kind from the type and, for a chat_response, from which of
// its three forms is there: a message or reasoning must be a string, data may be
// anything.
func (e *Event) classify() Kind {
	name, ok := e.stringField(FieldType)
	if !ok {
		return KindUnknown
	}
	kind, ok := kindOf(name)
	if !ok && hasEscape(name) {
		kind, _ = kindOf(withoutEscapes(name))
	}
	if kind != KindAssistant {
		return kind
	}
	if _, ok := e.stringField(FieldMessage); ok {
		return KindAssistant
	}
	if _, ok := e.stringField(FieldReasoning); ok {
		return KindReasoning
	}
	if _, ok := e.Field(FieldData); ok {
		return KindStructured
	}
	return KindAssistant
}

func kindOf(name []byte) (Kind, bool) {
	switch string(name) {
	case "turn_start":
		return KindTurnStart, true
	case "chat_request":
		return KindUser, true
	case "chat_response":
		return KindAssistant, true
	case "tool_call_request":
		return KindToolCall, true
	case "tool_call_response":
		return KindToolResult, true
	case "inquiry_request":
		return KindInquiry, true
	case "inquiry_response":
		return KindInquiryResponse, true
	case "config_delta":
		return KindConfigDelta, true
	case "compaction":
		return KindCompaction, true
	}
	return KindUnknown, false
}

// fieldOf finds the field of a key as it stands between its quotes.
func fieldOf(key []byte) (Field, bool) {
	switch string(key) {
	case "type":
		return FieldType, true
	case "timestamp":
		return FieldTimestamp, true
	case "metadata":
		return FieldMetadata, true
	case "content":
		return FieldContent, true
	case "message":
		return FieldMessage, true
	case "reasoning":
		return FieldReasoning, true
	case "data":
		return FieldData, true
	case "id":
		return FieldID, true
	case "name":
		return FieldName, true
	case "arguments":
		return FieldArguments, true
	case "is_error":
		return FieldIsError, true
	case "question":
		return FieldQuestion, true
	case "answer":
		return FieldAnswer, true
	}
	if hasEscape(key) {
		return fieldOf(withoutEscapes(key))
	}
	return 0, false
}
