package session

import (
	"cmp"
	"slices"
)

// advance starts tasks until one runs or nothing waits: first what is on the stack, then the queue.
func (d *decision) advance() {
	for d.state.task == nil {
		switch {
		case len(d.state.stack) > 0:
			if f := d.top().awaited(); f != nil {
				d.startFrame(*f)
			} else {
				d.resume(d.top())
			}
		case len(d.state.queue) > 0:
			d.startSubmission(d.state.queue[0])
		default:
			return
		}
	}
}

// start starts a task of a conversation, with what belongs to its logical turn.
func (d *decision) start(conversation string, e Event) {
	e.Conversation, e.Task, e.Kind = conversation, d.state.tasks+1, TaskStarted
	e.LogicalTurn = cmp.Or(e.LogicalTurn, d.state.turns+1)
	d.add(e)
}

func (d *decision) startFrame(f Frame) {
	caller := d.state.Conversation(d.top().Caller)
	sent, _ := f.Call.Request.Sent()
	d.start(f.Target, Event{Frame: f.ID, Submission: caller.turn.Submission, Budget: sent.Budget.within(caller.turn.Budget, caller.turn.Usage)})
	asked := message(UserMessage, FromConv, sent.input())
	asked.From = caller.ID
	d.emit(f.Target, recorded(asked))
	d.sample()
}

func (d *decision) startSubmission(q Submission) {
	d.start(q.Conversation, Event{Submission: q.ID, Budget: q.Budget})
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
	d.start(b.Caller, Event{LogicalTurn: turn.ID, Frame: turn.Frame, Submission: turn.Submission, Continues: continues, Budget: turn.Budget})
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
	d.end(c, Event{Kind: TaskComplete, Last: &c.turn.Message}, "")
}

// fail ends the task and its logical turn with a failure.
func (d *decision) fail(failure Failure) {
	d.end(d.state.Conversation(d.state.task.Conversation), Event{Kind: TaskFailed, Failure: failure}, "")
}

// end ends the logical turn of a conversation by an event and resolves the call that it answers. An empty status is the one
// that follows from the event.
func (d *decision) end(c *Conversation, by Event, status Status) {
	turn := *c.turn
	d.emit(c.ID, by)
	result := Result{Message: turn.Message, Usage: turn.Usage}
	result.Note(by)
	result.Status = cmp.Or(status, result.Status)
	d.resolve(turn.Frame, result)
}

// resolve gives the call of a frame its result. There is no frame 0.
func (d *decision) resolve(id FrameID, result Result) {
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
		d.refuse(call, refuseInterrupted())
	}
	c := d.state.Conversation(t.Conversation)
	switch {
	case asked.Destroy:
		d.end(c, Event{Kind: TurnAborted, Reason: Interrupted}, StatusDestroyed)
	case asked.Expired && !asked.Chain:
		d.fail(Failure{Code: CodeBudget, Message: "the budget of time is used up"})
		return
	default:
		d.end(c, Event{Kind: TurnAborted, Reason: Interrupted}, "")
	}
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
			d.resolve(f.ID, Result{Status: StatusInterrupted})
		}
	}
	b := d.top()
	var outputs []Item
	for _, f := range b.Frames {
		outputs = append(outputs, d.state.outputOf(f))
	}
	d.end(d.state.Conversation(b.Caller), Event{Kind: CallsClosed, Outputs: outputs}, "")
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
				d.resolve(f.ID, Result{Status: StatusDestroyed})
			}
		}
	}
	d.emit(id, Event{Kind: ConversationDestroyed})
}
