package recall

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/transcript"
)

// saidScopes are the scopes of what the assistant said.
const saidScopes = transcript.ScopeAssistant | transcript.ScopeStructured

// isSaid reports whether the assistant said events of a kind.
func isSaid(kind transcript.Kind) bool {
	return kind.Scope()&saidScopes != 0
}

// included returns the scopes that the parameter include asks for: answers for the last statement before a request or
// the end of a turn, and others for all other events. The name "answers" asks for such last statements only.
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
			others |= transcript.ScopesNamed(name)
		}
	}
	return answers | others, others // an answer is also a statement, which "chat" asks for
}

// rank is how much the reader needs an event: of the first rank events are shortened, and left out, first.
type rank int

const (
	work    rank = iota // reasoning, tool traffic, inquiries
	said                // by the assistant on the way
	outcome             // requests and answers
)

// event is an event that may be shown.
type event struct {
	shown    conversation.ReadEvent // without its text
	kind     transcript.Kind
	turn     int
	request  int
	at       time.Time
	isAnswer bool // the last that is said before the next request

	chars int    // of the whole text, as recorded
	text  string // visible, without the carriage returns of CRLF
	isCut bool   // text is not the whole text
}

// newEvent returns a recorded event as it may be shown, with its whole text. An answer to an inquiry becomes an inquiry.
func newEvent(e *conversations.Event) event {
	kind := e.Kind
	if kind == transcript.KindInquiryResponse {
		kind = transcript.KindInquiry
	}
	body := e.Body()
	result := event{kind: kind, turn: e.Turn, request: e.Request, chars: utf8.RuneCount(body)}
	result.shown.Event, result.shown.EventKind = e.Number, kind.String()
	result.setText(string(body))
	result.shown.IsError = e.Failed
	if kind == transcript.KindToolCall {
		result.shown.Name = clip(e.Name, maxTitle)
	}
	if e.Encoding != transcript.Plain {
		result.shown.Encoding = e.Encoding.String()
	}
	if !e.Time.IsZero() {
		result.at = e.Time.Truncate(time.Second)
	}
	return result
}

// isBlank reports whether an event is a statement or reasoning of the assistant whose text its provider did not return.
func isBlank(e *conversations.Event) bool {
	says := isSaid(e.Kind) || e.Kind == transcript.KindReasoning
	return says && len(bytes.TrimSpace(e.Body())) == 0
}

// setText sets the text, with visible control characters. The arguments of a call stay as they are: their writer
// escapes them, so that they are still JSON.
func (e *event) setText(s string) {
	if e.kind != transcript.KindToolCall {
		s = text.Visible(s)
	}
	e.text = s
}

// rank returns how much the reader needs the event.
func (e *event) rank() rank {
	switch {
	case e.isAnswer || e.kind == transcript.KindUser:
		return outcome
	case isSaid(e.kind):
		return said
	}
	return work
}

// tail is how many percent of a shortened text are from its end.
const tail = 40

// shortened returns the event without the middle of its text, where that has
// more than limit characters. The limit is [maxMark] at least.
func (e event) shortened(limit int) event {
	n := utf8.RuneCountInString(e.text)
	if n <= limit {
		return e
	}
	room := limit - maxMark
	last := room * tail / 100
	first, end, _ := text.Ends(e.text, room-last, last)
	e.text, e.isCut = joinMarked(first, n-room, end), true
	return e
}

// shortened returns events with at most limit characters of each.
func shortened(events []event, limit int) (result []event) {
	for _, e := range events {
		result = append(result, e.shortened(limit))
	}
	return result
}

// maxMark is how many characters the mark of [joinMarked] has at most, in a text of less than 10 GB.
const maxMark = len("\n[. 9999999999 chars .]\n")

// joinMarked joins two parts of a text, with a mark on a line between them that has the number of missing characters. It
// leaves out the line breaks beside the mark, and counts them as missing too.
func joinMarked(before string, missing int, after string) string {
	first := strings.TrimRight(before, "\n")
	last := strings.TrimLeft(after, "\n")
	missing += len(before) - len(first) + len(after) - len(last)
	lines := []string{first, fmt.Sprintf("[… %d chars …]", missing), last}
	lines = slices.DeleteFunc(lines, func(s string) bool { return s == "" })
	return strings.Join(lines, "\n")
}

// keepSpans returns the parts of a text that are in spans. A mark takes the place of each part outside of the spans,
// unless the part is shorter than a mark: that part is kept too. The spans may overlap; keepSpans sorts them.
func keepSpans(s string, spans []excerpt.Span) string {
	slices.SortFunc(spans, func(a, b excerpt.Span) int { return a.Start - b.Start })
	kept, end := "", 0 // kept is the result for s[:end]; the empty span after the others is for the rest of the text
	for _, span := range append(spans, excerpt.Span{Start: len(s), End: len(s)}) {
		missing := utf8.RuneCountInString(s[end:max(end, span.Start)])
		if missing < maxMark {
			kept += s[end:max(end, span.End)] // with the short part before the span; nothing if span ends before end
		} else {
			kept = joinMarked(kept, missing, s[span.Start:span.End])
		}
		end = max(end, span.End)
	}
	return kept
}

// isHeading reports whether a line is a heading, with #.
func isHeading(line string) bool {
	title := strings.TrimLeft(line, "#")
	return title != line && strings.HasPrefix(title, " ")
}
