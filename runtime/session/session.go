// Package session is the core of the conv.* tools: a state machine that decides what happens in a session of several
// conversations. At most one of them works at any time.
//
// [Step] takes a [State] and an [Input] and returns the next state, the [Event]s that lead to it and the [Effect]s to
// carry out. The events of one step are one record of an append-only log, written whole or not at all and synced before
// the effects are carried out; [Fold] makes the state from the log again, and the input [Recover] continues from there.
//
// The words:
//
//   - A task is one atomic run in a conversation. It ends completed, failed, interrupted or replaced, and never pauses.
//   - A sample is one request to the model and its response.
//   - A logical turn is the chain of tasks that answers one input: the first, and those that continue it after a call
//     of conv.create or conv.send has replaced their predecessor.
//   - A frame is one such call, from when it replaces the task of its caller until its output is recorded. It is
//     resolved when the logical turn of its target has ended.
//   - A batch is the frames of one response. They run one after the other, and one task closes them all. The batches
//     form a stack: the caller of each but the first is the target of a frame of the batch below it.
//   - A submission is input from outside: something said to a conversation, or a call that a program makes in the place
//     of a conversation's model. Submissions wait in a queue, and the next one starts when the stack is empty.
//
// A call of a program outside is a task like any other, without a request to a model: it begins with the call, which
// replaces it, and ends with the output of that. So it is no message, and counts as nothing but a call.
//
// The package must never read a clock or a file, start a goroutine, pick a random number or change a State that it was
// given. What it cannot know comes with an input: the time, the ids of new conversations, the content of files, what
// models and tools answered.
package session

import (
	"cmp"
	"iter"
	"time"
)

// Step decides what in does to s at the time at. The state that it returns is that of s with the events applied; s
// itself stays as it was. An error is a [*Refusal] or an [*InputError]: the input does not fit the state, and nothing
// happened.
//
// Events have the time at in UTC to the millisecond, or the time of the last event where at is before that.
func Step(s State, at time.Time, in Input) (State, []Effect, []Event, error) {
	d := decision{state: s.clone(), at: at.UTC().Truncate(time.Millisecond)}
	if d.at.Before(s.at) {
		d.at = s.at
	}
	if _, starts := in.(Start); !starts && s.id == "" {
		return s, nil, nil, &InputError{Problem: "the session has not been started"}
	}
	if err := in.decide(&d); err != nil {
		return s, nil, nil, err
	}
	return d.state, d.effects, d.events, nil
}

// Fold returns the state that the records of a log lead to. An error of the sequence ends it and is returned; another one
// is a [*LogError]: an event is missing or is not where Step wrote it. The host has to keep records whole.
func Fold(records iter.Seq2[[]Event, error]) (s State, err error) {
	defer func() {
		if p := recover(); p != nil { // what an event is about is not there
			s, err = State{}, &LogError{Seq: s.seq + 1, Problem: "nothing is there that it is about"}
		}
	}()
	for events, err := range records {
		if err != nil {
			return State{}, err
		}
		for _, e := range events {
			if problem := s.misfit(e); problem != "" {
				return State{}, &LogError{Seq: e.Seq, Problem: problem}
			}
			s.apply(e)
		}
	}
	return s, nil
}

// decision is a step in the making: a state of its own, changed by events alone.
type decision struct {
	state   State
	at      time.Time
	events  []Event
	effects []Effect
}

// emit adds an event about the conversation with an id, or about the session where that is empty.
func (d *decision) emit(conversation string, e Event) {
	e.Conversation = conversation
	if c := d.state.Conversation(conversation); c != nil && c.turn != nil {
		e.LogicalTurn, e.Frame, e.Submission = c.turn.ID, cmp.Or(e.Frame, c.turn.Frame), c.turn.Submission
	}
	if t := d.state.task; t != nil && t.Conversation == conversation {
		e.Task = t.ID
	}
	d.add(e)
}

// add adds an event that has its ids.
func (d *decision) add(e Event) {
	e.Seq, e.At, e.Session = d.state.seq+1, d.at, cmp.Or(d.state.id, e.Session)
	d.state.apply(e)
	d.events = append(d.events, e)
}

func (d *decision) do(effect Effect) { d.effects = append(d.effects, effect) }
