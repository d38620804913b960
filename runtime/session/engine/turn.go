package engine

import "github.com/convtools/convtools/runtime/session"

// follow notes what the events of a step say of the submissions that somebody may wait for.
func (e *Engine) follow(events []session.Event) {
	for _, event := range events {
		if event.Kind == session.SubmissionQueued && e.queued != nil {
			e.queued.ID = event.Submission
			e.turns[event.Submission] = e.queued
		}
		t := e.turns[event.Submission]
		if t == nil || event.Frame != 0 || !t.ends(event, e.State()) {
			continue
		}
		delete(e.turns, t.ID)
		close(t.ended)
	}
}

// ends notes what an event of the logical turn itself says, and reports whether it is the last one. s is the state after
// the step of the event.
func (t *Turn) ends(event session.Event, s session.State) bool {
	switch event.Kind {
	case session.AgentMessage:
		t.result.Message = event.Text()
		return false
	case session.TaskComplete:
		t.result.Status = session.StatusCompleted
		if t.result.Message == "" {
			t.result.Status = session.StatusNoMessage
		}
	case session.TaskFailed:
		t.result.Status, t.result.Failure = session.StatusFailed, event.Failure
	case session.TurnAborted, session.CallsClosed, session.PlanDropped:
		if event.Reason == session.Replaced {
			return false
		}
		t.result.Status = session.StatusInterrupted
		if s.Conversation(event.Conversation).Destroyed {
			t.result.Status = session.StatusDestroyed
		}
	default:
		return false
	}
	return true
}
