package conversationcli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// What the style brief shows of tool calls and results.
const (
	briefCallChars  = 200
	briefLines      = 10
	briefLineChars  = 200
	maxRuleWidth    = 100
	defaultRuleSize = 72
)

// head is the heading of an event.
func (p *printing) head(e *conversations.Event, role string) string {
	width := defaultRuleSize
	if p.host.Terminal && p.host.Width > 0 {
		width = min(p.host.Width, maxRuleWidth)
	}
	title := fmt.Sprintf("── %s ── %s ──", role, p.view.turns(e))
	if !e.Time.IsZero() {
		title += e.Time.Format(" " + fullTime + " ──")
	}
	return rule(title, width, p.out.format)
}

// rule is a heading filled up to a width.
func rule(title string, width int, f format) string {
	title += strings.Repeat("─", max(width-utf8.RuneCountInString(title), 0))
	return f.style(styleDim, title) + "\n"
}

// markdownHead is the headings of an event, and of its turn where that begins.
func (p *printing) markdownHead(e *conversations.Event, role string) string {
	head := "### " + strings.ToUpper(role[:1]) + role[1:]
	if !p.any || p.turn != e.Turn {
		head = "## T" + strings.TrimPrefix(p.view.turns(e), "t") + "\n\n" + head
	}
	if !e.Time.IsZero() {
		head += e.Time.Format(", " + fullTime)
	}
	return head + "\n\n"
}

// markdownBody is the text of an event. What was said is a quotation, and what tools got
// and returned is fenced, so that nothing in them can begin a section of the
// conversation, or keep one from beginning.
func markdownBody(e *conversations.Event, body string) string {
	body = strings.TrimRight(body, "\n")
	switch e.Kind {
	case transcript.KindToolCall, transcript.KindToolResult, transcript.KindStructured:
		return fenced(body)
	}
	return quotation(body)
}

func quotation(said string) string {
	var b strings.Builder
	for line := range strings.Lines(said) {
		b.WriteString(strings.TrimRight("> "+strings.TrimSuffix(line, "\n"), " ") + "\n")
	}
	return b.String()
}

// fenced is a text in a fence that is longer than any in it.
func fenced(said string) string {
	fence := "```"
	for strings.Contains(said, fence) {
		fence += "`"
	}
	return fence + "\n" + withLineEnd(said) + fence + "\n"
}

// markdownTitle is what a conversation begins with.
func markdownTitle(r *conversations.Reading) string {
	title := text.Cell(r.Title)
	if title == "" {
		return "# " + string(r.ID) + "\n\n"
	}
	var escaped strings.Builder
	for _, c := range title {
		if strings.ContainsRune("\\`*_[]<>#&!|~", c) {
			escaped.WriteByte('\\')
		}
		escaped.WriteRune(c)
	}
	return "# " + escaped.String() + " (" + string(r.ID) + ")\n\n"
}

// role names who speaks in an event, or is empty when the style leaves it out.
func (p *printing) role(e *conversations.Event) string {
	switch e.Kind {
	case transcript.KindUser, transcript.KindAssistant, transcript.KindStructured:
		return e.Kind.String()
	case transcript.KindToolCall:
		return "tool call"
	case transcript.KindToolResult:
		return map[bool]string{true: "tool error", false: "tool result"}[e.IsError]
	}
	if p.style != "full" {
		return ""
	}
	switch e.Kind {
	case transcript.KindReasoning, transcript.KindInquiry, transcript.KindSystem:
		return e.Kind.String()
	case transcript.KindInquiryResponse:
		return "answer"
	}
	return ""
}

// body is the text of an event, which is not safe to show yet.
func (p *printing) body(e *conversations.Event) string {
	said, isFull := string(e.Text), p.style == "full"
	switch {
	case e.Kind == transcript.KindInquiryResponse && !e.JSON && said != "":
		return string(transcript.AppendQuoted(nil, e.Text))
	case e.Kind == transcript.KindInquiryResponse, e.Kind == transcript.KindStructured:
		return said
	case e.Kind == transcript.KindToolCall:
		call := e.Name
		if said != "" && said != "{}" && said != "[]" {
			call += "\n" + said
		}
		if isFull {
			return call
		}
		return cutChars(strings.Join(strings.Fields(call), " "), briefCallChars)
	case e.JSON:
		said = "" // something else was recorded than a text
	case e.Kind == transcript.KindToolResult && !isFull:
		said = brief(said)
	}
	if e.Kind == transcript.KindToolResult && e.Encoding == transcript.Base64 {
		said = "(stored as base64 that is no text)\n" + said
	}
	return said
}

// brief is the first lines of a text, each cut to a length, with how much is left out.
func brief(said string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(said) {
		if n++; n <= briefLines {
			b.WriteString(cutChars(strings.TrimRight(line, "\r\n"), briefLineChars) + "\n")
		}
	}
	if n > briefLines {
		fmt.Fprintf(&b, "… %d more lines; --style=full prints them\n", n-briefLines)
	}
	return b.String()
}

// cutChars is at most n characters of a line, with the number of those left out.
func cutChars(line string, n int) string {
	first, _, omitted := text.Ends(line, n, 0)
	if omitted == 0 {
		return line
	}
	return fmt.Sprintf("%s… %d more characters", first, omitted)
}
