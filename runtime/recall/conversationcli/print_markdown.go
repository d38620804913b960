package conversationcli

import (
	"bytes"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// markdown writes an event as markdown. What was said is a quotation, and what
// tools got and returned is fenced, so that nothing in them can begin a section of
// the conversation, or keep one from beginning.
func (p *printing) markdown(e *conversations.Event) error {
	role := p.role(e)
	if role == "" {
		return nil
	}
	p.body = p.appendBody(p.body[:0], e)
	out := p.buf[:0]
	if p.any {
		out = append(out, '\n')
	}
	if !p.any || p.turn != e.Turn {
		out = append(append(out, "## T"...), strings.TrimPrefix(p.view.turns(e), "t")...)
		out = append(out, "\n\n"...)
		p.turn = e.Turn
	}
	p.any = true
	out = append(append(out, "### "...), strings.ToUpper(role[:1])+role[1:]...)
	if !e.Time.IsZero() {
		out = append(out, e.Time.Format(", 2006-01-02 15:04:05Z")...)
	}
	out = append(out, "\n\n"...)
	body := bytes.TrimRight(text.AppendVisible(nil, p.body), "\n")
	switch e.Kind {
	case transcript.KindToolCall, transcript.KindToolResult, transcript.KindStructured:
		out = appendFenced(out, body)
	default:
		out = appendQuotation(out, body)
	}
	p.buf = out
	return p.out.write(out)
}

// appendQuotation appends a text as a block quotation.
func appendQuotation(dst, text []byte) []byte {
	for line := range bytes.Lines(text) {
		dst = append(dst, '>')
		if line = bytes.TrimRight(line, "\n"); len(line) > 0 {
			dst = append(append(dst, ' '), line...)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// appendFenced appends a text in a fence that is longer than any in it.
func appendFenced(dst, text []byte) []byte {
	longest, run := 2, 0
	for _, c := range text {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := bytes.Repeat([]byte{'`'}, longest+1)
	dst = append(append(dst, fence...), '\n')
	if len(text) > 0 {
		dst = append(append(dst, text...), '\n')
	}
	return append(append(dst, fence...), '\n')
}

// markdownTitle is what a conversation begins with.
func markdownTitle(r *conversations.Reading) []byte {
	title := text.Cell(r.Title)
	if title == "" {
		return []byte("# " + string(r.ID) + "\n\n")
	}
	var escaped strings.Builder
	for _, c := range title {
		if strings.ContainsRune("\\`*_[]<>#&!|~", c) {
			escaped.WriteByte('\\')
		}
		escaped.WriteRune(c)
	}
	return []byte("# " + escaped.String() + " (" + string(r.ID) + ")\n\n")
}
