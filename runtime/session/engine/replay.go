package engine

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/sessionlog"
)

// DivergedError is the error for a log that replaying it does not give again.
type DivergedError struct {
	Seq  int64  // the first event of the record that differs
	Want []byte // the line of the log
	Got  []byte // the line in its place; empty where there is none
	Err  error  // why there is none
}

func (e *DivergedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("the replay ends at event %d: %v", e.Seq, e.Err)
	}
	return fmt.Sprintf("the replay differs from the log at event %d", e.Seq)
}

func (e *DivergedError) Unwrap() error { return e.Err }

// Replay plays the session of a log again, from its beginning, and holds every record against that of the log, byte for
// byte. Times, ids, what came from outside and the outputs of tools are those of the log, so that no tool runs. Models
// are asked again, as Options has them, and their calls are prepared again; where Options.Model is nil, responses are
// those of the log too. It returns how many records the log has. The error is a [*DivergedError] or one of
// [sessionlog.Read].
func Replay(ctx context.Context, dir, id string, o Options) (int, error) {
	r := &replay{ctx: ctx, options: o.withDefaults()}
	r.options.NewID = func() string { return "" } // until the log is asked
	n := 0
	for record, err := range sessionlog.Read(dir, id) {
		if err != nil {
			return n, err
		}
		if err := r.record(record); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// replay is a session that is played again.
type replay struct {
	ctx     context.Context
	options Options
	state   session.State
	stop    *session.StopRequested // what the task that runs has been asked; nil where it has not
	asked   *session.Sample        // that a model has to answer next
	sampled []session.Input        // what it has answered, and is not taken yet
}

// record takes the step that a record is of.
func (r *replay) record(want sessionlog.Record) error {
	first := want.Events[0]
	diverged := func(got []byte, err error) error {
		return &DivergedError{Seq: first.Seq, Want: slices.Clone(want.Line), Got: got, Err: err}
	}
	state, effects, events, err := session.Step(r.state, first.At, r.input(want.Events))
	if err != nil {
		return diverged(nil, err)
	}
	got, err := sessionlog.MarshalRecord(events)
	if err != nil || !bytes.Equal(got, want.Line) {
		return diverged(got, err)
	}
	r.state = state
	for _, e := range events {
		switch body := e.Body.(type) {
		case session.TaskStarted:
			r.stop = nil
		case session.StopRequested:
			r.stop = &body
		}
	}
	for _, effect := range effects {
		if sample, ok := effect.(session.Sample); ok {
			r.asked, r.sampled = &sample, nil
		}
	}
	return r.ctx.Err()
}

// input returns the input that a record is the step of. What the model gives comes from it, where it is asked.
func (r *replay) input(events []session.Event) session.Input {
	first, last := events[0], events[len(events)-1]
	task, _ := r.state.Running()
	switch b := first.Body.(type) {
	case session.SessionStarted:
		in := session.Start{Session: b.ID, Config: b.Config}
		if root, ok := last.Body.(session.ConversationOpened); ok {
			in.Root, in.Context, in.History = last.Conversation, root.Context, root.History
		}
		return in
	case session.SubmissionQueued:
		q := b.Submission
		return session.Submit{Conversation: q.Conversation, Context: q.Context, Input: q.Input, Budget: q.Budget, Call: q.Call}
	case session.StopRequested:
		before := r.stop
		if before == nil {
			before = new(session.StopRequested)
		}
		switch {
		case b.Expired && !before.Expired:
			return session.Expire{Task: task}
		case len(b.Destroy) > len(before.Destroy):
			return session.Remove{Conversation: b.Destroy[len(b.Destroy)-1], Force: true}
		}
		return session.Interrupt{Chain: b.Chain}
	case session.ConversationDestroyed, session.FrameResolved, session.PlanDropped:
		if _, ok := last.Body.(session.ConversationDestroyed); ok {
			return session.Remove{Conversation: last.Conversation}
		}
		return session.Interrupt{Submission: first.Submission}
	case session.Recovered:
		return session.Recover{}
	case session.AgentMessageDelta:
		return r.fromModel(session.Delta{Task: task, Text: b.Text})
	case session.TokenCount:
		return r.fromModel(responseOf(task, events))
	case session.ItemRecorded:
		if b.Item.Kind != session.ToolOutput {
			return r.fromModel(responseOf(task, events))
		}
		if r.stop == nil || len(events) == 1 {
			return session.ToolDone{Task: task, Call: b.Item.CallID, Content: b.Item.Content, Success: b.Item.Success}
		}
	}
	return session.Stopped{Task: task}
}

// fromModel returns the next of what the model gives, asked as an Engine would, or what the log has where no model is
// asked, or gave it when the task was being stopped already. Conversations have the ids of the log, and calls its times.
func (r *replay) fromModel(logged session.Input) session.Input {
	if r.options.Model == nil || r.stop != nil || r.asked == nil && len(r.sampled) == 0 {
		return logged
	}
	if asked := r.asked; asked != nil {
		r.asked = nil
		last := r.options.sample(r.ctx, r.state.Conversation(asked.Conversation), *asked, func(_ context.Context, piece session.Delta) {
			r.sampled = append(r.sampled, piece)
		})
		r.sampled = append(r.sampled, last)
	}
	next := r.sampled[0]
	r.sampled = r.sampled[1:]
	response, _ := next.(session.Response)
	recorded, _ := logged.(session.Response)
	for i, item := range response.Items {
		if i >= len(recorded.Items) || item.Call == nil || recorded.Items[i].Call == nil {
			continue
		}
		item.Call.Request = asRecorded(item.Call.Request, recorded.Items[i].Call.Request)
	}
	return next
}

// asRecorded returns what a call asks for with the id and the time of the log.
func asRecorded(r, logged session.Request) session.Request {
	switch logged := logged.(type) {
	case session.Create:
		if r, ok := r.(session.Create); ok {
			r.ConversationID, r.Budget.Deadline = logged.ConversationID, logged.Budget.Deadline
			return r
		}
	case session.Send:
		if r, ok := r.(session.Send); ok {
			r.Budget.Deadline = logged.Budget.Deadline
			return r
		}
	}
	return r
}

// responseOf returns the response, or the failure, that a record begins with.
func responseOf(task session.TaskID, events []session.Event) session.Input {
	r := session.Response{Task: task}
	for i, e := range events {
		switch b := e.Body.(type) {
		case session.ItemRecorded:
			item := session.ResponseItem{Raw: b.Item.Raw}
			switch b.Item.Kind {
			case session.ToolCall:
				item.Call = &b.Call
			case session.AgentMessage:
				item.Message = &b.Item.Parts[0].Text
			}
			r.Items = append(r.Items, item)
		case session.TokenCount:
			r.Usage = b.Usage
			if failed, ok := events[min(i+1, len(events)-1)].Body.(session.TaskFailed); ok && r.Items == nil {
				return session.SampleFailed{Task: task, Failure: failed.Failure, Usage: r.Usage}
			}
			return r
		}
	}
	return r
}
