package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// Conversation is a conversation of a session.
type Conversation struct {
	Session, ID string
	Settings    Settings // of the session
}

// Find returns the conversation that has id, is recorded under id, or is the only conversation whose id begins with id.
// The id of a session means its root. Errors are [*log.NotFoundError], [*AmbiguousError], [*ForkError] and those of files.
func (p *Project) Find(ctx context.Context, id string) (Conversation, error) {
	id = strings.ToLower(strings.TrimSpace(id))
	found, err := p.findRecorded(ctx, id)
	if err == nil && found.Session == "" { // id is no whole id of a record
		found, err = p.findByPrefix(ctx, id)
	}
	if err != nil {
		return Conversation{}, err
	}
	summary, err := log.Summarize(p.Logs, found.Session)
	found.Settings = SettingsOf(summary.Context)
	return found, err
}

// AmbiguousError is the error for a text with which several ids begin.
type AmbiguousError struct {
	ID  string
	IDs []string // the ids that begin with ID
}

func (e *AmbiguousError) Error() string {
	const most = 5
	list := strings.Join(e.IDs[:min(len(e.IDs), most)], ", ")
	return fmt.Sprintf("%q begins the ids of %d conversations, such as %s; write more of one", e.ID, len(e.IDs), list)
}

// findByPrefix returns the only conversation whose id in its session, or the id of its record, begins with a text.
func (p *Project) findByPrefix(ctx context.Context, begin string) (Conversation, error) {
	sessionOf, err := p.idsInLogs(ctx, begin)
	recorded, workspaceErr := p.idsInWorkspace(ctx, begin)
	ids := append(slices.Sorted(maps.Keys(sessionOf)), recorded...)
	switch err = cmp.Or(err, workspaceErr); {
	case err != nil:
		return Conversation{}, err
	case len(ids) == 0 || begin == "": // every id begins with ""
		return Conversation{}, &log.NotFoundError{Session: begin, Dir: p.Logs}
	case len(ids) > 1:
		return Conversation{}, &AmbiguousError{ID: begin, IDs: ids}
	case len(recorded) == 1:
		return p.findRecorded(ctx, recorded[0])
	}
	return Conversation{Session: sessionOf[ids[0]], ID: ids[0]}, nil
}

// idsInLogs returns the ids in the logs that begin with a text: the ids of sessions or, if none begins so, the ids of
// created conversations in logs that can be read. The value for an id is the id of its session.
func (p *Project) idsInLogs(ctx context.Context, begin string) (map[string]string, error) {
	all, err := log.List(p.Logs)
	prefix := sessions.IDs().Prefix                    // "convtools-", with which the id of every record begins
	withoutPrefix := strings.TrimPrefix(begin, prefix) // a person may leave out the prefix
	found := map[string]string{}
	for _, info := range all {
		if strings.HasPrefix(info.Session, withoutPrefix) {
			found[info.Session] = info.Session
		}
	}
	if err != nil || len(found) > 0 {
		return found, err
	}
	for _, info := range all {
		for e := range log.Events(p.Logs, info.Session) {
			recorded := string(sessions.ID(info.Session, info.Session, e.Conversation)) // info.Session is the id of the root, too
			isMatch := strings.HasPrefix(e.Conversation, begin) || strings.HasPrefix(recorded, prefix+withoutPrefix)
			if e.Kind == session.ConversationOpened && isMatch {
				found[e.Conversation] = info.Session
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return found, nil
}

// idsInWorkspace returns the ids of the JP workspace that begin with a text, with or without the prefix of JP's ids.
func (p *Project) idsInWorkspace(ctx context.Context, id string) (ids []string, err error) {
	const prefix, digits = "jp-c", "0123456789"
	number := strings.TrimPrefix(id, prefix)
	if p.workspace == nil || strings.Trim(number, digits) != "" { // JP's ids have only digits
		return nil, nil
	}
	listed, err := p.workspace.List(ctx, store.Scope{Set: store.Live | store.Archived})
	if err != nil {
		return nil, err
	}
	defer listed.Close()
	for _, c := range listed.Conversations {
		if strings.HasPrefix(string(c.ID), prefix+number) {
			ids = append(ids, string(c.ID))
		}
	}
	return ids, nil
}

// findRecorded returns the conversation of a session that is recorded in the JP workspace under an id. It returns a zero
// Conversation if the workspace does not have the id. A conversation that no session has recorded is an error: a
// [*ForkError] if it is a fork of one that a session has recorded.
func (p *Project) findRecorded(ctx context.Context, id string) (found Conversation, err error) {
	parsed, err := jp.ParseID(id)
	if err != nil || p.workspace == nil {
		return found, nil
	}
	err = inWorkspace(ctx, p.workspace, parsed, func(c store.Conversation) error {
		conversation, ok := byLabel(c.Conversation)
		if ok && p.isRecordedAs(ctx, conversation, c.ID) {
			found = conversation
			return nil
		}
		last, err := lastMark(ctx, c, func(mark) bool { return true })
		switch {
		case err != nil:
			return err
		case last > 0: // c has events with the marks of a session: JP copied them into the fork
			return &ForkError{ID: c.ID}
		}
		return fmt.Errorf("conversation %s was not held with convtools query or chat, so they cannot go on with it", c.ID)
	})
	if _, isMissing := errors.AsType[*store.NotFoundError](err); isMissing {
		err = nil
	}
	return found, err
}

// isRecordedAs reports whether the record of a conversation has the id. A fork of the record has another id. For a
// session that cannot be read the result is true: the caller then opens the session and gets the error.
func (p *Project) isRecordedAs(ctx context.Context, conversation Conversation, id transcript.ID) bool {
	state, _, err := log.Load(p.Logs, conversation.Session)
	c := state.Conversation(conversation.ID)
	if err != nil || c == nil {
		return true
	}
	recorded, err := recordedID(ctx, p.workspace, conversation.Session, c)
	return err == nil && recorded == id
}

// inWorkspace calls read with the conversation that has an id in a workspace. The error may be a [*store.NotFoundError].
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

// ForkError is the error for a fork of a recorded conversation that no session continues yet.
type ForkError struct{ ID transcript.ID }

func (e *ForkError) Error() string {
	return fmt.Sprintf("conversation %s is a fork of one that a session has, and no session has it yet; convtools query --id %[1]s begins one", e.ID)
}

// FromFork describes a new session that continues a fork. The history of the session is that of the fork.
func (p *Project) FromFork(ctx context.Context, id transcript.ID) (n New, err error) {
	err = inWorkspace(ctx, p.workspace, id, func(c store.Conversation) error {
		n = New{Title: c.Title, Settings: Settings{Hidden: c.Hidden, Recorded: string(id)}}
		calls := map[string]session.Item{} // that have no output yet, by their ids
		_, err := c.Read(ctx, func(e *transcript.Event) bool {
			n.History = append(n.History, historyOf(e, calls)...)
			return true
		})
		return err
	})
	return n, err
}

// historyOf returns the items that a recorded event adds to a history. It keeps a call in calls, and returns the call
// together with its output. A call whose output does not come before the next message of the user is left out.
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
