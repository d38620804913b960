package convcli

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/convcli/internal/terminal"
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

// text writes a transcript for people.
func (p *printing) text(f format) error {
	if p.opts.style == "" {
		p.opts.style = "brief"
	}
	width := defaultRuleSize
	if p.env.IsTerminal && p.env.Width > 0 {
		width = min(p.env.Width, maxRuleWidth)
	}
	var out, text []byte
	printed := false
	err := p.each(func(e *transcript.Event) error {
		role := p.role(e)
		if role == "" {
			return nil
		}
		text = p.appendBody(text[:0], e)
		out = out[:0]
		if printed {
			out = append(out, '\n')
		}
		printed = true
		out = appendRule(out, p.ruleTitle(e, role), width, f.colour)
		out = terminal.AppendText(out, text)
		if len(text) > 0 && text[len(text)-1] != '\n' {
			out = append(out, '\n')
		}
		return p.out.write(out)
	})
	if err != nil {
		return err
	}
	if !printed {
		p.note("nothing to print: %s has %d turns, and style %s shows none of the selected events", p.conv.ID, p.turns, p.opts.style)
	}
	return p.out.flush()
}

// role names who speaks in an event, or is empty when the style leaves it out.
func (p *printing) role(e *transcript.Event) string {
	switch e.Kind {
	case transcript.KindUser, transcript.KindAssistant, transcript.KindStructured:
		return e.Kind.String()
	case transcript.KindToolCall:
		return "tool call"
	case transcript.KindToolResult:
		if e.IsError() {
			return "tool error"
		}
		return "tool result"
	}
	if p.opts.style != "full" {
		return ""
	}
	switch e.Kind {
	case transcript.KindReasoning:
		return "reasoning"
	case transcript.KindInquiry:
		return "inquiry"
	case transcript.KindInquiryResponse:
		return "answer"
	}
	return ""
}

func (p *printing) ruleTitle(e *transcript.Event, role string) string {
	title := fmt.Sprintf("── %s ── turn %d ──", role, e.Turn)
	if at, err := e.Timestamp(); err == nil {
		title += at.Format(" 2006-01-02 15:04:05Z ──")
	}
	return title
}

// appendRule appends a heading filled up to a width.
func appendRule(dst []byte, title string, width int, colour bool) []byte {
	if fill := width - utf8.RuneCountInString(title); fill > 0 {
		title += strings.Repeat("─", fill)
	}
	if colour {
		title = styleDim + title + styleReset
	}
	dst = append(dst, title...)
	return append(dst, '\n')
}

// appendBody appends what an event says, which is not safe to show yet.
func (p *printing) appendBody(dst []byte, e *transcript.Event) []byte {
	full := p.opts.style == "full"
	switch e.Kind {
	case transcript.KindStructured:
		if text, _ := e.AppendText(dst); len(text) > len(dst) {
			return text // a string
		}
		return e.AppendPretty(dst, transcript.FieldData)
	case transcript.KindInquiryResponse:
		return e.AppendPretty(dst, transcript.FieldAnswer)
	case transcript.KindToolCall:
		text, _ := e.AppendText(nil)
		if full {
			return append(dst, text...)
		}
		return append(dst, cutChars(bytes.Join(bytes.Fields(text), []byte(" ")), briefCallChars)...)
	case transcript.KindToolResult:
		text, encoding := e.AppendText(nil)
		if encoding == transcript.Base64 {
			dst = append(dst, "(stored as base64 that is no text)\n"...)
		}
		if full {
			return append(dst, text...)
		}
		return appendBrief(dst, text)
	}
	dst, _ = e.AppendText(dst)
	return dst
}

// appendBrief appends the first lines of a text, each cut to a length, and says
// how much is left out.
func appendBrief(dst, text []byte) []byte {
	at := 0
	for n := 0; at < len(text) && n < briefLines; n++ {
		l := lineAt(text, at)
		dst = append(dst, cutChars(text[l.start:l.end], briefLineChars)...)
		dst = append(dst, '\n')
		at = l.next
	}
	if at == len(text) {
		return dst
	}
	left := bytes.Count(text[at:], []byte{'\n'})
	if text[len(text)-1] != '\n' {
		left++
	}
	return fmt.Appendf(dst, "… %d more lines; --style=full prints them\n", left)
}

// cutChars returns at most n characters of a line, with the number of those left
// out.
func cutChars(line []byte, n int) []byte {
	if len(line) <= n {
		return line
	}
	total := utf8.RuneCount(line)
	if total <= n {
		return line
	}
	cut := bytes.Clone(line[:moveRunes(line, 0, n)])
	return fmt.Appendf(cut, "… %d more characters", total-n)
}
