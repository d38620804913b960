package recall

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// saidScopes are what the assistant said.
const saidScopes = transcript.ScopeAssistant | transcript.ScopeStructured

// isSaid reports whether events of a kind are what the assistant said.
func isSaid(kind transcript.Kind) bool {
	return kind.Scope()&saidScopes != 0
}

// included are the scopes that include asks for: of answers, and of
// what else was said and done.
func included(include []string) (answers, others transcript.Scopes) {
	for _, name := range include {
		switch name {
		case "chat":
			others |= transcript.ScopeUser | saidScopes
		case "requests":
			others |= transcript.ScopeUser
		case "answers":
			answers |= saidScopes
		case "inquiries":
			others |= transcript.ScopeInquiry
		default: // reasoning, tool_calls, tool_results, system
			name = strings.TrimSuffix(name, "s")
			name = strings.ReplaceAll(name, "_", "-")
			others |= scopesOf([]string{name})
		}
	}
	return answers | others, others
}

// rank is how much the reader needs an event: the first is left out
// first.
type rank int

const (
	work    rank = iota // reasoning, tool traffic, inquiries
	said                // by the assistant on the way
	outcome             // requests and answers
)

// event is an event that may be shown, and what is kept of its text.
type event struct {
	shown    conversation.ReadEvent // without its text
	kind     transcript.Kind
	turn     int
	request  int
	at       time.Time
	begins   string // of a request: how it begins
	isAnswer bool   // the last that is said before the next request

	chars int    // of the whole text, as recorded
	text  string // visible
	all   int    // characters of the whole text, where all is visible
	isCut bool   // text is not the whole text
}

// newEvent returns an event of whose text most characters are kept.
func newEvent(e *conversations.Event, most int) event {
	kind := e.Kind
	if kind == transcript.KindInquiryResponse {
		kind = transcript.KindInquiry
	}
	made := event{
		kind: kind, turn: e.Turn, request: e.Request,
		chars: utf8.RuneCount(e.Text),
	}
	made.shown.Event, made.shown.EventKind = e.Number, kind.String()
	made.hold(string(e.Text), most)
	switch kind {
	case transcript.KindToolCall:
		made.shown.Name = clip(e.Name, maxTitle)
	case transcript.KindToolResult:
		made.shown.IsError = e.IsError
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

// isBlank reports whether the assistant said or thought nothing: a
// provider kept that to itself.
func isBlank(e *conversations.Event) bool {
	says := isSaid(e.Kind) || e.Kind == transcript.KindReasoning
	return says && len(bytes.TrimSpace(e.Text)) == 0
}

// hold keeps the ends of a text, of so many characters together. JSON
// is made visible later, by escapes that keep it JSON.
func (e *event) hold(s string, most int) {
	visible := text.Visible
	if e.kind == transcript.KindToolCall {
		visible = func(s string) string { return s }
	}
	first, last, missing := text.Ends(s, most-most/2, most/2)
	first, last = visible(first), visible(last)
	e.text = first
	e.all = utf8.RuneCountInString(first)
	if e.isCut = missing > 0; e.isCut {
		e.all += missing + utf8.RuneCountInString(last)
		e.text = without(first, missing, last)
	}
}

// rank returns how much the event is needed.
func (e *event) rank() rank {
	switch {
	case e.isAnswer || e.kind == transcript.KindUser:
		return outcome
	case isSaid(e.kind):
		return said
	}
	return work
}

// What is kept of a text that is too long, in percent from its end:
// prose says at its end what it comes to, while output, and arguments,
// begin with what they are.
const (
	proseTail  = 60
	outputTail = 40
)

// shortened returns the event with a text of at most limit characters.
func (e event) shortened(limit int) event {
	if e.kind.Scope()&transcript.ScopeTool != 0 {
		return e.brief(limit, outputTail)
	}
	return e.brief(limit, proseTail)
}

// brief returns the event without the middle of its text, where that
// has more than limit characters. A limit of [maxMark] can be kept to.
func (e event) brief(limit, tail int) event {
	if utf8.RuneCountInString(e.text) <= limit {
		return e
	}
	room := max(limit-maxMark, 0)
	last := room * tail / 100
	head, end, _ := text.Ends(e.text, room-last, last)
	e.text, e.isCut = without(head, e.all-room, end), true
	return e
}

// render returns the event as the envelope shows it, but for what
// depends on the events around it.
func (e *event) render() conversation.ReadEvent {
	shown := e.shown
	if e.kind == transcript.KindToolCall {
		shown.Arguments = e.text
	} else {
		shown.Content = e.text
	}
	if e.isCut {
		shown.Truncated, shown.Chars = true, e.chars
	}
	return shown
}
