package conversations

import (
	"bytes"
	"context"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/transcript"
)

// MessageQuery asks for messages, the newest first.
type MessageQuery struct {
	Filter
	Text         string // in any case; empty is in every message
	Roles        transcript.Roles
	Since, Until *time.Time
	Own          func(tool string) bool
	After        *MessagePosition
	Limit        int
	MaxText      int // characters of a text that are returned, the first ones; 0 is all
	Counting     func() bool
}

// MessageMatches is the answer to a [MessageQuery].
type MessageMatches struct {
	Messages []Message
	More     bool
	Total    int
	AtLeast  bool
	Own      int
	Aside    Aside
}

// Message is a message that matches.
type Message struct {
	Conversation *transcript.Conversation
	Position     MessagePosition
	Kind         transcript.Kind
	Role         string // as [transcript.Event.RoleName]
	Text         string // without white space around it
	Cut          bool   // Text is only the beginning of the text
	Chars        int    // of the whole text, in characters
}

// Messages implements [Source].
func (l *Library) Messages(ctx context.Context, q MessageQuery) (MessageMatches, error) {
	found, err := l.Search(ctx, SearchQuery{
		Filter: q.Filter, Pattern: excerpt.Literal(q.Text, true), Roles: q.Roles, Since: q.Since, Until: q.Until, Own: q.Own,
		Newest: true, After: q.After, Limit: q.Limit, Counting: q.Counting,
	})
	result := MessageMatches{More: found.More, Total: found.Total, AtLeast: found.AtLeast, Own: found.Own, Aside: found.Aside}
	if err != nil {
		return result, err
	}
	defer found.Close()
	for i := range found.Hits {
		m, err := found.Message(&found.Hits[i], q.MaxText)
		if err != nil {
			return result, err
		}
		result.Messages = append(result.Messages, m)
	}
	return result, nil
}

// Message returns a hit as a message, with the first most characters of its text, or all where
// most is 0.
func (r *Results) Message(h *Hit, most int) (Message, error) {
	content, err := r.Read(h)
	said := bytes.TrimFunc(content.Text, IsSpace)
	m := Message{Conversation: &h.Conversation.Conversation, Position: h.Position(), Kind: h.Kind, Role: content.Role, Chars: utf8.RuneCount(said)}
	if m.Cut = most > 0 && m.Chars > most; m.Cut {
		said, _, _ = text.Ends(said, most, 0)
	}
	m.Text = string(said)
	return m, err
}

// IsSpace reports whether a rune is white space around queries and messages: what Unicode
// has as white space, and the separators of ASCII, 0x1c to 0x1f.
func IsSpace(r rune) bool { return 0x1c <= r && r <= 0x1f || unicode.IsSpace(r) }
