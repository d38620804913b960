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

	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/sessions"
	"github.com/convtools/convtools/runtime/transcript"
)

// Conversation is a conversation of a session.
type Conversation struct {
	Session, ID string
	Settings    Settings // of the session
}

// Find returns the conversation with an id: the id of a session means its root, and a conversation also has the id
// under which it is recorded. The beginning of an id is enough if no other id has it. The error is a
// [*log.NotFoundError], an [*AmbiguousError], or a [*CopyError] for a fork of a recorded conversation.
func (p *Project) Find(ctx context.Context, id string) (Conversation, error) {
	id = strings.ToLower(strings.TrimSpace(id))
	found, err := p.recorded(ctx, id)
	if err != nil {
		return Conversation{}, err
	}
	if found.Session == "" {
		found = Conversation{Session: id, ID: id}
	}
	summary, err := log.Summarize(p.Logs, found.Session)
	if errors.Is(err, fs.ErrNotExist) && id != "" {
		if found, err = p.beginning(ctx, id); err == nil {
			summary, err = log.Summarize(p.Logs, found.Session)
		}
	}
	found.Settings = SettingsOf(summary.Context)
	return found, err
}

// AmbiguousError is the error for the beginning of several ids.
type AmbiguousError struct {
	ID  string
	IDs []string // that begin with ID
}

func (e *AmbiguousError) Error() string {
	const most = 5
	list := strings.Join(e.IDs[:min(len(e.IDs), most)], ", ")
	if more := len(e.IDs) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%q begins the ids of %d conversations: %s", e.ID, len(e.IDs), list)
}

// beginning returns the only conversation whose id begins with a text, which may lack the prefix of recorded ids.
func (p *Project) beginning(ctx context.Context, id string) (Conversation, error) {
	own, prefixed := strings.CutPrefix(id, sessions.IDs().Prefix)
	session, part, _ := strings.Cut(own, ".")
	found, err := log.Begun(ctx, p.Logs, session, part)
	if err != nil {
		return Conversation{}, err
	}
	if prefixed && part == "" { // the id is that of a root
		maps.DeleteFunc(found, func(conversation, session string) bool { return conversation != session })
	}
	ids, err := p.idsInWorkspace(ctx, id)
	if err != nil {
		return Conversation{}, err
	}
	ids = append(slices.Sorted(maps.Keys(found)), ids...)
	switch {
	case len(ids) == 0:
		return Conversation{}, &log.NotFoundError{Session: id, Dir: p.Logs}
	case len(ids) > 1:
		return Conversation{}, &AmbiguousError{ID: id, IDs: ids}
	case len(found) == 0:
		return p.recorded(ctx, ids[0])
	}
	return Conversation{Session: found[ids[0]], ID: ids[0]}, nil
}

// idsInWorkspace returns the ids of the JP workspace that begin with a text, with or without the prefix of JP's ids.
func (p *Project) idsInWorkspace(ctx context.Context, id string) (ids []string, err error) {
	const prefix = "jp-c"
	if p.workspace == nil {
		return nil, nil
	}
	listed, err := p.workspace.List(ctx, store.Scope{Set: store.Live | store.Archived})
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

// recorded returns the conversation that is recorded under an id. Its Session is empty if no conversation is.
func (p *Project) recorded(ctx context.Context, id string) (found Conversation, err error) {
	if session, conversation, ok := sessions.IDs().Split(id); ok {
		return Conversation{Session: session, ID: cmp.Or(conversation, session)}, nil
	}
	parsed, err := jp.ParseID(id)
	if err != nil || p.workspace == nil {
		return found, nil
	}
	err = inWorkspace(ctx, p.workspace, parsed, func(c store.Conversation) error {
		of, ok := labelled(c.Conversation)
		if ok && p.records(ctx, of, c.ID) {
			found = of
			return nil
		}
		last, err := lastMark(ctx, c, func(mark) bool { return true })
		switch {
		case err != nil:
			return err
		case last > 0:
			return &CopyError{ID: c.ID}
		}
		return fmt.Errorf("conversation %s was not held with convtools query or chat, so they cannot go on with it", c.ID)
	})
	if missing := (*store.NotFoundError)(nil); errors.As(err, &missing) {
		err = nil
	}
	return found, err
}

// records reports whether a conversation of a session is recorded under an id. JP copies labels, so a label may be that
// of a fork. The result is true for a session that cannot be read: opening it returns the error.
func (p *Project) records(ctx context.Context, of Conversation, id transcript.ID) bool {
	state, _, err := log.Load(p.Logs, of.Session)
	c := state.Conversation(of.ID)
	if err != nil || c == nil {
		return true
	}
	recorded, err := recordedID(ctx, p.workspace, of.Session, c)
	return err == nil && recorded == id
}

// inWorkspace calls read with a conversation of a workspace. The error is a [*store.NotFoundError], or that of read.
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
