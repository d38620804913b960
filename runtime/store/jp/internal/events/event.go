package events

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Event is one element of events.json. It refers to the scanned data.
type Event struct {
	Index  int // position in the array, from 0
	Offset int // of the event in the file, in bytes
	Kind   transcript.Kind
	Turn   int    // 1-based; 0 for global kinds
	Raw    []byte // the recorded JSON object
	fields
	metadataAt int // in Raw
}

// fields are recorded values, with the quotes of strings; nil where there is no such key. When
// a key occurs twice, the last one counts.
type fields struct {
	kind, timestamp, metadata         []byte
	content, message, reasoning, data []byte
	id, name, arguments, isError      []byte
	question, answer                  []byte
}

// field returns where the value of a key goes, which stands between its quotes; nil for
// nowhere.
func (f *fields) field(key []byte) *[]byte {
	if jsontext.HasEscape(key) { // legal, if never seen
		key = transcript.AppendUnescaped(nil, key)
	}
	switch string(key) {
	case "type":
		return &f.kind
	case "timestamp":
		return &f.timestamp
	case "metadata":
		return &f.metadata
	case "content":
		return &f.content
	case "message":
		return &f.message
	case "reasoning":
		return &f.reasoning
	case "data":
		return &f.data
	case "id":
		return &f.id
	case "name":
		return &f.name
	case "arguments":
		return &f.arguments
	case "is_error":
		return &f.isError
	case "question":
		return &f.question
	case "answer":
		return &f.answer
	}
	return nil
}

// HasTimestamp reports whether the event has a timestamp key that holds a
// string. The string may still not be a timestamp.
func (e *Event) HasTimestamp() bool { return isText(e.timestamp) }

// Time returns the timestamp, in UTC; zero where there is none that can be used.
func (e *Event) Time() time.Time {
	t, err := transcript.ParseTimestamp(spelled(e.timestamp))
	if err != nil {
		return time.Time{}
	}
	return t
}

// Decode returns the event as a plain value, which refers to the scanned data.
func (e *Event) Decode() transcript.Event {
	d := transcript.Event{
		Index: e.Index, Turn: e.Turn, Kind: e.Kind, Time: e.Time(),
		Name: string(textOf(e.name)), CallID: string(textOf(e.id)),
		Failed: string(e.isError) == "true", CompactedTurns: e.CompactedTurns(), Object: e.object(),
	}
	switch raw := e.said(); {
	case raw == nil:
	case e.Kind == transcript.KindToolResult && isText(raw):
		d.Text, d.Encoding = appendStored(nil, raw[1:len(raw)-1])
	case e.Kind == transcript.KindToolResult, e.Kind == transcript.KindToolCall:
		d.Arguments, d.Encoding = decodeStrings(raw)
	case isText(raw):
		d.Text = textOf(raw)
	default:
		d.Arguments = raw
	}
	return d
}

// said is the value of what was said, asked for or returned; nil for none.
func (e *Event) said() []byte {
	switch e.Kind {
	case transcript.KindUser, transcript.KindToolResult:
		return e.content
	case transcript.KindAssistant:
		return e.message
	case transcript.KindReasoning:
		return e.reasoning
	case transcript.KindStructured:
		return e.data
	case transcript.KindToolCall:
		return e.arguments
	case transcript.KindInquiryResponse:
		return e.answer
	case transcript.KindInquiry:
		text := e.question
		if !isText(text) {
			text = jsontext.Get(e.question, "text")
		}
		if isText(text) {
			return text
		}
	}
	return nil
}

func isText(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }

// textOf returns the text of a JSON string, and nil for any other value.
func textOf(raw []byte) []byte {
	text, ok := jsontext.Unquote(raw)
	if !ok {
		return nil
	}
	return transcript.AppendUnescaped(make([]byte, 0, len(text)), text)
}

// spelled is textOf without a copy where there is no escape.
func spelled(raw []byte) []byte {
	text, _ := jsontext.Unquote(raw)
	if jsontext.HasEscape(text) {
		return textOf(raw)
	}
	return text
}

// object returns the recorded object, with decoded metadata, which JP stores as it stores
// tool data.
func (e *Event) object() []byte {
	if e.metadata == nil || !e.Kind.Typed() {
		return e.Raw
	}
	decoded, _ := decodeStrings(e.metadata)
	return slices.Concat(e.Raw[:e.metadataAt], decoded, e.Raw[e.metadataAt+len(e.metadata):])
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
	if err := json.Unmarshal(e.Raw, &c); err != nil || c.ToTurn == nil {
		return 0
	}
	return *c.ToTurn + 1
}

// classify finds the kind from the type and, for a chat_response, from which of
// its three forms is there: a message or reasoning must be a string, data may be
// anything.
func (e *Event) classify() transcript.Kind {
	kind := kindOf(e.kind)
	switch {
	case kind != transcript.KindAssistant || isText(e.message):
		return kind
	case isText(e.reasoning):
		return transcript.KindReasoning
	case e.data != nil:
		return transcript.KindStructured
	}
	return kind
}

// kindOf finds the kind that a recorded type stands for by itself.
func kindOf(raw []byte) transcript.Kind {
	switch string(spelled(raw)) {
	case "turn_start":
		return transcript.KindTurnStart
	case "chat_request":
		return transcript.KindUser
	case "chat_response":
		return transcript.KindAssistant
	case "tool_call_request":
		return transcript.KindToolCall
	case "tool_call_response":
		return transcript.KindToolResult
	case "inquiry_request":
		return transcript.KindInquiry
	case "inquiry_response":
		return transcript.KindInquiryResponse
	case "config_delta":
		return transcript.KindConfigDelta
	case "compaction":
		return transcript.KindCompaction
	}
	return transcript.KindUnknown
}
