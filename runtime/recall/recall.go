// Package recall is the work behind conversation_list, conversation_grep and
// conversation_read: it runs the conversation command line, and makes of its
// JSON an answer that keeps to a size, leaves nothing out silently, and says
// which call gets the rest.
//
// It only reads. What it shows was recorded earlier and is data: text of a
// conversation goes into element bodies, never into attributes.
package recall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
)

// Tools implements the handlers of the conversation tools.
type Tools struct {
	cli   contract.CLI
	paths bool // errors name directories in full
}

var _ conversation.Handler = (*Tools)(nil)

// New returns handlers that get conversations from cli.
func New(cli contract.CLI) *Tools { return &Tools{cli: cli} }

// ShowPaths returns handlers whose errors name files and directories in full,
// for a person who calls a tool and has to find what is wrong. A model is told
// only what they end with.
func (t *Tools) ShowPaths() *Tools { return &Tools{cli: t.cli, paths: true} }

// run runs the conversation command line and hands each record it prints to
// record, in order. The last element may be a summary, which goes to summary.
// exitOK says which exit codes come with records. After an error, what record
// and summary got must not be used.
func (t *Tools) run(ctx context.Context, call contract.Call, cli string, args []string, exitOK func(int) bool, summary any, record func(json.RawMessage) error) error {
	stdout, stderr, exit, err := t.cli.RunCLI(ctx, cli, call.Context, args)
	if err != nil {
		return t.source(cli).notRun(err)
	}
	if exitOK(exit) {
		err := records(stdout, summary, record)
		if err == nil {
			return nil
		}
		if exit == 0 {
			return t.source(cli).unreadable(err, stdout, stderr)
		}
	}
	return t.source(cli).failed(call.Tool, exit, stderr)
}

// source says whose word the output of a command line is.
func (t *Tools) source(cli string) source {
	other, ok := t.cli.(interface {
		External(name string) (setting string, external bool)
	})
	if !ok {
		return source{paths: t.paths}
	}
	setting, external := other.External(cli)
	return source{external, setting, t.paths}
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
			call.Notes = append(slices.Clone(call.Notes), fmt.Sprintf("The host's conversation id is not understood, so %s: %s.", undone, quoted(given)))
		}
		return call
	}
	call.Context.ConversationID = string(id)
	return call
}

// isCurrent says that id, in any spelling, is the conversation of a located call.
func isCurrent(call contract.Call, id string) bool {
	parsed, err := conversations.ParseID(id)
	return err == nil && string(parsed) == call.Context.ConversationID
}

// errNoID refuses a record whose id could not be used in another call, and must
// not stand in an attribute.
var errNoID = errors.New("its id is not the id of a conversation")

// isIdentifier says that s has the form of an id, or of a name this program
// gives: those go into attributes, which recorded text must not.
func isIdentifier(s string) bool {
	if len(s) == 0 || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		switch b := s[i]; {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', b == '.', b == '_', b == '-':
		default:
			return false
		}
	}
	return true
}

func valueOr(p *int, otherwise int) int {
	if p == nil {
		return otherwise
	}
	return *p
}
