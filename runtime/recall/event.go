package recall

import (
	"strings"
	"time"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/conversations"
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

// kindOf is the event kind of a recorded kind; empty for those that are not shown.
func kindOf(kind transcript.Kind) string {
	switch kind {
	case transcript.KindUser:
		return kindUser
	case transcript.KindAssistant:
		return kindAssistant
	case transcript.KindReasoning:
		return kindReasoning
	case transcript.KindStructured:
		return kindStructured
	case transcript.KindToolCall:
		return kindToolCall
	case transcript.KindToolResult:
		return kindToolResult
	case transcript.KindInquiry, transcript.KindInquiryResponse:
		return kindInquiry
	default:
		return ""
	}
}

// includeOf is the value of the parameter include that asks for a kind.
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

// event is an event to be shown, before it is decided how much of it.
type event struct {
	shown    conversation.ReadEvent // without its text
	body     body
	nameless bool // what was recorded as the id of the call is no identifier
}

func newEvent(e *conversations.Event, kind string) event {
	shown := event{shown: conversation.ReadEvent{EventKind: kind, CallID: callID(e.CallID)}}
	shown.nameless = e.CallID != "" && shown.shown.CallID == ""
	if kind == kindToolCall {
		shown.shown.Name = clip(e.Name, maxTitle)
		shown.body = newJSON(string(e.Text), e.Chars, e.Head)
	} else {
		shown.body = newText(string(e.Text), e.Chars, e.Head)
	}
	shown.body.inside = e.Cut
	if kind == kindToolResult {
		failed := e.IsError
		shown.shown.IsError = &failed
	}
	if e.Encoding != transcript.Plain {
		shown.shown.Encoding = e.Encoding.String()
	}
	if !e.Time.IsZero() {
		shown.shown.Timestamp = e.Time.Truncate(time.Second)
	}
	return shown
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
func callID(id string) string {
	if !isIdentifier(strings.ReplaceAll(id, ":", "-")) {
		return ""
	}
	return id
}

func isIdentifier(s string) bool {
	if len(s) == 0 || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		switch b := s[i]; {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', b == '.', b == '_', b == '-':
		default:
			return false
		}
	}
	return true
}
