package conversationcli

import (
	"bytes"
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

// style is how much is printed as text.
func (p *printing) style() string {
	if p.opts.style == "" {
		return "brief"
	}
	return p.opts.style
}

// text writes an event for people.
func (p *printing) text(e *conversations.Event) error {
	role := p.role(e)
	if role == "" {
		return nil
	}
	width := defaultRuleSize
	if p.host.Terminal && p.host.Width > 0 {
		width = min(p.host.Width, maxRuleWidth)
	}
	p.body = p.appendBody(p.body[:0], e)
	out := p.buf[:0]
	if p.any {
		out = append(out, '\n')
	}
	p.any = true
	title := fmt.Sprintf("── %s ── %s ──", role, p.view.turns(e))
	if !e.Time.IsZero() {
		title += e.Time.Format(" 2006-01-02 15:04:05Z ──")
	}
	out = appendRule(out, title, width, p.format.colour)
	out = text.AppendVisible(out, p.body)
	if len(p.body) > 0 && p.body[len(p.body)-1] != '\n' {
		out = append(out, '\n')
	}
	p.buf = out
	return p.out.write(out)
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
	if p.style() != "full" {
		return ""
	}
	switch e.Kind {
	case transcript.KindReasoning:
		return "reasoning"
	case transcript.KindInquiry:
		return "inquiry"
	case transcript.KindInquiryResponse:
		return "answer"
	case transcript.KindSystem:
		return "system"
	}
	return ""
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

// appendBody appends the text of an event, which is not safe to show yet.
func (p *printing) appendBody(dst []byte, e *conversations.Event) []byte {
	full := p.style() == "full"
	switch e.Kind {
	case transcript.KindInquiryResponse:
		if !e.JSON && len(e.Text) > 0 {
			return transcript.AppendQuoted(dst, e.Text)
		}
	case transcript.KindToolCall:
		dst = append(dst, e.Name...)
		if text := string(e.Text); text != "" && text != "{}" && text != "[]" {
			dst = append(append(dst, '\n'), text...)
		}
		if !full {
			return cutChars(bytes.Join(bytes.Fields(dst), []byte(" ")), briefCallChars)
		}
		return dst
	case transcript.KindToolResult:
		if e.Encoding == transcript.Base64 {
			dst = append(dst, "(stored as base64 that is no text)\n"...)
		}
		if !full && !e.JSON {
			return appendBrief(dst, e.Text)
		}
	}
	if e.JSON && e.Kind != transcript.KindStructured && e.Kind != transcript.KindInquiryResponse {
		return dst // something else was recorded than a text
	}
	return append(dst, e.Text...)
}

// appendBrief appends the first lines of a text, each cut to a length, and says
// how much is left out.
func appendBrief(dst, text []byte) []byte {
	at := 0
	for n := 0; at < len(text) && n < briefLines; n++ {
		line, rest, _ := bytes.Cut(text[at:], []byte{'\n'})
		dst = append(dst, cutChars(bytes.TrimSuffix(line, []byte{'\r'}), briefLineChars)...)
		dst = append(dst, '\n')
		at = len(text) - len(rest)
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
	end := 0
	for range n {
		_, size := utf8.DecodeRune(line[end:])
		end += size
	}
	return fmt.Appendf(bytes.Clone(line[:end]), "… %d more characters", total-n)
}
