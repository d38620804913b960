package session

import "slices"

// advance starts tasks until one runs or nothing waits: first what is on the stack, then the queue.
func (d *decision) advance() {
	for d.state.task == nil {
		f := d.state.awaited()
		switch {
		case f != nil:
			d.startFrame(*f)
		case len(d.state.stack) > 0:
			d.resume(d.top())
		case len(d.state.queue) > 0:
			d.startSubmission(d.state.queue[0])
		default:
			return
		}
	}
}

func (d *decision) startFrame(f Frame) {
	caller := d.state.Conversation(d.top().Caller)
	d.add(Event{
		Conversation: f.Target, Task: d.state.tasks + 1, LogicalTurn: d.state.turns + 1, Frame: f.ID, Submission: caller.turn.Submission,
		Kind: TaskStarted, Budget: f.Call.Request.budget().within(caller.turn.Budget, caller.turn.Usage),
	})
	asked := message(UserMessage, FromConv, f.Call.Request.input())
	asked.From = caller.ID
	d.emit(f.Target, recorded(asked))
	d.sample()
}

func (d *decision) startSubmission(q Submission) {
	d.add(Event{
		Conversation: q.Conversation, Task: d.state.tasks + 1, LogicalTurn: d.state.turns + 1, Submission: q.ID,
		Kind: TaskStarted, Budget: q.Budget,
	})
	if q.Call != nil {
		call := *q.Call
		call.Kind, call.Origin = ToolCall, FromOutside
		d.record(q.Conversation, call)
		d.calls()
		return
	}
	if len(q.Context) > 0 {
		d.emit(q.Conversation, recorded(message(UserMessage, FromHost, q.Context)))
	}
	d.emit(q.Conversation, recorded(message(UserMessage, FromUser, q.Input)))
	d.sample()
}

// resume continues the caller of a batch whose frames are all resolved, with their outputs.
func (d *decision) resume(b Batch) {
	turn := d.state.Conversation(b.Caller).turn
	continues := &Continuation{Task: b.Task}
	for _, f := range b.Frames {
		continues.Calls = append(continues.Calls, f.Call.CallID)
	}
	d.add(Event{
		Conversation: b.Caller, Task: d.state.tasks + 1, LogicalTurn: turn.ID, Frame: turn.Frame, Submission: turn.Submission,
		Kind: TaskStarted, Continues: continues, Budget: turn.Budget,
	})
	for _, f := range b.Frames {
		d.emit(b.Caller, recorded(d.state.outputOf(f)))
	}
	d.sample()
}

// sample asks the model, or ends the task where its logical turn may not go on or there is nobody to ask.
func (d *decision) sample() {
	t := d.state.task
	turn := d.state.Conversation(t.Conversation).turn
	if turn.Outside {
		d.complete()
		return
	}
	if turn.Samples >= d.state.config.MaxSamplesPerTurn {
		d.fail(Failure{Code: CodeSamples, Message: "the answer took more requests to the model than are allowed"})
		return
	}
	// Each logical turn is bounded, and so is how many a logical turn may start, but their product is not.
	if most := d.state.config.MaxSamplesPerSubmission; most > 0 && d.state.samplesOfSubmission() >= int64(most) {
		d.fail(Failure{Code: CodeSamples, Message: "the answers to one input took more requests to the model than are allowed"})
		return
	}
	if spent := turn.Budget.spent(turn.Usage, d.at); spent != "" {
		d.fail(Failure{Code: CodeBudget, Message: "the budget of " + spent + " is used up"})
		return
	}
	d.do(Sample{Task: t.ID, Conversation: t.Conversation, Left: Budget{}.within(turn.Budget, turn.Usage)})
}

// samplesOfSubmission returns how many requests to the model the input has cost that the task which runs comes from.
func (s *State) samplesOfSubmission() int64 {
	n := s.Conversation(s.task.Conversation).turn.Usage.Samples
	for _, b := range s.stack {
		n += s.Conversation(b.Caller).turn.Usage.Samples
	}
	return n
}

// complete ends the task and its logical turn.
func (d *decision) complete() {
	c := d.state.Conversation(d.state.task.Conversation)
	turn := *c.turn
	d.emit(c.ID, Event{Kind: TaskComplete, Last: &turn.Message})
	status := StatusCompleted
	if turn.Message == "" {
		status = StatusNoMessage
	}
	d.resolve(turn, Result{Status: status})
}

// fail ends the task and its logical turn with a failure.
func (d *decision) fail(failure Failure) {
	c := d.state.Conversation(d.state.task.Conversation)
	turn := *c.turn
	d.emit(c.ID, Event{Kind: TaskFailed, Failure: failure})
	d.resolve(turn, Result{Status: StatusFailed, Failure: failure})
}

// resolve gives the frame that a logical turn answers its result.
func (d *decision) resolve(turn LogicalTurn, result Result) {
	if turn.Frame == 0 {
		return
	}
	result.Message, result.Usage = turn.Message, turn.Usage
	d.resolveFrame(turn.Frame, result)
}

func (d *decision) resolveFrame(id FrameID, result Result) {
	for _, b := range d.state.stack {
		if slices.ContainsFunc(b.Frames, func(f Frame) bool { return f.ID == id }) {
			d.emit(b.Caller, Event{Frame: id, Kind: FrameResolved, Result: result})
			return
		}
	}
}

// stopped ends the task that was asked to stop, and what is to end with it.
func (d *decision) stopped() {
	t, asked := d.state.task, d.state.task.stop.Stop
	for _, call := range slices.Clone(t.open) {
		d.output(call, refuseInterrupted().Content(), false)
	}
	c := d.state.Conversation(t.Conversation)
	turn := *c.turn
	if asked.Expired && !asked.Chain && !asked.Destroy {
		d.fail(Failure{Code: CodeBudget, Message: "the budget of time is used up"})
		return
	}
	status := StatusInterrupted
	if asked.Destroy {
		status = StatusDestroyed
	}
	d.emit(c.ID, Event{Kind: TurnAborted, Reason: Interrupted})
	d.resolve(turn, Result{Status: status})
	for asked.Chain && len(d.state.stack) > 0 {
		d.unwind()
	}
	if asked.Destroy {
		d.destroy(c.ID)
	}
}

// unwind closes the top batch and ends the logical turn of its caller, which does not continue.
func (d *decision) unwind() {
	for _, f := range slices.Clone(d.top().Frames) {
		if f.Result == nil {
			d.resolveFrame(f.ID, Result{Status: StatusInterrupted})
		}
	}
	b := d.top()
	turn := *d.state.Conversation(b.Caller).turn
	var outputs []Item
	for _, f := range b.Frames {
		outputs = append(outputs, d.state.outputOf(f))
	}
	d.emit(b.Caller, Event{Kind: CallsClosed, Outputs: outputs})
	d.resolve(turn, Result{Status: StatusInterrupted})
}

// top returns the batch at the top of the stack.
func (d *decision) top() Batch { return d.state.stack[len(d.state.stack)-1] }

// destroy leaves a tombstone of a conversation that neither runs nor is suspended. What waits to start in it is
// dropped.
func (d *decision) destroy(id string) {
	for _, q := range slices.Clone(d.state.queue) {
		if q.Conversation == id {
			d.add(Event{Conversation: id, Submission: q.ID, Kind: PlanDropped})
		}
	}
	for _, b := range cloneStack(d.state.stack) {
		for _, f := range b.Frames {
			if f.Target == id && f.Result == nil {
				d.resolveFrame(f.ID, Result{Status: StatusDestroyed})
			}
		}
	}
	d.emit(id, Event{Kind: ConversationDestroyed})
}
