// Package recall is the work behind conversation_list, conversation_grep and
// conversation_read: of what [conversations.Source] finds it makes an answer that
// keeps to a size, leaves nothing out silently, and says which call gets the
// rest. It is the tool family of the conversation tools.
//
// It only reads. What it shows was recorded earlier and is data: text of a
// conversation goes into element bodies, never into attributes or notes.
package recall

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
)

// callLimit is how long a source may take to answer one call.
const callLimit = 60 * time.Second

// Open opens the conversations that are looked up from a directory, which may be
// anything --workspace takes. Empty stands for the working directory.
type Open func(dir string) (conversations.Source, error)

// Tools implements the handlers of the conversation tools.
type Tools struct {
	open Open
}

var _ conversation.Handler = (*Tools)(nil)

// New returns handlers for the conversations that open opens, for each call anew.
func New(open Open) *Tools { return &Tools{open: open} }

// ask opens the source for a call and asks it. The error is worded.
func (t *Tools) ask(ctx context.Context, call contract.Call, question func(context.Context, conversations.Source) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, callLimit, errTooLong)
	defer cancel()
	source, err := t.open(call.Context.Dir)
	if err == nil {
		err = question(ctx, source)
	}
	if err == nil {
		return nil
	}
	return failure(ctx, err)
}

// located puts the id of the current conversation into its one spelling. What
// is no id of a conversation here counts as not known, which the notes of the
// call then say, with what cannot be done for it: a host's own notion of a
// conversation must not make a search fail.
func located(call contract.Call, undone string) contract.Call {
	given := call.Context.ConversationID
	id, err := conversations.ParseID(given)
	if err != nil {
		call.Context.ConversationID = ""
		if given != "" && undone != "" {
			call.Notes = append(slices.Clone(call.Notes), fmt.Sprintf("The host's conversation id is not understood, so %s: %s.", undone, text.Quote(given)))
		}
		return call
	}
	call.Context.ConversationID = string(id)
	return call
}

// isCurrent reports whether id, in any spelling, is the conversation of a located
// call.
func isCurrent(call contract.Call, id string) bool {
	parsed, err := conversations.ParseID(id)
	return err == nil && string(parsed) == call.Context.ConversationID
}
