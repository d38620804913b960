package session

import "slices"

// advance starts tasks until one runs or nothing waits: the targets and callers on the stack first, then the queue.
func (d *decision) advance() {
	for d.state.task == nil {
		switch {
		case len(d.state.stack) > 0:
			if f := d.state.awaited(); f != nil {
				d.startFrame(*f)
			} else {
				d.resume(d.state.top())
			}
		case len(d.state.queue) > 0:
			d.startSubmission(d.state.queue[0])
		default:
			return
		}
	}
}

// start starts a task with a new logical turn.
func (d *decision) start(conversation string, frame FrameID, submission SubmissionID, budget Budget) {
	d.add(Event{
		Conversation: conversation, Kind: TaskStarted, Task: d.state.tasks + 1, LogicalTurn: d.state.turns + 1,
		Frame: frame, Submission: submission, Budget: budget,
	})
}

func (d *decision) startFrame(f frame) {
	caller := d.state.Conversation(d.state.top().caller)
	sent, _ := f.call.Request.Sent()
	d.start(sent.ConversationID, f.id, caller.turn.submission, sent.Budget.within(caller.turn.budget, caller.turn.usage))
	asked := message(UserMessage, FromConv, sent.input())
	asked.From = caller.ID
	d.record(sent.ConversationID, asked)
	d.ask()
}

func (d *decision) startSubmission(q Submission) {
	d.start(q.Conversation, 0, q.ID, q.Budget)
	if q.Call != nil {
		call := *q.Call
		call.Kind, call.Origin = ToolCall, FromOutside
		d.recordBudgeted(q.Conversation, call)
		d.calls()
		return
	}
	if len(q.Context) > 0 {
		d.record(q.Conversation, message(UserMessage, FromHost, q.Context))
	}
	d.record(q.Conversation, message(UserMessage, FromUser, q.Input))
	d.ask()
}

// resume continues the caller of a batch that has all its results, with their outputs.
func (d *decision) resume(b batch) {
	continues := &Continuation{Task: b.task}
	for _, f := range b.frames {
		continues.Calls = append(continues.Calls, f.call.CallID)
	}
	d.emit(b.caller, Event{Kind: TaskStarted, Task: d.state.tasks + 1, Continues: continues})
	for _, f := range b.frames {
		d.record(b.caller, d.state.outputOf(f))
	}
	d.ask()
}

// ask leaves the running task to wait for the model, or ends it if its logical turn may not go on or has no model.
func (d *decision) ask() {
	config, turn := d.state.config, d.state.Conversation(d.state.task.conversation).turn
	most := int64(config.MaxSamplesPerSubmission)
	switch spent := d.spent(); {
	case turn.outside:
		d.complete()
	case turn.samples >= config.MaxSamplesPerTurn:
		d.fail(Failure{Code: CodeSamples, Message: "the answer took more requests to the model than are allowed"})
	case most > 0 && d.state.samplesOfSubmission() >= most: // the product of the limits of turns and of calls is large
		d.fail(Failure{Code: CodeSamples, Message: "the answers to one input took more requests to the model than are allowed"})
	case spent != "":
		d.fail(Failure{Code: CodeBudget, Message: "the budget of " + spent + " is used up"})
	}
}

// spent returns the part of the budget of the running logical turn that is used up, or "".
func (d *decision) spent() string {
	turn := d.state.Conversation(d.state.task.conversation).turn
	return turn.budget.spent(turn.usage, d.at)
}

// samplesOfSubmission returns the number of samples of the submission of the running task.
func (s *State) samplesOfSubmission() int64 {
	n := s.Conversation(s.task.conversation).turn.usage.Samples
	for _, b := range s.stack {
		n += s.Conversation(b.caller).turn.usage.Samples
	}
	return n
}

// complete ends the running task and its logical turn.
func (d *decision) complete() {
	c := d.state.Conversation(d.state.task.conversation)
	d.emit(c.ID, Event{Kind: TaskComplete, Last: &c.turn.message})
}

// fail ends the running task and its logical turn.
func (d *decision) fail(failure Failure) {
	d.emit(d.state.task.conversation, Event{Kind: TaskFailed, Failure: failure})
}

// stopped ends the task that was asked to stop, and what ends with it.
func (d *decision) stopped() {
	t := d.state.task
	for _, call := range slices.Clone(t.open) {
		d.refuse(call, Cut())
	}
	d.emit(t.conversation, Event{Kind: TurnAborted, Reason: Interrupted})
	for t.stop.Chain && len(d.state.stack) > 0 {
		d.unwind(d.state.top())
	}
	if t.stop.Destroy {
		d.destroy(t.conversation)
	}
}

// unwind closes the calls of the batch at the top of the stack, whose caller does not continue.
func (d *decision) unwind(b batch) {
	var outputs []Item
	for _, f := range b.frames {
		if f.result == nil {
			f.result = &Result{Status: StatusInterrupted}
		}
		outputs = append(outputs, d.state.outputOf(f))
	}
	d.emit(b.caller, Event{Kind: CallsClosed, Outputs: outputs})
}

// destroy leaves a tombstone of a conversation that neither runs nor waits, and drops its queued submissions.
func (d *decision) destroy(id string) {
	for _, q := range slices.Clone(d.state.queue) {
		if q.Conversation == id {
			d.add(Event{Conversation: id, Submission: q.ID, Kind: PlanDropped})
		}
	}
	d.emit(id, Event{Kind: ConversationDestroyed})
}
