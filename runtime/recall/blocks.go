package recall

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// separator is between the blocks of an answer. No line of a recorded text looks like its
// three hyphens.
const separator = "\n\n---\n\n"

// message is an event as it is shown.
type message struct {
	*conversations.Hit
	Text  string // without white space around it
	Cut   bool   // the end of the text is missing
	Chars int    // of the whole text; of a passage, more than are shown
}

// messagesOf returns the messages that were found, with at most most characters of each, or
// all where most is 0. Of a long one that answers a question it is the passage that does.
func messagesOf(found *conversations.Results, most int) (messages []message, err error) {
	for i := range found.Hits {
		m := message{Hit: &found.Hits[i]}
		p := m.Passage
		if p != nil {
			m.Text = p.Text
		} else {
			content, err := found.Read(m.Hit)
			if err != nil {
				return nil, err
			}
			m.Text = string(content)
		}
		m.Text = strings.TrimFunc(m.Text, text.IsSpace)
		m.Chars = utf8.RuneCountInString(m.Text)
		if m.Cut = most > 0 && m.Chars > most; m.Cut {
			m.Text, _, _ = text.Ends(m.Text, most, 0)
		}
		if p != nil && (p.Before || p.After) {
			m.Text, m.Cut, m.Chars = either(p.Before, "...", "")+m.Text, p.After, max(m.Chars, most+1)
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// blocksOf returns messages as they are shown, with their places if withPlace is true. A text
// with a missing end ends with three dots.
func blocksOf(messages []message, withPlace bool) (blocks []string) {
	for i := range messages {
		m := &messages[i]
		when := "(no time)"
		if !m.Time.IsZero() {
			when = m.Time.UTC().Format("2006-01-02 15:04")
		}
		head := "[" + when + "] " + cmp.Or(text.Line(clip(m.Role, maxTitle)), "unknown") + " (conv: " + nameOf(&m.Conversation.Conversation) + ")"
		if withPlace {
			head += " " + m.place()
		}
		body := m.Text + either(m.Cut, "...", "")
		blocks = append(blocks, head+"\n"+withoutSeparators(text.Visible(body)))
	}
	return blocks
}

// inBlocks returns an answer, with notes in a block of their own.
func inBlocks(blocks, notes []string) string {
	if len(notes) > 0 {
		blocks = append(blocks, "[note] "+strings.Join(notes, "\n"))
	}
	return strings.Join(blocks, separator)
}

// nameOf returns the title of a conversation on one line, or the beginning of its id.
func nameOf(c *transcript.Conversation) string {
	if strings.TrimFunc(c.Title, text.IsSpace) != "" {
		return clip(text.Line(c.Title), maxTitle)
	}
	id, _, _ := text.Ends(cmp.Or(c.NativeID, string(c.ID)), 8, 0)
	return text.Line(id)
}

// withoutSeparators puts a backslash before each line that looks like three hyphens, and
// before those that look like such a line but for backslashes.
func withoutSeparators(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.TrimFunc(strings.TrimLeft(line, `\`), isUnseen) == "---" {
			lines[i] = `\` + line
		}
	}
	return strings.Join(lines, "\n")
}

// isUnseen reports whether a rune cannot be seen: white space, joiners, and the pattern of
// Braille without dots.
func isUnseen(r rune) bool { return text.IsSpace(r) || text.IsHidden(r) || r == 0x2800 }

// place names the message as the parameters of conversation_read do.
func (m *message) place() string {
	return fmt.Sprintf("id: %s event: %d", m.Conversation.ID, m.Number)
}

// cursor returns a position as callers hand it back.
func cursor(p *conversations.Position) string {
	return base64.RawURLEncoding.EncodeToString([]byte(coerce.JSON(p)))
}

// parseCursor returns the position of a cursor.
func parseCursor(s string) (p conversations.Position, err error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err == nil && cursor(&p) != s {
		err = errors.New("it was not written by cursor")
	}
	return p, err
}

// splitID returns the parts of the id of a message, such as jp-c17648402467:12: the id of its
// conversation, and its number, 0 where the id has none.
func splitID(id string) (conversation string, number int) {
	conversation, event, _ := strings.Cut(id, ":")
	if n, err := strconv.ParseInt(event, 10, 32); err == nil && n > 0 {
		return conversation, int(n)
	}
	return id, 0
}
