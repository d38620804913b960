package recall

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// separator is between the blocks of an answer. Nothing that is recorded has a line there that
// looks like its three hyphens.
const separator = "\n\n---\n\n"

// message is an event as it is shown.
type message struct {
	*conversations.Hit
	Text  string // without white space around it
	Cut   bool   // Text has less than the whole text at its end
	Chars int    // of the whole text, in characters
}

// messagesOf returns the messages that were found: of one that answers a question and is too long
// the passage that does, and else the first most characters, or all where most is 0.
func messagesOf(found *conversations.Results, most int) (messages []message, err error) {
	for i := range found.Hits {
		m := message{Hit: &found.Hits[i]}
		content := []byte(nil)
		if m.Passage != nil {
			content = []byte(m.Passage.Text)
		} else if content, err = found.Read(m.Hit); err != nil {
			return nil, err
		}
		said := bytes.TrimFunc(content, text.IsSpace)
		m.Chars = utf8.RuneCount(said)
		if m.Cut = most > 0 && m.Chars > most; m.Cut {
			said, _, _ = text.Ends(said, most, 0)
		}
		m.Text = string(said)
		if p := m.Passage; p != nil && (p.Before || p.After) {
			m.Text, m.Cut = either(p.Before, "...", "")+m.Text, p.After
			m.Chars = max(m.Chars, most+1) // of the whole text, at least
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// blocksOf shows messages, with their places at the end of the first line where that is wanted. A
// text that is not whole ends with three dots.
func blocksOf(messages []message, withPlace bool) (blocks []string) {
	for i := range messages {
		m := &messages[i]
		head := "[" + when(m) + "] " + cmp.Or(text.Line(clip(m.Role, maxTitle)), "unknown") + " (conv: " + nameOf(&m.Conversation.Conversation) + ")"
		if withPlace {
			head += " " + placeOf(m)
		}
		body := m.Text
		if m.Cut {
			body += "..."
		}
		blocks = append(blocks, head+"\n"+withoutSeparators(text.Visible(body)))
	}
	return blocks
}

// inBlocks is an answer, with notes in a block of their own.
func inBlocks(blocks, notes []string) string {
	if len(notes) > 0 {
		blocks = append(blocks, "[note] "+strings.Join(notes, "\n"))
	}
	return strings.Join(blocks, separator)
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
		if strings.TrimFunc(strings.TrimLeft(line, `\`), isUnseen) == "---" {
			lines[i] = `\` + line
		}
	}
	return strings.Join(lines, "\n")
}

// isUnseen reports whether nothing is seen of a rune: white space, joiners behind it, and the
// pattern of Braille without dots.
func isUnseen(r rune) bool { return text.IsSpace(r) || text.IsHidden(r) || r == 0x2800 }

// placeOf names a message as the parameters of conversation_read do.
func placeOf(m *message) string {
	return fmt.Sprintf("id: %s event: %d", m.Conversation.ID, m.Number)
}

// messageID is the id of a message: that of its conversation, and its number there.
func messageID(m *message) string {
	return fmt.Sprintf("%s:%d", m.Conversation.ID, m.Number)
}

var errCursor = errors.New("not a cursor")

// cursor returns a position as callers hand it back.
func cursor(p *conversations.Position) string {
	at := fmt.Appendf(nil, "%d %d %d %d %s", p.Time.Unix(), p.Time.Nanosecond(), p.Order, p.Event, p.ID)
	return base64.RawURLEncoding.EncodeToString(at)
}

// parseCursor reads what cursor wrote.
func parseCursor(s string) (p conversations.Position, err error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	parts := strings.SplitN(string(b), " ", 5)
	if err != nil || len(parts) < 5 {
		return p, errCursor
	}
	var seconds, nanos int64
	_, err = fmt.Sscan(strings.Join(parts[:4], " "), &seconds, &nanos, &p.Order, &p.Event)
	p.Time, p.ID = time.Unix(seconds, nanos).UTC(), transcript.ID(parts[4])
	if err != nil || cursor(&p) != s {
		return p, errCursor
	}
	return p, nil
}

// mostAround is how many messages [Around] shows on each side.
const mostAround = 1000

// Around returns, for people, the message of an id such as
// jp-c17648402467:12 and those around it in its conversation, the oldest
// first, in the form of conversation_search, but whole.
func Around(ctx context.Context, source conversations.Source, id string, before, after int) (string, error) {
	conversation, number := splitID(id)
	if number == 0 {
		return "", contract.Fixable(fmt.Sprintf("id must be the id of a message such as jp-c17648402467:12, got %q.", id))
	}
	found, err := source.Search(ctx, conversations.SearchQuery{Filter: conversations.Filter{IDs: []string{conversation}}})
	if err != nil {
		return "", failure(ctx, err)
	}
	first, last := number-min(before, mostAround), number+min(after, mostAround)
	found.Hits = slices.DeleteFunc(found.Hits, func(h conversations.Hit) bool { return h.Number < max(first, 1) || h.Number > last })
	if !slices.ContainsFunc(found.Hits, func(h conversations.Hit) bool { return h.Number == number }) {
		return "", contract.Fixable(fmt.Sprintf("Conversation %s has no message %d.", conversation, number))
	}
	messages, err := messagesOf(found, 0)
	if err != nil {
		return "", failure(ctx, err)
	}
	return inBlocks(blocksOf(messages, true), missedNotes(found.Aside.Problems)), nil
}

// splitID parts the id of a message, such as jp-c17648402467:12, into
// that of its conversation and its number, which is 0 where it names a
// conversation alone.
func splitID(id string) (conversation string, number int) {
	conversation, event, _ := strings.Cut(id, ":")
	if n, err := strconv.ParseInt(event, 10, 32); err == nil && n > 0 {
		return conversation, int(n)
	}
	return id, 0
}
