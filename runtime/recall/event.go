package recall

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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
	kindSystem     = "system"
)

// kindOf is the event kind of a recorded kind; empty for those that are not shown.
func kindOf(kind transcript.Kind) string {
	switch {
	case kind == transcript.KindInquiryResponse:
		return kindInquiry
	case kind.Numbered():
		return kind.String()
	default:
		return ""
	}
}

// isSaid reports whether events of a kind are what the assistant said.
func isSaid(kind string) bool { return kind == kindAssistant || kind == kindStructured }

// isAnnouncement reports whether what the assistant said last, before the user said more in
// the same turn, is no answer: a colon at its end announces work that comes behind it.
func isAnnouncement(text []byte) bool { return bytes.HasSuffix(bytes.TrimSpace(text), []byte(":")) }

// includeOf is the value of the parameter include that asks for a kind.
func includeOf(kind string) string {
	switch kind {
	case kindReasoning:
		return "reasoning"
	case kindToolCall:
		return "tool_calls"
	case kindToolResult:
		return "tool_results"
	case kindInquiry:
		return "inquiries"
	case kindSystem:
		return "system"
	default:
		return "chat"
	}
}

// includes reports whether include asks for an event of a kind. isAnswer is whether
// it is the last that the assistant said before the next request.
func includes(include []string, kind string, isAnswer bool) bool {
	return kind != "" && slices.Contains(include, includeOf(kind)) ||
		kind == kindUser && slices.Contains(include, "requests") ||
		isAnswer && isSaid(kind) && slices.Contains(include, "answers")
}

// event is an event to be shown, before it is decided how much of it.
type event struct {
	shown   conversation.ReadEvent // without its text, and what depends on the events around it
	turn    int
	request int
	at      time.Time
	chars   int // of the whole text, as it was recorded
	call    int // of a tool result: the number of its call; 0 where not known
	body    body
	begins  string // how a request does, as by beginning
	isBlank bool   // the assistant said, or thought, nothing: a provider kept that to itself

	isAsked  bool // the call asks for it
	isAnswer bool // it is the last that the assistant said before the next request
}

// isResult reports whether it is a request or an answer.
func (e *event) isResult() bool { return e.shown.EventKind == kindUser || e.isAnswer }

func (e *event) rank() rank {
	switch {
	case e.isResult():
		return outcome
	case isSaid(e.shown.EventKind):
		return said
	default:
		return work
	}
}

// newEvent is an event of whose text at most some characters are kept.
func newEvent(e *conversations.Event, kind string, most int) event {
	made := event{
		shown: conversation.ReadEvent{Event: e.Number, EventKind: kind, IsError: kind == kindToolResult && e.IsError},
		turn:  e.Turn, request: e.Request, chars: utf8.RuneCount(e.Text),
		body: ends(e.Text, most, kind == kindToolCall),
	}
	made.isBlank = (kind == kindReasoning || isSaid(kind)) && len(bytes.TrimSpace(e.Text)) == 0
	switch kind {
	case kindToolCall:
		made.shown.Name = clip(e.Name, maxTitle)
	case kindUser:
		made.begins = beginning(string(e.Text))
	}
	if e.Encoding != transcript.Plain {
		made.shown.Encoding = e.Encoding.String()
	}
	if !e.Time.IsZero() {
		made.at = e.Time.Truncate(time.Second)
	}
	return made
}

// shortened is the event with a text of at most limit characters.
func (e event) shortened(limit int) event {
	tail := proseTail
	if e.shown.EventKind == kindToolCall || e.shown.EventKind == kindToolResult {
		tail = outputTail
	}
	e.body = e.body.shorten(limit, tail)
	return e
}

// brief is the event with the beginning and the end of its text, of at most limit
// characters.
func (e event) brief(limit int) event {
	e.body = e.body.shorten(limit, outputTail)
	return e
}

// render is the event as the envelope shows it, but for what depends on the events
// around it.
func (e *event) render() conversation.ReadEvent {
	shown := e.shown
	if shown.EventKind == kindToolCall {
		shown.Arguments = e.body.String()
	} else {
		shown.Content = e.body.String()
	}
	if e.body.isShortened() {
		shown.Truncated, shown.Chars = true, e.chars
	}
	return shown
}

// toolCalls are the events of the tool calls whose result is still to come.
type toolCalls map[string]int

// Bounds on what is remembered of tool calls. Results of others do not name theirs.
const (
	maxOpenCalls = 1000
	maxCallID    = 200 // bytes
)

// match remembers the event of a call, and returns the one that a result is of; 0
// for other events, and where that is not known.
func (c toolCalls) match(e *conversations.Event, kind string) int {
	switch {
	case e.CallID == "" || len(e.CallID) > maxCallID:
	case kind == kindToolCall && len(c) < maxOpenCalls:
		c[e.CallID] = e.Number
	case kind == kindToolResult:
		call := c[e.CallID]
		delete(c, e.CallID)
		return call
	}
	return 0
}

// isIdentifier reports whether s looks like the id of a conversation.
func isIdentifier(s string) bool {
	const inside = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	return 0 < len(s) && len(s) <= 128 && strings.Trim(s, inside) == ""
}
