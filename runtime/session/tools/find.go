package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/store/sessions"
	"github.com/convtools/convtools/runtime/transcript"
)

// Place is a conversation, and the session that it belongs to with the settings of that.
type Place struct {
	Session, Conversation string
	Settings              Settings
}

// Find returns the conversation that a person names by an id: that of a session, for its root, or of any conversation of
// a session, or the id under which a conversation is recorded. The beginning of an id is enough if no other id has it. The
// error is a [*log.NotFoundError], an [*AmbiguousError], or a [*CopyError] for a copy of a recorded conversation, which
// [Sessions.Copied] begins a session for.
func (s *Sessions) Find(ctx context.Context, id string) (Place, error) {
	id = strings.ToLower(strings.TrimSpace(id))
	at, err := s.recorded(ctx, id)
	if err != nil {
		return Place{}, err
	}
	if at.Session == "" {
		at = Place{Session: id, Conversation: id}
	}
	summary, err := log.Summarize(s.Dir, at.Session)
	if errors.Is(err, fs.ErrNotExist) && id != "" {
		if at, err = s.begun(ctx, id); err == nil {
			summary, err = log.Summarize(s.Dir, at.Session)
		}
	}
	at.Settings = SettingsOf(summary.Context)
	return at, err
}

// AmbiguousError is the error for a text that several ids begin with.
type AmbiguousError struct {
	ID  string   // the text
	IDs []string // that begin with it
}

func (e *AmbiguousError) Error() string {
	const most = 5
	list := strings.Join(e.IDs[:min(len(e.IDs), most)], ", ")
	if more := len(e.IDs) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%q begins the ids of %d conversations: %s", e.ID, len(e.IDs), list)
}

// begun returns the only conversation whose id begins with a text. The id of the text may lack the name of the program
// that recorded the conversation.
func (s *Sessions) begun(ctx context.Context, id string) (Place, error) {
	own, named := strings.CutPrefix(id, sessions.IDs().Prefix)
	of, part, _ := strings.Cut(own, ".")
	found, err := log.Begun(ctx, s.Dir, of, part)
	if err != nil {
		return Place{}, err
	}
	if named && part == "" { // the recorded id of a root
		maps.DeleteFunc(found, func(conversation, session string) bool { return conversation != session })
	}
	ids := slices.Sorted(maps.Keys(found))
	inJP, err := s.begunInWorkspace(ctx, id)
	ids = append(ids, inJP...)
	switch {
	case err != nil:
		return Place{}, err
	case len(ids) == 0:
		return Place{}, &log.NotFoundError{Session: id, Dir: s.Dir}
	case len(ids) > 1:
		return Place{}, &AmbiguousError{ID: id, IDs: ids}
	case len(inJP) == 1:
		return s.recorded(ctx, ids[0])
	}
	return Place{Session: found[ids[0]], Conversation: ids[0]}, nil
}

// begunInWorkspace returns the ids in the workspace that begin with a text.
func (s *Sessions) begunInWorkspace(ctx context.Context, id string) (ids []string, err error) {
	const prefix = "jp-c"
	if s.workspace == nil {
		return nil, nil
	}
	listed, err := s.workspace.List(ctx, store.Scope{Set: store.Live | store.Archived})
	if err != nil {
		return nil, err
	}
	defer listed.Close()
	for _, c := range listed.Conversations {
		if strings.HasPrefix(string(c.ID), prefix+strings.TrimPrefix(id, prefix)) {
			ids = append(ids, string(c.ID))
		}
	}
	return ids, nil
}

// recorded returns the conversation of a session that is recorded under an id, and no session for what is no such id.
func (s *Sessions) recorded(ctx context.Context, id string) (at Place, err error) {
	if of, conversation, ok := sessions.IDs().Split(id); ok {
		return Place{Session: of, Conversation: cmp.Or(conversation, of)}, nil
	}
	parsed, err := jp.ParseID(id)
	if err != nil || s.workspace == nil {
		return Place{}, nil
	}
	err = inWorkspace(ctx, s.workspace, parsed, func(found store.Conversation) error {
		named, ok := labelled(found.Conversation)
		if ok && s.isOwn(ctx, found.Conversation, named) {
			at = named
			return nil
		}
		last, err := lastMark(ctx, found, func(mark) bool { return true })
		if err == nil && last > 0 {
			err = &CopyError{ID: string(parsed)}
		} else if err == nil {
			err = fmt.Errorf("conversation %s was not held with convtools query or chat, so they cannot go on with it", parsed)
		}
		return err
	})
	var missing *store.NotFoundError
	if errors.As(err, &missing) {
		err = nil
	}
	return at, err
}

// isOwn reports whether a conversation of a session is recorded in the conversation that names it, which may be a copy. It
// reports true if the session cannot be read: opening it gives the error.
func (s *Sessions) isOwn(ctx context.Context, c transcript.Conversation, at Place) bool {
	state, _, err := log.Load(s.Dir, at.Session)
	of := state.Conversation(at.Conversation)
	if err != nil || of == nil {
		return true
	}
	own, _, err := recordedUnder(ctx, s.workspace, at.Session, of)
	return err == nil && own == c.ID
}

// CopyError is the error for a recorded conversation that is a copy of one of a session, and of no session itself.
type CopyError struct{ ID string }

func (e *CopyError) Error() string {
	return "conversation " + e.ID + " is a fork of one that a session has, and no session has it yet; convtools query --id " + e.ID + " begins one"
}

// Copied returns the session that goes on in a copy of a recorded conversation, with its history.
func (s *Sessions) Copied(ctx context.Context, id string) (n New, err error) {
	err = inWorkspace(ctx, s.workspace, transcript.ID(id), func(found store.Conversation) error {
		h := history{open: map[string]int{}}
		_, err := found.Read(ctx, func(e *transcript.Event) bool {
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
	listed, err := w.List(ctx, store.Scope{IDs: []transcript.ID{id}})
	if err != nil {
		return err
	}
	defer listed.Close()
	if len(listed.Conversations) == 0 {
		return &store.NotFoundError{IDs: []transcript.ID{id}, Place: w.Root()}
	}
	return read(listed.Conversations[0])
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
		if _, again := h.open[e.CallID]; !again {
			h.open[e.CallID] = len(h.items)
			call := model.Item{Kind: session.ToolCall, CallID: e.CallID, Name: e.Name, Wire: e.Name, Arguments: jsonOf(e)}
			h.items = append(h.items, session.Item{Item: call, Origin: session.FromModel})
		}
	case transcript.KindToolResult:
		if call, ok := h.open[e.CallID]; ok {
			delete(h.open, e.CallID)
			content := eventtext.Body(e)
			output := model.Item{Kind: session.ToolOutput, CallID: e.CallID, Name: h.items[call].Name, Output: string(content), Failed: e.Failed}
			h.items = append(h.items, session.Item{Item: output, Origin: session.FromTool})
		}
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
	h.items = kept
	clear(h.open)
}
