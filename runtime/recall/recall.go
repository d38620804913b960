// Package recall is the work behind conversation_recall, conversation_list,
// conversation_grep, conversation_read and conversation_search: of what
// [conversations.Source] finds it makes an answer that keeps to a size,
// leaves nothing out silently, and says which call gets the rest. It is the
// tool family of the conversation tools.
//
// A text that is too long is cut once, with 40 percent of what is kept from
// its beginning in prose, and 60 in output. Rules for pastes, logs and tables
// inside of it were worth 1 percent of the characters of make recall's
// questions, and outlines of archived conversations after those of live ones
// cost 3; several windows in a long line cost 7. So they are gone.
//
// It only reads. What it shows was recorded earlier and is data: text of a
// conversation goes into element bodies, never into attributes or notes.
package recall

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// callLimit is how long a source may take to answer one call.
const callLimit = 60 * time.Second

// Open opens the conversations that are looked up from a directory for one
// call, which closes them where they are an [io.Closer]. The directory may be
// anything --workspace takes. Empty stands for the working directory.
type Open func(dir string) (conversations.Source, error)

// Tools implements the handlers of the conversation tools.
type Tools struct {
	open Open
	// everywhere opens the conversations of all projects, those of some
	// kinds of stores, or of all where it is called with none.
	everywhere func(dir string, sources []string) (conversations.Source, error)
	// sources returns the kinds of stores that a search asks that names
	// none.
	sources func(dir string) ([]string, error)
	now     func() time.Time
}

var _ conversation.Handler = (*Tools)(nil)

// New returns handlers for the conversations that open opens, for each
// call anew.
func New(open Open) *Tools {
	return &Tools{
		open: open, now: time.Now,
		everywhere: func(dir string, _ []string) (conversations.Source, error) { return open(dir) },
		sources:    func(string) ([]string, error) { return nil, nil },
	}
}

// ask opens the source for a call and asks it. The error is worded.
func ask(ctx context.Context, open Open, call contract.Call, question func(context.Context, conversations.Source) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, callLimit, errTooLong)
	defer cancel()
	source, err := open(call.Context.Dir)
	if err == nil {
		if c, ok := source.(io.Closer); ok {
			defer c.Close()
		}
		err = question(ctx, source)
	}
	if err != nil {
		return failure(ctx, err)
	}
	return nil
}

// asking is one call of a tool that searches.
type asking struct {
	call   contract.Call
	query  conversations.SearchQuery
	found  *conversations.Results
	undone string // what is the case where the current conversation is not known; empty where that does not matter
	whole  bool   // the current conversation is searched too
}

// search searches what open opens, and uses what is found while it is
// open.
func (a *asking) search(ctx context.Context, open Open, use func(context.Context, conversations.Source) error) error {
	if a.whole {
		a.undone = ""
	}
	return ask(ctx, open, a.call, func(ctx context.Context, source conversations.Source) (err error) {
		var current current
		if a.call, current = located(ctx, source, a.call, a.undone); !a.whole {
			a.query.Exclude, a.query.KinOf = current.ids, current.kinOf
		}
		a.query.Own = isRecallTool()
		if a.found, err = source.Search(ctx, a.query); err != nil {
			return err
		}
		return use(ctx, source)
	})
}

// current is what is left out as the current conversation.
type current struct {
	// ids are its id, and after it those of others that it is a part of;
	// empty where it is not known.
	ids []string
	// kinOf is the id again where the kin is left out too. What the host
	// names is left out alone, as it says.
	kinOf []string
}

// is reports whether id, in any spelling, is that of the current
// conversation.
func (c current) is(id string) bool {
	parsed, err := conversations.ParseID(id)
	return err == nil && len(c.ids) > 0 && string(parsed) == c.ids[0]
}

// recognizer is a source that can tell which conversation a call comes
// from.
type recognizer interface {
	Caller(ctx context.Context, from caller.Caller) conversations.Caller
}

// located puts what is known of the current conversation into a call:
// its id, as the host names it or else as the source recognizes it.
// Where that is not known, and undone says what cannot be done for it, a
// note says so. What the host names and is no id of a conversation here
// is one of the host's own: it must not make a search fail.
func located(ctx context.Context, source conversations.Source, call contract.Call, undone string) (contract.Call, current) {
	given := call.Context.ConversationID
	var c current
	var known conversations.Caller
	if id, err := conversations.ParseID(given); err == nil {
		if c.ids = []string{string(id)}; call.Context.Kin {
			c.kinOf = c.ids
		}
	} else if r, ok := source.(recognizer); ok {
		from := call.Context.Caller
		from.Tool, from.Arguments = call.Tool, call.Arguments
		if known = r.Caller(ctx, from); len(known.IDs) > 0 {
			for _, id := range known.IDs {
				c.ids = append(c.ids, string(id))
			}
			c.kinOf = c.ids[:1]
		}
	}
	call.Context.ConversationID = ""
	note := ""
	switch {
	case len(c.ids) > 0:
		call.Context.ConversationID = c.ids[0]
		return call, c
	case undone == "":
		return call, c
	case given != "":
		note = fmt.Sprintf("The host's conversation id is not understood, so %s: %s.", undone, text.Quote(given))
	case known.Recorded:
		note = "Which conversation this is cannot be told, so " + undone + "."
	default:
		return call, c
	}
	call.Notes = append(slices.Clone(call.Notes), note)
	return call, c
}

// isRecallTool returns a function that reports whether a recorded tool
// is one of the conversation tools. It is called for each tool call of a
// workspace.
func isRecallTool() func(recorded string) bool {
	var names []string
	for _, tool := range declared() {
		names = append(append(names, tool.Name), tool.Aliases...)
	}
	return func(recorded string) bool { return transcript.IsTool(recorded, names...) }
}

// declared returns the conversation tools.
func declared() []contract.Tool {
	return []contract.Tool{
		conversation.RecallTool(), conversation.GrepTool(), conversation.ListTool(),
		conversation.ReadTool(), conversation.SearchTool(),
	}
}
