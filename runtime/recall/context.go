package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
)

// mostAround is how many messages Around shows on each side.
const mostAround = 1000

// Around returns, for people, the message of an id such as jp-c17648402467:12 and those around
// it in its conversation, the oldest first, in the form of conversation_search, but whole.
func Around(ctx context.Context, source conversations.Source, id string, before, after int) (string, error) {
	conversation, number := splitID(id)
	if number == 0 {
		return "", contract.Fixable(fmt.Sprintf("id must be the id of a message such as jp-c17648402467:12, got %q.", id))
	}
	before, after = min(max(before, 0), mostAround, number-1), min(max(after, 0), mostAround)
	found, err := source.Search(ctx, conversations.SearchQuery{Filter: conversations.Filter{IDs: []string{conversation}}})
	var missing *conversations.NotFoundError
	if errors.As(err, &missing) {
		message := append([]string{"There is no conversation " + conversation + "."}, missedNotes(missing.Unread)...)
		return "", contract.Fixable(strings.Join(message, " "))
	}
	if err != nil {
		return "", failure(ctx, err)
	}
	defer found.Close()
	found.Hits = slices.DeleteFunc(found.Hits, func(h conversations.Hit) bool { return h.Number < number-before || h.Number > number+after })
	if !slices.ContainsFunc(found.Hits, func(h conversations.Hit) bool { return h.Number == number }) {
		return "", contract.Fixable(fmt.Sprintf("Conversation %s has no message %d.", conversation, number))
	}
	messages, err := messagesOf(found, 0)
	if err != nil {
		return "", failure(ctx, err)
	}
	return inBlocks(blocksOf(messages, true), missedNotes(found.Aside.Problems)), nil
}

// splitID parts the id of a message, such as jp-c17648402467:12, into that of its conversation
// and its number, which is 0 where it names a conversation alone.
func splitID(id string) (conversation string, number int) {
	conversation, event, _ := strings.Cut(id, ":")
	if n, err := strconv.ParseInt(event, 10, 32); err == nil && n > 0 {
		return conversation, int(n)
	}
	return id, 0
}
