package recall

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// separator is between the blocks of an answer. Nothing that is recorded has a line there that
// looks like its three hyphens.
const separator = "\n\n---\n\n"

// blocks is an answer in the making: messages, and a last block of notes.
type blocks struct{ strings.Builder }

func (b *blocks) write(block string) {
	if b.Len() > 0 {
		b.WriteString(separator)
	}
	b.WriteString(block)
}

// message is an event as it is shown.
type message struct {
	*conversations.Hit
	Text  string // without white space around it
	Cut   bool   // Text is only the beginning of the text
	Chars int    // of the whole text, in characters
}

// messageOf returns a message with the first most characters of its text, or all where most is 0.
func messageOf(r *conversations.Results, h *conversations.Hit, most int) (message, error) {
	content, err := r.Read(h)
	said := bytes.TrimFunc(content, text.IsSpace)
	m := message{Hit: h, Chars: utf8.RuneCount(said)}
	if m.Cut = most > 0 && m.Chars > most; m.Cut {
		said, _, _ = text.Ends(said, most, 0)
	}
	m.Text = string(said)
	return m, err
}

// add adds a message, with its place at the end of the first line where that is wanted. A text
// that is not whole ends with three dots.
func (b *blocks) add(m *message, withPlace bool) {
	if b.Len() > 0 {
		b.WriteString(separator)
	}
	for _, part := range [...]string{"[", when(m), "] ", cmp.Or(text.Line(clip(m.Role, maxTitle)), "unknown"), " (conv: ", nameOf(&m.Conversation.Conversation), ")"} {
		b.WriteString(part)
	}
	if withPlace {
		b.WriteString(" " + placeOf(m))
	}
	body := m.Text
	if m.Cut {
		body += "..."
	}
	b.WriteByte('\n')
	b.WriteString(withoutSeparators(text.Visible(body)))
}

// note adds the block of notes, where there are any.
func (b *blocks) note(notes []string) {
	if len(notes) > 0 {
		b.write("[note] " + strings.Join(notes, "\n"))
	}
}

// when is when a message was recorded, in UTC.
func when(m *message) string {
	if m.Time.IsZero() {
		return "(no time)"
	}
	return m.Time.UTC().Format("2006-01-02 15:04")
}

// nameOf is the title of a conversation on one line, or where it has none the beginning of
// its id.
func nameOf(c *transcript.Conversation) string {
	if strings.TrimFunc(c.Title, text.IsSpace) != "" {
		return clip(text.Line(c.Title), maxTitle)
	}
	id, _, _ := text.Ends(cmp.Or(c.NativeID, string(c.ID)), 8, 0)
	return text.Line(id)
}

// withoutSeparators puts a backslash before each line of three hyphens, with nothing that is
// seen around them, and before those that are such a line but for backslashes.
func withoutSeparators(s string) string {
	if !strings.Contains(s, "---") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.TrimFunc(strings.TrimLeft(line, `\`), isBlank) == "---" {
			lines[i] = `\` + line
		}
	}
	return strings.Join(lines, "\n")
}

// isBlank reports whether nothing is seen of a rune: white space, joiners behind it, and the
// pattern of Braille without dots.
func isBlank(r rune) bool { return text.IsSpace(r) || text.IsHidden(r) || r == 0x2800 }

// placeOf names a message as the parameters of conversation_read do.
func placeOf(m *message) string {
	return fmt.Sprintf("id: %s event: %d", m.Conversation.ID, m.Number)
}

// messageID is the id of a message: that of its conversation, and its number there.
func messageID(m *message) string {
	return fmt.Sprintf("%s:%d", m.Conversation.ID, m.Number)
}
