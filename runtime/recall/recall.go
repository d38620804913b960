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
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// callLimit is how long a source may take to answer one call.
const callLimit = 60 * time.Second

// Tools implements the handlers of the conversation tools.
type Tools struct {
	// open opens the conversations of a directory, or of all projects, and of some
	// kinds of stores, as the options say.
	open func(dir string, scope conversations.Options) (conversations.Source, error)
	// sources returns the kinds of stores that a search asks that names none.
	sources func(dir string) ([]string, error)
	now     func() time.Time
}

var _ conversation.Handler = (*Tools)(nil)

// New returns handlers for the conversations that open opens. Each call opens
// those of its directory, which may be anything --workspace takes, and closes them
// where they are an [io.Closer].
func New(open func(dir string) (conversations.Source, error)) *Tools {
	return &Tools{
		open:    func(dir string, _ conversations.Options) (conversations.Source, error) { return open(dir) },
		sources: func(string) ([]string, error) { return nil, nil },
		now:     time.Now,
	}
}

// question asks a source for what a call wants.
type question func(context.Context, conversations.Source) error

// ask opens the source for a call and asks it. The error is a [*contract.Error].
func (t *Tools) ask(ctx context.Context, call contract.Call, scope conversations.Options, ask question) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	source, err := t.open(call.Context.Dir, scope)
	if err == nil {
		if c, ok := source.(io.Closer); ok {
			defer c.Close()
		}
		err = ask(ctx, source)
	}
	if err != nil {
		return failure(ctx, err)
	}
	return nil
}

// asking is one call of a tool that searches.
type asking struct {
	call   contract.Call
	scope  conversations.Options
	query  conversations.SearchQuery
	found  *conversations.Results
	undone string // what a note says where the current conversation is not known; empty for no note
	whole  bool   // the current conversation is searched too
}

// search searches, and uses what is found while the source is open.
func (a *asking) search(ctx context.Context, t *Tools, use question) error {
	if a.whole {
		a.undone = ""
	}
	return t.ask(ctx, a.call, a.scope, func(ctx context.Context, source conversations.Source) (err error) {
		var current current
		if a.call, current = locate(ctx, source, a.call, a.undone); !a.whole {
			a.query.Exclude = current.ids
			if current.kin {
				a.query.KinOf = current.ids[:1]
			}
		}
		a.query.Own = isRecallTool()
		if a.found, err = source.Search(ctx, a.query); err == nil && use != nil {
			err = use(ctx, source)
		}
		return err
	})
}

// current is the conversation that a call is made from.
type current struct {
	ids []string // its id, and after it those of others that it is a part of; empty where it is not known
	kin bool     // its kin is left out of a search too
}

// is reports whether id, in any spelling, is that of the current conversation.
func (c current) is(id string) bool {
	parsed, err := conversations.ParseID(id)
	return err == nil && len(c.ids) > 0 && string(parsed) == c.ids[0]
}

// locate sets the id of the current conversation in a call: the one that the
// host names, or the one that the source recognizes. Where it is not known a
// note says what is undone. A host may name an id of its own kind: that is no
// error.
func locate(ctx context.Context, source conversations.Source, call contract.Call, undone string) (contract.Call, current) {
	named, note := call.Context.ConversationID, ""
	var c current
	call.Context.ConversationID = ""
	if id, err := conversations.ParseID(named); err == nil {
		c.ids, c.kin = []string{string(id)}, call.Context.Kin
	} else if library, ok := source.(*conversations.Library); ok {
		from := call.Context.Caller
		from.Tool, from.Arguments = call.Tool, call.Arguments
		known := library.Caller(ctx, from)
		for _, id := range known.IDs {
			c.ids, c.kin = append(c.ids, string(id)), true
		}
		if known.Recorded {
			note = "Which conversation this is cannot be told, so " + undone + "."
		}
	}
	if named != "" {
		note = fmt.Sprintf("The host's conversation id is not understood, so %s: %s.", undone, text.Quote(named))
	}
	if len(c.ids) > 0 {
		call.Context.ConversationID = c.ids[0]
	} else if note != "" && undone != "" {
		call.Notes = append(slices.Clone(call.Notes), note)
	}
	return call, c
}

// isRecallTool returns a function that reports whether a recorded tool is one
// of the conversation tools.
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
