package recall

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/transcript"
)

// The event kinds of conversation_read.
const (
	kindUser       = "user"
	kindAssistant  = "assistant"
	kindReasoning  = "reasoning"
	kindStructured = "structured"
	kindToolCall   = "tool_call"
	kindToolResult = "tool_result"
	kindInquiry    = "inquiry"
)

// includeOf says which value of the parameter include asks for a kind.
func includeOf(kind string) string {
	switch kind {
	case kindReasoning:
		return conversation.ReadIncludeReasoning
	case kindToolCall:
		return conversation.ReadIncludeToolCalls
	case kindToolResult:
		return conversation.ReadIncludeToolResults
	case kindInquiry:
		return conversation.ReadIncludeInquiries
	default:
		return conversation.ReadIncludeChat
	}
}

// printRecord is one event as the command line prints it: the shape it has on
// disk, decoded, with its turn.
type printRecord struct {
	Type      string          `json:"type"`
	Timestamp recorded        `json:"timestamp"`
	ID        recorded        `json:"id"`
	Name      recorded        `json:"name"`
	Content   recorded        `json:"content"`
	Message   *recorded       `json:"message"`
	Reasoning *recorded       `json:"reasoning"`
	Data      json.RawMessage `json:"data"`
	Arguments json.RawMessage `json:"arguments"`
	IsError   recorded        `json:"is_error"`
	Question  json.RawMessage `json:"question"`
	Answer    json.RawMessage `json:"answer"`

	// Added by the command line.
	Turn      int    `json:"turn"`
	Encoding  string `json:"encoding"`
	Chars     int    `json:"chars"`
	HeadChars int    `json:"head_chars"`
	Cut       bool   `json:"cut"`
}

// recorded is a string somebody else wrote: it may be any other JSON value as
// well, which is then shown as it is instead of making the rest unreadable.
type recorded string

func (s *recorded) UnmarshalJSON(raw []byte) error {
	if string(raw) != "null" {
		*s = recorded(structured(raw))
	}
	return nil
}

// event is an event to be shown, before it is decided how much of it.
type event struct {
	shown    conversation.ReadEvent // without its text
	turn     int
	body     text
	nameless bool // what was recorded as the id of the call is no identifier
}

// newEvent reads a record. Types of events that are not shown are not ok.
func newEvent(record *printRecord) (e event, ok bool) {
	e = event{turn: record.Turn}
	switch record.Type {
	case "chat_request":
		e.shown.EventKind, e.body = kindUser, record.text(record.Content)
	case "chat_response":
		switch {
		case record.Message != nil:
			e.shown.EventKind, e.body = kindAssistant, record.text(*record.Message)
		case record.Reasoning != nil:
			e.shown.EventKind, e.body = kindReasoning, record.text(*record.Reasoning)
		default:
			e.shown.EventKind, e.body = kindStructured, newText(structured(record.Data))
		}
	case "tool_call_request":
		e.shown.EventKind, e.shown.Name, e.shown.CallID = kindToolCall, clip(string(record.Name), maxTitle), callID(record.ID)
		e.body = newJSON(indented(record.Arguments))
		e.nameless = record.ID != "" && e.shown.CallID == ""
	case "tool_call_response":
		e.shown.EventKind, e.shown.CallID = kindToolResult, callID(record.ID)
		failed := record.IsError == "true"
		e.shown.IsError = &failed
		e.body = record.text(record.Content)
		e.nameless = record.ID != "" && e.shown.CallID == ""
	case "inquiry_request":
		e.shown.EventKind, e.body = kindInquiry, newText(question(record.Question))
	case "inquiry_response":
		e.shown.EventKind, e.body = kindInquiry, newText(structured(record.Answer))
	default:
		return e, false
	}
	e.body.inside = record.Cut
	if record.Encoding == "base64" {
		e.shown.Encoding = record.Encoding
	}
	if at, err := transcript.ParseTimestamp(string(record.Timestamp)); err == nil {
		e.shown.Timestamp = at.Truncate(time.Second)
	}
	return e, true
}

// text is a text the command line may have cut.
func (record *printRecord) text(s recorded) text {
	return newCutText(string(s), record.Chars, record.HeadChars)
}

// render is the event as the envelope shows it.
func (e *event) render() conversation.ReadEvent {
	shown := e.shown
	if shown.EventKind == kindToolCall {
		shown.Arguments = e.body.String()
	} else {
		shown.Content = e.body.String()
	}
	shown.Truncated = e.body.isShortened()
	if e.body.missing() > 0 && !e.body.inside {
		shown.Chars = e.body.chars
	}
	return shown
}

// callID lets through what looks like an identifier: it goes into an attribute,
// where recorded text must not. Providers use ":" too.
func callID(id recorded) string {
	if !isIdentifier(strings.ReplaceAll(string(id), ":", "-")) {
		return ""
	}
	return string(id)
}

// question is the text of a recorded question.
func question(raw json.RawMessage) string {
	var q struct {
		Text recorded `json:"text"`
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		return structured(raw)
	}
	return string(q.Text)
}

// structured shows a recorded JSON value: a string as its text.
func structured(raw json.RawMessage) string {
	var s string
	if bytes.HasPrefix(raw, []byte(`"`)) && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return indented(raw)
}

// indented lays a JSON value out over several lines.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return string(raw)
	}
	return b.String()
}
