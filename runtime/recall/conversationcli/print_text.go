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

// text writes an event for people.
func (p *printing) text(e *conversations.Event) error {
	role := p.role(e)
	if role == "" {
		return nil
	}
	head := ""
	if p.any {
		head = "\n"
	}
	body := text.Visible(p.body(e))
	if p.format.markdown {
		p.write([]byte(head + p.markdownHead(e, role) + markdownBody(e, body)))
	} else {
		if body != "" && !strings.HasSuffix(body, "\n") {
			body += "\n"
		}
		p.write([]byte(head + p.head(e, role) + body))
	}
	p.any, p.turn = true, e.Turn
	return p.err
}

// head is the heading of an event.
func (p *printing) head(e *conversations.Event, role string) string {
	width := defaultRuleSize
	if p.host.Terminal && p.host.Width > 0 {
		width = min(p.host.Width, maxRuleWidth)
	}
	title := fmt.Sprintf("── %s ── %s ──", role, p.view.turns(e))
	if !e.Time.IsZero() {
		title += e.Time.Format(" 2006-01-02 15:04:05Z ──")
	}
	return rule(title, width, p.format)
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
		head += e.Time.Format(", 2006-01-02 15:04:05Z")
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
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			line = " " + line
		}
		b.WriteString(">" + line + "\n")
	}
	return b.String()
}

// fenced is a text in a fence that is longer than any in it.
func fenced(said string) string {
	longest, run := 2, 0
	for _, c := range []byte(said) {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1) + "\n"
	if said != "" {
		said += "\n"
	}
	return fence + said + fence
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
		if e.IsError {
			return "tool error"
		}
		return "tool result"
	}
	if p.opts.style != "full" {
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
	said, full := string(e.Text), p.opts.style == "full"
	switch e.Kind {
	case transcript.KindStructured:
		return said
	case transcript.KindInquiryResponse:
		if e.JSON || said == "" {
			return said
		}
		return string(transcript.AppendQuoted(nil, e.Text))
	case transcript.KindToolCall:
		call := e.Name
		if said != "" && said != "{}" && said != "[]" {
			call += "\n" + said
		}
		if full {
			return call
		}
		return cutChars(strings.Join(strings.Fields(call), " "), briefCallChars)
	}
	if e.JSON {
		said = "" // something else was recorded than a text
	} else if e.Kind == transcript.KindToolResult && !full {
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
		if n++; n > briefLines {
			continue
		}
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		b.WriteString(cutChars(line, briefLineChars) + "\n")
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
