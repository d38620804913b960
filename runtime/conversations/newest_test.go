package conversations_test

import (
	"bytes"
	"context"
	"time"
	"unicode/utf8"

	basetext "github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/transcript"
)

// messageQuery is a search for the newest messages with a text.
type messageQuery struct {
	conversations.Filter
	Text           string
	Scopes         transcript.Scopes
	Since, Until   time.Time
	Own            func(tool string) bool
	After          *conversations.Position
	Limit, MaxText int
}

// messageMatches is the answer to one.
type messageMatches struct {
	conversations.Results
	Messages []aMessage
}

type aMessage struct {
	Conversation *transcript.Conversation
	Position     conversations.Position
	Kind         transcript.Kind
	Role         string
	Text         string // without white space around it
	Chars        int
}

// newest searches a library.
func newest(ctx context.Context, l *conversations.Library, q messageQuery) (m messageMatches, err error) {
	found, err := l.Search(ctx, conversations.SearchQuery{
		Filter: q.Filter, Pattern: excerpt.Literal(q.Text, true), Scopes: q.Scopes, Since: q.Since, Until: q.Until, Own: q.Own,
		Order: conversations.Newest, After: q.After, Limit: q.Limit,
	})
	if m.Results = *found; err != nil {
		return m, err
	}
	for i := range found.Hits {
		h := &found.Hits[i]
		content, err := found.Read(h)
		if err != nil {
			return m, err
		}
		said := bytes.TrimFunc(content, basetext.IsSpace)
		one := aMessage{&h.Conversation.Conversation, h.Position(), h.Kind, h.Role, string(said), utf8.RuneCount(said)}
		if q.MaxText > 0 && one.Chars > q.MaxText {
			one.Text, _, _ = basetext.Ends(one.Text, q.MaxText, 0)
		}
		m.Messages = append(m.Messages, one)
	}
	return m, nil
}
