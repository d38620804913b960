package recall

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
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
	if e.kind.Scope()&transcript.ScopeTool != 0 {
		return e.brief(limit)
	}
	e.body = e.body.shorten(limit, proseTail)
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
func (c toolCalls) match(e *conversations.Event) (call int) {
	switch {
	case e.CallID == "" || len(e.CallID) > maxCallID:
	case e.Kind == transcript.KindToolCall && len(c) < maxOpenCalls:
		c[e.CallID] = e.Number
	case e.Kind == transcript.KindToolResult:
		call = c[e.CallID]
		delete(c, e.CallID)
	}
	return call
}

// isIdentifier reports whether s looks like the id of a conversation.
func isIdentifier(s string) bool {
	const inside = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	return 0 < len(s) && len(s) <= 128 && strings.Trim(s, inside) == ""
}

// body is the text of an event, or what is kept of it: parts of it in order, and
// how many characters are missing between each two. Where something is missing at
// one end, the part there is empty.
type body struct {
	parts []string // one at least
	gaps  []int    // each more than 0; one fewer than parts
}

// ends is a text in the characters that are going to be shown: of more than so many that were
// recorded the beginning and the end. JSON is made visible by the envelope, by escapes that keep
// it JSON.
func ends[T ~string | ~[]byte](s T, most int, isJSON bool) body {
	first, last, missing := text.Ends(s, most-most/2, most/2)
	head, tail := string(first), string(last)
	if missing == 0 {
		head, tail = string(s), ""
	}
	if !isJSON {
		head, tail = text.Visible(head), text.Visible(tail)
	}
	if missing == 0 {
		return body{parts: []string{head}}
	}
	return bodyOf([]string{head, tail}, []int{missing})
}

// bodyOf is a body of parts with gaps. Line breaks around the mark of a gap, which is on a line
// of its own, would only make it longer, and are missing too.
func bodyOf(parts []string, gaps []int) body {
	for i := range gaps {
		before, behind := strings.TrimRight(parts[i], "\n"), strings.TrimLeft(parts[i+1], "\n")
		gaps[i] += len(parts[i]) - len(before) + len(parts[i+1]) - len(behind)
		parts[i], parts[i+1] = before, behind
	}
	return body{parts, gaps}
}

// kept is how many of the recorded characters are kept.
func (t *body) kept() int { return utf8.RuneCountInString(strings.Join(t.parts, "")) }

func (t *body) isShortened() bool { return len(t.gaps) > 0 }

// length is how many characters String has.
func (t *body) length() int { return utf8.RuneCountInString(t.String()) }

// String is the text with a mark, on a line of its own, where something is missing.
func (t *body) String() string {
	if len(t.gaps) == 0 {
		return t.parts[0]
	}
	lines := []string{t.parts[0]}
	for i, missing := range t.gaps {
		lines = append(lines, mark(missing), t.parts[i+1])
	}
	return strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
}

// mark stands where characters are missing.
func mark(missing int) string { return fmt.Sprintf("[… %d chars …]", missing) }

// maxMark is how many characters a mark has at most, with the ends of the lines
// around it, in a text of less than 10 GB. An ellipsis is one.
const maxMark = len("\n[. 9999999999 chars .]\n")

// What is kept of a text that is too long, in percent from its end: prose says at its end what
// it comes to, while output, and arguments, begin with what they are.
const (
	proseTail  = 60
	outputTail = 40
)

// shorten returns the text, if it has more than limit characters with its marks, without its
// middle. A limit of [maxMark] can always be kept to.
func (t *body) shorten(limit, tail int) body {
	if t.length() <= limit {
		return *t
	}
	all := t.kept()
	for _, missing := range t.gaps {
		all += missing
	}
	room := max(limit-maxMark, 0)
	last := endOf(t.parts[len(t.parts)-1], room*tail/100)
	first := startOf(t.parts[0], room-utf8.RuneCountInString(last))
	missing := all - utf8.RuneCountInString(first) - utf8.RuneCountInString(last)
	return bodyOf([]string{first, last}, []int{missing})
}

// wordChars is the most that a cut moves to be between words.
const wordChars = 20

// startOf is the first n characters of a text, or a few fewer, so that they end with
// a word.
func startOf(s string, n int) string {
	first, _, omitted := text.Ends(s, n, 0)
	if at := strings.LastIndexFunc(first, unicode.IsSpace); omitted > 0 && at > 0 && len(first)-at <= wordChars {
		return first[:at]
	}
	return first
}

// endOf is the last n characters of a text, or a few fewer, so that they begin with
// a word.
func endOf(s string, n int) string {
	_, last, omitted := text.Ends(s, 0, n)
	if at := strings.IndexFunc(last, unicode.IsSpace); omitted > 0 && at >= 0 && at < wordChars {
		return strings.TrimLeftFunc(last[at:], unicode.IsSpace)
	}
	return last
}

// only is a whole text with some parts of it, and headings of the text left out.
func only(s string, spans []excerpt.Span) body {
	spans = append(headingsBeside(s, spans), spans...)
	slices.SortFunc(spans, func(a, b excerpt.Span) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	var parts []string
	var gaps []int
	from, to := 0, 0 // of the part that is being made
	for _, span := range append(spans, excerpt.Span{Start: len(s), End: len(s)}) {
		if missing := utf8.RuneCountInString(s[to:max(to, span.Start)]); missing >= maxMark {
			parts, gaps = append(parts, s[from:to]), append(gaps, missing)
			from = span.Start
		}
		to = max(to, span.End)
	}
	return bodyOf(append(parts, s[from:to]), gaps)
}

// headingsBeside returns where headings are that are shown beside parts of a text, as far as there
// is room: first those above the parts, and then the others in their order.
func headingsBeside(s string, spans []excerpt.Span) []excerpt.Span {
	var all, above, kept []excerpt.Span
	at, next, fence := 0, 0, ""
	for line := range strings.Lines(s) {
		bare := strings.TrimSpace(line)
		end := at + len(line)
		for ; next < len(spans) && spans[next].Start < end; next++ {
			if len(all) > 0 {
				above = append(above, all[len(all)-1])
			}
		}
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) {
				fence = ""
			}
		case fenceOf(bare) != "":
			fence = fenceOf(bare)
		case isHeading(bare):
			all = append(all, excerpt.Span{Start: at, End: end})
		}
		at = end
	}
	room := aboutHeadings
	for _, span := range append(above, all...) {
		if cost := span.End - span.Start + maxMark; cost <= room && !slices.Contains(kept, span) {
			kept, room = append(kept, span), room-cost
		}
	}
	return kept
}

// fenceOf is the marks that a line begins a block of code with; empty where it begins none.
func fenceOf(line string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) && !strings.Contains(strings.TrimLeft(line, mark[:1]), "`") {
			return mark
		}
	}
	return ""
}

// maxBold is how long a line in bold is that is a heading, in bytes.
const maxBold = 80

// isHeading reports whether a line is a heading, as with # or in bold.
func isHeading(line string) bool {
	if rest := strings.TrimLeft(line, "#"); rest != line && len(line)-len(rest) <= 6 && strings.HasPrefix(rest, " ") {
		return true
	}
	line = strings.TrimRight(line, ":")
	return len(line) > 4 && len(line) <= maxBold && strings.HasPrefix(line, "**") && strings.HasSuffix(line, "**")
}
