package engine

import (
	"context"

	"github.com/convtools/convtools/runtime/session"
)

// Turn is the answer to a submission in the making.
type Turn struct {
	ID     session.SubmissionID
	engine *Engine
	ended  chan struct{}
	result session.Result
}

// Wait returns how the logical turn of the submission ended. The observer has seen its events by then.
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

// follow notes what the events of a step say of the submissions that somebody may wait for.
func (e *Engine) follow(events []session.Event) {
	for _, event := range events {
		if event.Kind == session.SubmissionQueued && e.queued != nil {
			e.queued.ID = event.Submission
			e.turns[event.Submission] = e.queued
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
