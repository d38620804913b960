package recall

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// kindOf is the kind that an event is shown as: an answer to an inquiry as one.
func kindOf(kind transcript.Kind) transcript.Kind {
	if kind == transcript.KindInquiryResponse {
		return transcript.KindInquiry
	}
	return kind
}

// saidScopes are what the assistant said.
const saidScopes = transcript.ScopeAssistant | transcript.ScopeStructured

// isSaid reports whether events of a kind are what the assistant said.
func isSaid(kind transcript.Kind) bool { return kind.Scope()&saidScopes != 0 }

// isAnnouncement reports whether what the assistant said last, before the user said more in
// the same turn, is no answer: a colon at its end announces work that comes behind it.
func isAnnouncement(text []byte) bool { return bytes.HasSuffix(bytes.TrimSpace(text), []byte(":")) }

// included are the scopes that include asks for, of answers, which are the last that the
// assistant said before the next request, and others.
func included(include []string, answers bool) (scopes transcript.Scopes) {
	for _, name := range include {
		switch name {
		case "chat":
			scopes |= transcript.ScopeUser | saidScopes
		case "requests":
			scopes |= transcript.ScopeUser
		case "answers":
			if answers {
				scopes |= saidScopes
			}
		case "inquiries":
			scopes |= transcript.ScopeInquiry
		default: // reasoning, tool_calls, tool_results, system
			scopes |= scopesOf([]string{strings.ReplaceAll(strings.TrimSuffix(name, "s"), "_", "-")})
		}
	}
	return scopes
}

// includes reports whether include asks for an event of a kind, which is an answer or not.
func includes(include []string, kind transcript.Kind, isAnswer bool) bool {
	return kindOf(kind).Scope()&included(include, isAnswer) != 0
}

// event is an event to be shown, before it is decided how much of it.
type event struct {
	shown   conversation.ReadEvent // without its text, and what depends on the events around it
	kind    transcript.Kind
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
func (e *event) isResult() bool { return e.kind == transcript.KindUser || e.isAnswer }

func (e *event) rank() rank {
	switch {
	case e.isResult():
		return outcome
	case isSaid(e.kind):
		return said
	default:
		return work
	}
}

// newEvent is an event of whose text at most some characters are kept.
func newEvent(e *conversations.Event, most int) event {
	kind := kindOf(e.Kind)
	made := event{
		shown: conversation.ReadEvent{Event: e.Number, EventKind: kind.String(), IsError: kind == transcript.KindToolResult && e.IsError},
		kind:  kind, turn: e.Turn, request: e.Request, chars: utf8.RuneCount(e.Text),
		body: ends(e.Text, most, kind == transcript.KindToolCall),
	}
	made.isBlank = (kind == transcript.KindReasoning || isSaid(kind)) && len(bytes.TrimSpace(e.Text)) == 0
	switch kind {
	case transcript.KindToolCall:
		made.shown.Name = clip(e.Name, maxTitle)
	case transcript.KindUser:
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
	if e.kind.Scope()&transcript.ScopeTool != 0 {
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
	if e.kind == transcript.KindToolCall {
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
func (c toolCalls) match(e *conversations.Event) int {
	switch {
	case e.CallID == "" || len(e.CallID) > maxCallID:
	case e.Kind == transcript.KindToolCall && len(c) < maxOpenCalls:
		c[e.CallID] = e.Number
	case e.Kind == transcript.KindToolResult:
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
