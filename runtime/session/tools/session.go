package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/google/uuid"

	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/sessions"
)

// Session is a session that this process has open. What is said in it is recorded where its settings say.
type Session struct {
	*engine.Engine
	*Sessions
	id       string    // and that of the root
	recorder *recorder // nil where the log is all
}

// Begin starts a new session. observe is called as [engine.Options.Observe] says. Errors are those of
// [sessionconfig.Config.Choose], where no model is there for it, and [engine.Start].
func (s *Sessions) Begin(ctx context.Context, n New, observe func(session.Event, session.State)) (*Session, error) {
	start, err := s.start(ctx, n)
	if err != nil {
		return nil, err
	}
	return s.session(start.Session, start.Context.Settings, observe, func(o engine.Options) (*engine.Engine, error) {
		return engine.Start(s.Dir, start, o)
	})
}

// Resume opens a session, which goes on with what was running. Errors are those of [log.Summarize] and
// [engine.Resume].
func (s *Sessions) Resume(id string, observe func(session.Event, session.State)) (*Session, error) {
	summary, err := log.Summarize(s.Dir, id)
	if err != nil {
		return nil, err
	}
	return s.session(id, summary.Context.Settings, observe, func(o engine.Options) (*engine.Engine, error) {
		return engine.Resume(s.Dir, id, o)
	})
}

// session opens a session, with what records it.
func (s *Sessions) session(id, settings string, observe func(session.Event, session.State), open func(engine.Options) (*engine.Engine, error)) (*Session, error) {
	opened := &Session{Sessions: s, id: id}
	parsed, err := ParseSettings(settings)
	if err != nil {
		return nil, err
	}
	if parsed.JP {
		workspace, err := jp.Open(jp.Options{Dir: parsed.Dir, Getenv: s.options.Host.Getenv})
		if err != nil {
			s.options.Warn("what is said cannot be recorded: " + err.Error())
		} else {
			opened.recorder = newRecorder(id, workspace, s.now)
			opened.recorder.model, opened.recorder.warn = s.jpModel, s.options.Warn
		}
	}
	opened.Engine, err = open(engine.Options{Model: s.Model, Tools: opened, Now: s.now, NewID: uuid.NewString, Observe: func(e session.Event, state session.State) {
		if observe != nil {
			observe(e, state)
		}
		if opened.recorder != nil {
			opened.recorder.observe(e, state)
		}
	}})
	return opened, err
}

// Close records what is not recorded yet, and closes the session as [engine.Engine.Close] does. An error may be why
// something is not recorded.
func (o *Session) Close() error {
	var removed error
	if o.recorder != nil && o.Err() == nil { // otherwise another process may have it open
		removed = o.recorder.finish(o.State())
	}
	return errors.Join(o.Engine.Close(), removed)
}

// recordedAs returns the id under which a conversation of the session is recorded.
func (o *Session) recordedAs(conversation string) string {
	if o.recorder == nil {
		return string(sessions.ID(o.id, o.id, conversation))
	}
	return string(o.recorder.recordedAs(conversation))
}

// Place is a conversation, and the session that it belongs to with the settings of that.
type Place struct {
	Session, Conversation string
	Settings              Settings
}

// Find returns what a person means with an id: that of a session, which is that of its root, or of any conversation of
// one, or the id under which one is recorded. The error is a [*log.NotFoundError] where there is none, and a [*CopyError]
// for a copy of one, which [Sessions.Copied] begins a session for.
func (s *Sessions) Find(ctx context.Context, id string) (Place, error) {
	id = strings.ToLower(strings.TrimSpace(id))
	at, err := s.recorded(ctx, id)
	known := at.Session != ""
	if err != nil {
		return Place{}, err
	}
	if !known {
		at = Place{Session: id, Conversation: id}
	}
	summary, err := log.Summarize(s.Dir, at.Session)
	if errors.Is(err, fs.ErrNotExist) && !known {
		if at.Session, err = log.Holding(ctx, s.Dir, id); err == nil {
			summary, err = log.Summarize(s.Dir, at.Session)
		}
	}
	if err != nil {
		return Place{}, err
	}
	at.Settings, err = ParseSettings(summary.Context.Settings)
	return at, err
}

// recorded returns the conversation of a session that is recorded under an id, and no session for what is no such id.
func (s *Sessions) recorded(ctx context.Context, id string) (Place, error) {
	if of, conversation, ok := sessions.Split(id); ok {
		return Place{Session: of, Conversation: cmp.Or(conversation, of)}, nil
	}
	parsed, err := jp.ParseID(id)
	if err != nil || s.workspace == nil {
		return Place{}, nil
	}
	var at Place
	err = inWorkspace(ctx, s.workspace, parsed, func(found store.Conversation) error {
		if named, ok := labelled(found.Conversation); ok {
			if own, err := s.isOwn(ctx, found.Conversation, named); own || err != nil {
				at = named
				return err
			}
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
