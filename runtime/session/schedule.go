package session

import "slices"

// advance starts tasks until a task runs or no work waits. Work on the stack goes first: calls of conversations to
// other conversations, and callers that continue with the results. Then comes the queue, which has input from outside.
func (d *decision) advance() {
	for d.state.task == nil { // a new task may end at once, for example if its budget is used up
		switch {
		case len(d.state.stack) > 0:
			if f := d.state.awaited(); f != nil { // f is the first call at the top of the stack that has no result
				d.startFrame(*f) // in the conversation that the call is to
			} else { // all calls at the top have results, so their caller continues
				d.resumeCaller(d.state.top())
			}
		case len(d.state.queue) > 0:
			d.startSubmission(d.state.queue[0])
		default: // no work waits
			return
		}
	}
}

// startTask starts a task with a new logical turn, which answers a frame, or a submission if frame is 0.
func (d *decision) startTask(conversation string, frame FrameID, submission SubmissionID, budget Budget) {
	d.add(Event{
		Conversation: conversation, Kind: TaskStarted, Task: d.state.tasks + 1, LogicalTurn: d.state.turns + 1,
		Frame: frame, Submission: submission, Budget: budget,
	})
}

// startFrame starts a task in the target of a frame at the top of the stack, with the message of the call.
func (d *decision) startFrame(f frame) {
	caller := d.state.Conversation(d.state.top().caller)
	sent, _ := f.call.Request.Sent()
	budget := sent.Budget.within(caller.turn.budget, caller.turn.usage)
	d.startTask(sent.ConversationID, f.id, caller.turn.submission, budget)
	question := newMessage(UserMessage, FromConv, sent.parts())
	question.From = caller.ID
	d.record(sent.ConversationID, question)
	d.awaitModelOrEnd()
}

// startSubmission starts the task of the first submission of the queue, with the submission's message or its call.
func (d *decision) startSubmission(q Submission) {
	d.startTask(q.Conversation, 0, q.ID, q.Budget) // 0: the task is for no frame
	if q.Call != nil {
		call := *q.Call
		call.Kind, call.Origin = ToolCall, FromOutside
		d.recordBudgeted(q.Conversation, call)
		d.answerCalls()
		return
	}
	if len(q.Context) > 0 {
		d.record(q.Conversation, newMessage(UserMessage, FromHost, q.Context))
	}
	d.record(q.Conversation, newMessage(UserMessage, FromUser, q.Input))
	d.awaitModelOrEnd()
}

// resumeCaller starts the task that continues the caller of a batch, with the outputs made from the frames' results.
func (d *decision) resumeCaller(b batch) {
	continues := &Continuation{Task: b.task}
	for _, f := range b.frames {
		continues.Calls = append(continues.Calls, f.call.CallID)
	}
	d.emit(b.caller, Event{Kind: TaskStarted, Task: d.state.tasks + 1, Continues: continues})
	for _, f := range b.frames {
		d.record(b.caller, d.state.outputOf(f))
	}
	d.awaitModelOrEnd()
}

// awaitModelOrEnd ends the running task if its turn has no model, request or budget left. Otherwise the task waits.
func (d *decision) awaitModelOrEnd() {
	config, turn := d.state.config, d.state.Conversation(d.state.task.conversation).turn
	perSubmission := int64(config.MaxSamplesPerSubmission)
	switch spent := d.spent(); {
	case turn.outside:
		d.completeTask() // a program made the call
	case turn.samples >= config.MaxSamplesPerTurn:
		d.failTask(Failure{Code: CodeSamples, Message: "the answer took more requests to the model than are allowed"})
	case perSubmission > 0 && d.state.samplesOfSubmission() >= perSubmission: // 0 is no limit
		d.failTask(Failure{Code: CodeSamples, Message: "the answers to one input took more requests to the model than are allowed"})
	case spent != "":
		d.failTask(Failure{Code: CodeBudget, Message: "the budget of " + spent + " is used up"})
	}
}

// spent returns the part of the running logical turn's budget that is used up: "tokens", "time" or "".
func (d *decision) spent() string {
	turn := d.state.Conversation(d.state.task.conversation).turn
	return turn.budget.spent(turn.usage, d.at)
}

// samplesOfSubmission returns the number of samples that the submission of the running task has taken: those of the
// running turn and of the callers' turns on the stack. endTurn adds those of an ended turn to the turn of its caller.
func (s *State) samplesOfSubmission() int64 {
	n := s.Conversation(s.task.conversation).turn.usage.Samples
	for _, b := range s.stack {
		n += s.Conversation(b.caller).turn.usage.Samples
	}
	return n
}

// completeTask ends the running task and its logical turn.
func (d *decision) completeTask() {
	c := d.state.Conversation(d.state.task.conversation)
	d.emit(c.ID, Event{Kind: TaskComplete, Last: &c.turn.message})
}

// failTask ends the running task and its logical turn.
func (d *decision) failTask(failure Failure) {
	d.emit(d.state.task.conversation, Event{Kind: TaskFailed, Failure: failure})
}

// endStopped ends the running task, which was asked to stop, and refuses its open calls. With stop.Chain it also ends
// the turns of all callers on the stack. With stop.Destroy it also destroys the conversation of the task.
func (d *decision) endStopped() {
	t := d.state.task
	for _, call := range slices.Clone(t.open) {
		d.recordRefusal(call, CallInterrupted())
	}
	d.emit(t.conversation, Event{Kind: TurnAborted, Reason: Interrupted})
	for t.stop.Chain && len(d.state.stack) > 0 {
		d.closeBatch(d.state.top()) // ends the caller's turn and takes its calls from the stack
	}
	if t.stop.Destroy {
		d.destroy(t.conversation)
	}
}

// closeBatch emits a CallsClosed event with an output for each call of the batch at the top of the stack. The event
// takes the batch from the stack, adds the outputs to the caller's history, and ends the caller's logical turn.
func (d *decision) closeBatch(b batch) {
	var outputs []Item
	for _, f := range b.frames {
		if f.result == nil { // its target has not started
			f.result = &Result{Status: StatusInterrupted}
		}
		outputs = append(outputs, d.state.outputOf(f))
	}
	d.emit(b.caller, Event{Kind: CallsClosed, Outputs: outputs})
}

// destroy drops the queued submissions of a conversation that neither runs nor waits, and destroys the conversation.
func (d *decision) destroy(id string) {
	for _, q := range slices.Clone(d.state.queue) {
		if q.Conversation == id {
			d.add(Event{Conversation: id, Submission: q.ID, Kind: PlanDropped})
		}
	}
	d.emit(id, Event{Kind: ConversationDestroyed})
}
