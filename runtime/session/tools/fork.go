package tools

import (
	"context"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// CopyError is the error for a fork of a recorded conversation that no session continues yet.
type CopyError struct{ ID transcript.ID }

func (e *CopyError) Error() string {
	return "conversation " + string(e.ID) + " is a fork of one that a session has, and no session has it yet; convtools query --id " + string(e.ID) + " begins one"
}

// Copied returns a new session that continues a fork, with its messages as history.
func (p *Project) Copied(ctx context.Context, id transcript.ID) (n New, err error) {
	err = inWorkspace(ctx, p.workspace, id, func(c store.Conversation) error {
		n = New{Title: c.Title, Settings: Settings{Hidden: c.Hidden, Recorded: string(id)}}
		calls := map[string]session.Item{}
		_, err := c.Read(ctx, func(e *transcript.Event) bool {
			n.History = append(n.History, historyOf(e, calls)...)
			return true
		})
		return err
	})
	return n, err
}

// historyOf returns the items of a recorded event. A call comes with its output: no provider takes a call without one.
// calls has the calls of the turn that have no output yet.
func historyOf(e *transcript.Event, calls map[string]session.Item) []session.Item {
	text := string(eventtext.Body(e))
	message := func(kind model.Kind, from session.Origin) []session.Item {
		if text == "" {
			return nil
		}
		return []session.Item{{Item: model.Text(kind, text), Origin: from}}
	}
	switch e.Kind {
	case transcript.KindUser:
		clear(calls)
		return message(session.UserMessage, session.FromUser)
	case transcript.KindAssistant, transcript.KindStructured:
		return message(session.AgentMessage, session.FromModel)
	case transcript.KindToolCall:
		var w jsontext.Writer
		arguments := string(w.Append(nil, e.Arguments))
		call := model.Item{Kind: session.ToolCall, CallID: e.CallID, Name: e.Name, Wire: e.Name, Arguments: arguments}
		calls[e.CallID] = session.Item{Item: call, Origin: session.FromModel}
	case transcript.KindToolResult:
		if call, ok := calls[e.CallID]; ok {
			delete(calls, e.CallID)
			output := model.Item{Kind: session.ToolOutput, CallID: e.CallID, Name: call.Name, Output: text, Failed: e.Failed}
			return []session.Item{call, {Item: output, Origin: session.FromTool}}
		}
	}
	return nil
}
