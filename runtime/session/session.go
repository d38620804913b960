// Package session is the core of the conv.* tools: a state machine that decides what happens in a session of several
// conversations. At most one of them works at a time.
//
// [Step] takes a [State] and an [Input], and returns the next state and the [Event]s that lead to it. The events of a
// step are one record of a log, which the host syncs before it begins the [Work] of the new state. [State.Apply]
// rebuilds the state from a log, and [Recover] continues from there.
//
// Terms:
//
//   - A task is one run in a conversation. It ends completed, failed, interrupted or replaced; it never pauses.
//   - A sample is one request to the model and its response.
//   - A logical turn answers one input. It is a chain of tasks: one more each time that calls of conv.create or conv.send
//     replaced the task before.
//   - A frame is one such call, until its output is recorded. Its result is how the logical turn of its target ended.
//   - A batch is the frames of one response. They run one by one, and one task closes them all. Batches form a stack:
//     each caller but the first is the target of a frame of the batch below.
//   - A submission is a message from outside, or a call that a program makes in the place of a conversation's model, for
//     which no model is asked. Submissions wait in a queue until the stack is empty.
//
// The package must never read a clock or a file, start a goroutine, pick a random number or change a State that it was
// given: times, ids, contents of files, responses and outputs come with inputs.
package session

import (
	"cmp"
	"fmt"
	"time"
)

// Step returns the state after an input and the events that lead to this state, without changing s. The error is a
// [*Refusal]: nothing happened. The events have the time at, in UTC and milliseconds, but not before the last event.
func Step(s State, at time.Time, in Input) (State, []Event, error) {
	d := decision{state: s.clone(), at: at.UTC().Truncate(time.Millisecond)}
	if d.at.Before(s.at) {
		d.at = s.at
	}
	isStarted := s.id != ""
	if _, isStart := in.(Start); isStart == isStarted {
		return s, nil, late("the session has not been started, or is started twice")
	}
	if refusal := in.decide(&d); refusal != nil {
		return s, nil, refusal
	}
	return d.state, d.events, nil
}

// Apply returns the state after the events of a record, without changing s. It returns s and an error if an event is
// missing or misplaced. A kind of event that only earlier versions wrote changes nothing but the number and the time.
func (s State) Apply(events []Event) (next State, err error) {
	next = s.clone()
	defer func() {
		if recover() != nil { // State.apply panics if an event is about a missing conversation, task or call
			next, err = s, fmt.Errorf("event %d does not follow from those before it", next.seq+1)
		}
	}()
	for _, e := range events {
		if !next.follows(e) {
			return s, fmt.Errorf("event %d does not follow event %d", e.Seq, next.seq)
		}
		next.apply(e)
	}
	return next, nil
}

// decision is a step in the making. Only events change its state.
type decision struct {
	state  State
	at     time.Time
	events []Event
}

// emit adds an event about a conversation, or the session if conversation is "", with the ids of its turn and task.
func (d *decision) emit(conversation string, e Event) {
	e.Conversation = conversation
	if c := d.state.Conversation(conversation); c != nil && c.turn != nil {
		e.LogicalTurn, e.Frame, e.Submission = c.turn.id, c.turn.frame, c.turn.submission
	}
	if t := d.state.task; t != nil && t.conversation == conversation {
		e.Task = t.id
	}
	d.add(e)
}

// add sets the number, the time and the session of an event, applies the event to the state, and appends it to
// d.events. The caller has set the ids of the conversation, the turn and the task.
func (d *decision) add(e Event) {
	e.Seq, e.At, e.Session = d.state.seq+1, d.at, cmp.Or(d.state.id, e.Session)
	d.state.apply(e)
	d.events = append(d.events, e)
}
