package engine

import (
	"context"

	"github.com/convtools/convtools/runtime/session"
)

// Turn is a submission, whose answer it waits for.
type Turn struct {
	ID     session.SubmissionID
	engine *Engine
	ended  chan struct{}
	result session.Result // valid after ended
}

// Submit is [Engine.Do] for a submission, and returns its Turn.
func (e *Engine) Submit(ctx context.Context, in session.Submit) (*Turn, error) {
	t := &Turn{engine: e, ended: make(chan struct{})}
	if err := e.ask(ctx, in, t); err != nil {
		return nil, err
	}
	return t, nil
}

// Wait returns how the logical turn of the submission ended, after the observer has seen its events.
func (t *Turn) Wait(ctx context.Context) (session.Result, error) {
	select {
	case <-t.ended:
		return t.result, nil
	case <-ctx.Done():
		return session.Result{}, context.Cause(ctx)
	case <-t.engine.done:
	}
	select {
	case <-t.ended:
		return t.result, nil
	default:
		return session.Result{}, t.engine.err
	}
}

// follow passes the events of a step to the turns of their submissions. The step may be that of a new turn.
func (e *Engine) follow(events []session.Event, submitted *Turn) {
	for _, event := range events {
		if event.Kind == session.SubmissionQueued && submitted != nil {
			submitted.ID = event.Submission
			e.turns[event.Submission] = submitted
		}
		t := e.turns[event.Submission]
		if t == nil || event.Frame != 0 || !t.result.Note(event) {
			continue
		}
		if t.result.Status == session.StatusInterrupted && e.State().Conversation(event.Conversation).Destroyed {
			t.result.Status = session.StatusDestroyed
		}
		delete(e.turns, t.ID)
		close(t.ended)
	}
}
