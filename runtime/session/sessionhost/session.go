package sessionhost

import (
	"context"

	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
)

// Session is a session that this process has open.
type Session struct {
	*engine.Engine
}

// Begin starts a new session. Errors are those of [Sessions.Start] and [engine.Start].
func (s *Sessions) Begin(ctx context.Context, n New, observe func(session.Event)) (*Session, error) {
	start, err := s.Start(ctx, n)
	if err != nil {
		return nil, err
	}
	e, err := engine.Start(s.Dir(), start, s.engine(observe))
	if err != nil {
		return nil, err
	}
	return &Session{Engine: e}, nil
}

// Resume opens a session, which goes on with what was running. Errors are those of [engine.Resume].
func (s *Sessions) Resume(id string, observe func(session.Event)) (*Session, error) {
	e, err := engine.Resume(s.Dir(), id, s.engine(observe))
	if err != nil {
		return nil, err
	}
	return &Session{Engine: e}, nil
}

// engine returns what an engine works with.
func (s *Sessions) engine(observe func(session.Event)) engine.Options {
	return engine.Options{Model: s.Model, Tools: s.tools, Now: s.now(), NewID: s.NewID, Observe: observe}
}

// RecordedConversation is where a conversation that is recorded elsewhere comes from.
type RecordedConversation struct{ Session, Conversation string }

// Recorded returns the conversation of a session that is recorded under an id, and false for what is no such id.
func (s *Sessions) Recorded(ctx context.Context, id string) (RecordedConversation, bool, error) {
	return RecordedConversation{}, false, nil
}
