package recall

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
)

// maxContext is how many characters of messages an answer of conversation_context has, and
// how many a part of a message has that is longer.
const maxContext = 50_000

// around is one call of conversation_context in the making.
type around struct {
	call   contract.Call
	params conversation.ContextParams
	id     string // of the conversation
	number int

	message *conversations.Message
	part    string // of its text
	parts   int
	beside  []conversations.Message // those around it that there is room for, in order
	left    []string                // the ids of the others
	notes   []string
}

// parse reads the id of the message, and reports whether there can be such a message.
func (a *around) parse() bool {
	id, number, _ := strings.Cut(a.params.ID, ":")
	n, err := strconv.Atoi(number)
	a.id, a.number = id, n
	return err == nil
}

func (a *around) read(ctx context.Context, source conversations.Source) error {
	q := conversations.MessageQuery{
		Filter: conversations.Filter{IDs: []string{a.id}}, Events: conversations.EventRange{First: a.number, Last: a.number},
		Limit: 1, MaxText: maxContext * min(a.params.Part, maxParts),
	}
	found, err := source.Messages(ctx, q)
	if err != nil {
		return err
	}
	a.notes = append(remarks(a.call), missedNotes(found.Aside.Problems)...)
	if len(found.Messages) == 0 {
		return contract.Fixable(fmt.Sprintf("Conversation %s has no message %d. conversation_search with ids=true shows the ids of messages.", a.id, a.number))
	}
	a.message = &found.Messages[0]
	a.parts = max(1, (a.message.Chars+maxContext-1)/maxContext)
	if a.params.Part > a.parts {
		return contract.Fixable(fmt.Sprintf("part=%d is none of this message: it has %s.", a.params.Part, count(a.parts, "part", "parts")))
	}
	before, _, _ := text.Ends(a.message.Text, maxContext*(a.params.Part-1), 0)
	a.part = a.message.Text[len(before):]
	if a.params.Before+a.params.After == 0 || a.parts > 1 {
		return nil
	}
	q.Events = conversations.EventRange{First: max(1, a.number-a.params.Before), Last: a.number + a.params.After}
	q.Limit, q.MaxText = a.params.Before+a.params.After+1, maxContext
	if found, err = source.Messages(ctx, q); err != nil {
		return err
	}
	a.fit(found.Messages)
	return nil
}

// maxParts bounds how much of a message is read for one of its parts.
const maxParts = 1 << 14

// fit keeps what there is room for of the messages around the one, the nearest first.
func (a *around) fit(messages []conversations.Message) {
	distance := func(m *conversations.Message) int {
		if n := m.Position.Event - a.number; n >= 0 {
			return 2 * n
		}
		return 2*(a.number-m.Position.Event) - 1
	}
	slices.SortFunc(messages, func(x, y conversations.Message) int { return distance(&x) - distance(&y) })
	room := maxContext - a.message.Chars
	for i := range messages {
		switch m := &messages[i]; {
		case m.Position.Event == a.number:
		case len(a.left) > 0 || m.Chars > room:
			a.left = append(a.left, messageID(m))
		default:
			room -= m.Chars
			a.beside = append(a.beside, *m)
		}
	}
}

// text is the answer for a model.
func (a *around) text() string {
	shown := *a.message
	shown.Text, shown.Cut = a.part, a.params.Part < a.parts
	all := append(a.beside, shown)
	slices.SortFunc(all, func(x, y conversations.Message) int { return x.Position.Event - y.Position.Event })
	var b blocks
	for i := range all {
		b.add(&all[i], true)
	}
	if a.parts > 1 {
		note := fmt.Sprintf("This is part %d of %d of the message, which has %d characters.", a.params.Part, a.parts, a.message.Chars)
		if a.params.Part < a.parts {
			note += fmt.Sprintf(" The next one: conversation_context with id=%q and part=%d.", messageID(a.message), a.params.Part+1)
		}
		if a.params.Before+a.params.After > 0 {
			note += " Messages around it are left out."
		}
		a.notes = append(a.notes, note)
	}
	if len(a.left) > 0 {
		a.notes = append(a.notes, "There was no room for "+bounded(a.left, ", ", maxNames)+": conversation_context shows each of them.")
	}
	b.note(a.notes)
	return b.String()
}
