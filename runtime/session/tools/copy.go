package tools

import (
	"context"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// CopyError is the error for a recorded conversation that is a copy of one of a session, and of no session itself.
type CopyError struct{ ID string }

func (e *CopyError) Error() string {
	return "conversation " + e.ID + " is a fork of one that a session has, and no session has it yet; convtools query --id " + e.ID + " begins one"
}

// isOwn reports whether a conversation of a session is recorded in the conversation that names it, which may be a copy. It
// reports true where the session cannot be read: whoever opens it says what is wrong.
func (s *Sessions) isOwn(ctx context.Context, c transcript.Conversation, at Place) (bool, error) {
	state, _, err := log.Load(s.Dir, at.Session)
	if err != nil {
		return true, nil
	}
	of := state.Conversation(at.Conversation)
	if of == nil {
		return true, nil
	}
	settings, err := ParseSettings(of.Settings)
	if id, bad := jp.ParseID(settings.Recorded); err == nil && bad == nil && of.Parent == "" {
		return id == c.ID, nil
	}
	own, err := s.workspace.Labelled(ctx, of.Opened, label, c.Labels[label])
	return own == c.ID, err
}

// Copied returns the session that goes on in a copy of a recorded conversation, with its history.
func (s *Sessions) Copied(ctx context.Context, id string) (n New, err error) {
	err = inWorkspace(ctx, s.workspace, transcript.ID(id), func(found store.Conversation) error {
		h := history{open: map[string]int{}}
		_, err := found.Read(ctx, nil, func(e *transcript.Event) bool {
			h.take(e)
			return true
		})
		h.answered()
		n = New{Title: found.Title, Settings: Settings{Hidden: found.Hidden, Recorded: id}, History: h.items}
		return err
	})
	return n, err
}

// inWorkspace has a conversation of a workspace read.
func inWorkspace(ctx context.Context, w *jp.Workspace, id transcript.ID, read func(store.Conversation) error) error {
	opened, _, err := w.Open(ctx)
	if err != nil {
		return err
	}
	defer opened.Close()
	found, err := opened.Find(ctx, id)
	if err != nil {
		return err
	}
	return read(found)
}

// history is what was said in a recorded conversation, as a model is asked with it.
type history struct {
	items []session.Item
	open  map[string]int // the calls without an output, by their ids
}

func (h *history) take(e *transcript.Event) {
	switch e.Kind {
	case transcript.KindUser:
		h.answered()
		h.say(session.UserMessage, session.FromUser, string(e.Text))
	case transcript.KindAssistant:
		h.say(session.AgentMessage, session.FromModel, string(e.Text))
	case transcript.KindStructured:
		h.say(session.AgentMessage, session.FromModel, jsonOf(e))
	case transcript.KindToolCall:
		if _, again := h.open[e.CallID]; again {
			return
		}
		h.open[e.CallID] = len(h.items)
		call := model.Item{Kind: session.ToolCall, CallID: e.CallID, Name: e.Name, Wire: e.Name, Arguments: jsonOf(e)}
		h.items = append(h.items, session.Item{Item: call, Origin: session.FromModel})
	case transcript.KindToolResult:
		call, ok := h.open[e.CallID]
		if !ok {
			return
		}
		delete(h.open, e.CallID)
		content, _ := eventtext.Body(e)
		output := model.Item{Kind: session.ToolOutput, CallID: e.CallID, Name: h.items[call].Name, Output: string(content), Failed: e.Failed}
		h.items = append(h.items, session.Item{Item: output, Origin: session.FromTool})
	}
}

func (h *history) say(kind model.Kind, from session.Origin, text string) {
	if text != "" {
		h.items = append(h.items, session.Item{Item: model.Text(kind, text), Origin: from})
	}
}

// jsonOf returns the arguments of a call, or structured data, as compact JSON.
func jsonOf(e *transcript.Event) string {
	switch {
	case len(e.Arguments) > 0:
		var w jsontext.Writer
		return string(w.Append(nil, e.Arguments))
	case len(e.Text) > 0:
		return string(transcript.AppendQuoted(nil, e.Text))
	}
	return ""
}

// answered removes the calls that have no output: no provider takes one.
func (h *history) answered() {
	if len(h.open) == 0 {
		return
	}
	kept := h.items[:0]
	for i, item := range h.items {
		if at, open := h.open[item.CallID]; item.Kind != session.ToolCall || !open || at != i {
			kept = append(kept, item)
		}
	}
	h.items, h.open = kept, map[string]int{}
}
