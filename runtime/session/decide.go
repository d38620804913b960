package session

import "slices"

// decide starts the session and opens its root conversation, with the history that the host gives.
func (in Start) decide(d *decision) *Refusal {
	switch {
	case in.Session == "":
		return &Refusal{Code: CodeInvalidArguments, Field: "session", Reason: "the session has no id"}
	case !validID(in.Root):
		return &Refusal{Code: CodeInvalidID, Field: "root", Reason: "the id of the root conversation is not a UUID in lower case"}
	}
	d.add(Event{Session: in.Session, Kind: SessionStarted, Config: in.Config.withDefaults()})
	d.emit(in.Root, Event{Kind: ConversationOpened, Context: in.Context, History: in.History})
	return nil
}

// decide puts the submission, a message or a call, in the queue, and starts its task if nothing runs.
func (in Submit) decide(d *decision) *Refusal {
	if in.Call == nil {
		if refusal := refusalOfEmpty(in.Input, "input"); refusal != nil {
			return refusal
		}
	} else if _, sends := in.Call.Request.Sent(); !sends || in.Call.CallID == "" {
		return &Refusal{Code: CodeInvalidArguments, Field: "call", Reason: "a call from outside has an id, and is one of conv.create or conv.send"}
	}
	c, refusal := d.state.addressed(in.Conversation)
	if refusal != nil {
		return refusal
	}
	in.ID, in.Conversation = d.state.submissions+1, c.ID
	d.add(Event{Conversation: c.ID, Submission: in.ID, Kind: SubmissionQueued, Queued: Submission(in)})
	d.advance()
	return nil
}

// decide interrupts the submission with the id in.Submission: it drops the submission from the queue, or asks the running
// task of the submission to end. If the id is 0, it asks the running task to end, whatever the submission.
func (in Interrupt) decide(d *decision) *Refusal {
	for _, queued := range d.state.queue {
		if queued.ID == in.Submission {
			d.add(Event{Conversation: queued.Conversation, Submission: queued.ID, Kind: PlanDropped})
			return nil
		}
	}
	t := d.state.task
	switch {
	case t == nil:
		return late("nothing runs")
	case in.Submission != 0 && d.state.Conversation(t.conversation).turn.submission != in.Submission:
		return late("nothing of the submission runs or waits")
	}
	return d.requestStop(Stop{Chain: in.Chain})
}

// decide destroys the conversation. If its task runs, the task is asked to end, and endStopped destroys the conversation.
func (in Remove) decide(d *decision) *Refusal {
	c, refusal := d.state.removable("", in.Conversation) // "": the host asks, and no conversation
	switch t := d.state.task; {
	case refusal != nil:
		return refusal
	case t != nil && t.conversation == c.ID:
		return d.requestStop(Stop{Destroy: true})
	}
	d.destroy(c.ID)
	return nil
}

// removable returns the conversation with an id, or why the caller may not destroy it. An empty caller is the host.
func (s State) removable(caller, id string) (*Conversation, *Refusal) {
	c, refusal := s.addressed(id)
	switch {
	case refusal != nil:
		return nil, refusal
	case c == s.Root():
		return nil, &Refusal{Code: CodeRoot, Reason: "the root conversation cannot be destroyed"}
	}
	return c, s.refusalOfTarget(caller, c.ID)
}

// requestStop asks the running task to end, as asked and all earlier requests say. It refuses a request that adds nothing.
func (d *decision) requestStop(asked Stop) *Refusal {
	t := d.state.task
	if before := t.stop; before != nil {
		asked = Stop{Chain: asked.Chain || before.Chain, Destroy: asked.Destroy || before.Destroy}
		if asked == *before {
			return late("the task is being stopped")
		}
	}
	d.emit(t.conversation, Event{Kind: StopRequested, Stop: asked})
	return nil
}

// decide continues a session whose process ended. It ends a task that was asked to stop. It refuses the call of a task
// that waited for a tool, since the tool may have run. For a task that waited for the model, the host asks it again.
func (in Recover) decide(d *decision) *Refusal {
	t := d.state.task
	if t == nil {
		d.emit("", Event{Kind: Recovered}) // about the session, since no conversation runs
		return nil
	}
	d.emit(t.conversation, Event{Kind: Recovered})
	switch call := t.ordinaryCall(); {
	case t.stop != nil:
		d.endStopped()
	case call != nil:
		d.recordRefusal(*call, &Refusal{Code: CodeInterrupted, Reason: "the session ended while the tool ran; it may or may not have had its effect"})
		d.answerCalls()
	}
	d.advance()
	return nil
}

// reportedTask returns the running task if it has the id and waits for the tool of call, or the model if call is "".
func (d *decision) reportedTask(id TaskID, call string) (*task, *Refusal) {
	t := d.state.task
	if t == nil || t.id != id {
		return nil, late("the task does not run")
	}
	awaited := ""
	if ordinary := t.ordinaryCall(); ordinary != nil {
		awaited = ordinary.CallID
	}
	if call != awaited {
		return nil, late("the task does not wait for this")
	}
	return t, nil
}

func (in Delta) decide(d *decision) *Refusal {
	t, refusal := d.reportedTask(in.Task, "")
	if refusal == nil {
		d.emit(t.conversation, Event{Kind: AgentMessageDelta, Item: newMessage("", "", []Part{{Text: in.Text}})})
	}
	return refusal
}

// decide records the items and the usage of the response. It ends the task if the task was asked to stop, or if the
// response has failed or has no calls. Otherwise it answers the calls.
func (in Response) decide(d *decision) *Refusal {
	t, refusal := d.reportedTask(in.Task, "")
	if refusal != nil {
		return refusal
	}
	if problem := problemOf(in.Items); problem != "" {
		in.Items, in.Failure = nil, Failure{Code: CodeInvalidResponse, Message: problem}
	}
	failed := in.Failure != Failure{}
	for _, item := range in.Items {
		item.Origin = FromModel
		d.recordBudgeted(t.conversation, item)
	}
	in.Usage.Samples, in.Usage.Calls = 1, 0 // addItem has counted the calls
	stoppedBeforeResponse := t.stop != nil && failed && in.Usage.tokens() == 0
	if !stoppedBeforeResponse { // a model that was stopped before it used tokens has taken no sample
		d.emit(t.conversation, Event{Kind: TokenCount, Usage: in.Usage})
	}
	switch {
	case t.stop != nil:
		d.endStopped()
	case failed && d.spent() == "time": // the deadline has stopped the model
		d.awaitModelOrEnd() // ends the task, which has no time left
	case failed:
		d.failTask(in.Failure)
	case len(t.open) > 0:
		d.answerCalls()
	default:
		d.completeTask()
	}
	d.advance()
	return nil
}

// problemOf returns a problem if a call of a response has no id or the id of an earlier call, and "" otherwise.
func problemOf(items []Item) string {
	used := map[string]bool{} // the ids of earlier calls
	for _, item := range items {
		if item.Kind == ToolCall && (item.CallID == "" || used[item.CallID]) {
			return "the id of a call is empty or not the only one of its kind" // an earlier call has the same id
		}
		used[item.CallID] = true // the id is empty if the item is not a call
	}
	return ""
}

// recordBudgeted records an item in a history. It refuses a call if the budget of the logical turn has no call left.
func (d *decision) recordBudgeted(conversation string, item Item) {
	turn := d.state.Conversation(conversation).turn // 0 calls in its budget mean no limit, and a negative number no calls
	if limit := turn.budget.Calls; item.Kind == ToolCall && limit != 0 && turn.usage.Calls >= limit {
		item.Request = Request{Refused: &Refusal{Code: CodeBudget, Reason: "no tool calls are left", Max: int(max(limit, 0))}}
	}
	d.record(conversation, item)
}

// counted reports whether a call counts as used: those that the budget refused do not.
func counted(call Item) bool {
	return call.Request.Refused == nil || call.Request.Refused.Code != CodeBudget
}

// decide records the output of the tool, and answers the next calls. If the task was asked to stop, decide ends the
// task instead. If the tool has failed then, endStopped records that the call was interrupted, in place of the output.
func (in ToolDone) decide(d *decision) *Refusal {
	t, refusal := d.reportedTask(in.Task, in.Call)
	if refusal != nil {
		return refusal
	}
	if in.Success || t.stop == nil {
		d.recordOutput(*t.ordinaryCall(), in.Content, in.Success)
	}
	if t.stop != nil {
		d.endStopped()
	} else {
		d.answerCalls()
	}
	d.advance()
	return nil
}

// refusalOfEmpty returns a refusal if a message has neither text nor items. field is the argument for the text.
func refusalOfEmpty(parts []Part, field string) *Refusal {
	if slices.ContainsFunc(parts, func(p Part) bool { return p != Part{} }) {
		return nil
	}
	return &Refusal{Code: CodeInvalidArguments, Field: field, Reason: "at least one of a text and an item is required"}
}
