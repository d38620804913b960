package session

import "slices"

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

func (in Submit) decide(d *decision) *Refusal {
	if in.Call == nil {
		if refusal := refuseEmpty(in.Input, "input"); refusal != nil {
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

func (in Interrupt) decide(d *decision) *Refusal {
	for _, q := range d.state.queue {
		if q.ID == in.Submission {
			d.add(Event{Conversation: q.Conversation, Submission: q.ID, Kind: PlanDropped})
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
	return d.stop(Stop{Chain: in.Chain})
}

func (in Remove) decide(d *decision) *Refusal {
	c, refusal := d.state.removable("", in.Conversation)
	switch t := d.state.task; {
	case refusal != nil:
		return refusal
	case t != nil && t.conversation == c.ID:
		return d.stop(Stop{Destroy: true})
	}
	d.destroy(c.ID)
	return nil
}

// removable returns the conversation that a caller destroys, or why it cannot. An empty caller is the host.
func (s State) removable(caller, id string) (*Conversation, *Refusal) {
	c, refusal := s.addressed(id)
	if refusal == nil && c == s.Root() {
		refusal = &Refusal{Code: CodeRoot, Reason: "the root conversation cannot be destroyed"}
	}
	if refusal == nil {
		refusal = s.free(caller, c.ID)
	}
	return c, refusal
}

// stop asks the running task to end, in addition to what it was asked before.
func (d *decision) stop(asked Stop) *Refusal {
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

func (in Recover) decide(d *decision) *Refusal {
	t := d.state.task
	if t == nil {
		d.emit("", Event{Kind: Recovered})
		return nil
	}
	d.emit(t.conversation, Event{Kind: Recovered})
	switch call := t.tool(); {
	case t.stop != nil:
		d.stopped()
	case call != nil:
		d.refuse(*call, &Refusal{Code: CodeInterrupted, Reason: "the session ended while the tool ran; it may or may not have had its effect"})
		d.calls()
	}
	d.advance()
	return nil
}

// reported returns the running task if a report is for it: of the tool of a call, or of the model if that is empty.
func (d *decision) reported(id TaskID, call string) (*task, *Refusal) {
	t := d.state.task
	if t == nil || t.id != id {
		return nil, late("the task does not run")
	}
	if tool := t.tool(); (tool == nil) != (call == "") || tool != nil && tool.CallID != call {
		return nil, late("the task does not wait for this")
	}
	return t, nil
}

func (in Delta) decide(d *decision) *Refusal {
	t, refusal := d.reported(in.Task, "")
	if refusal == nil {
		d.emit(t.conversation, Event{Kind: AgentMessageDelta, Item: message("", "", []Part{{Text: in.Text}})})
	}
	return refusal
}

func (in Response) decide(d *decision) *Refusal {
	t, refusal := d.reported(in.Task, "")
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
	in.Usage.Samples, in.Usage.Calls = 1, 0
	if t.stop == nil || !failed || in.Usage != (Usage{Samples: 1}) { // otherwise there was no response
		d.emit(t.conversation, Event{Kind: TokenCount, Usage: in.Usage})
	}
	switch {
	case t.stop != nil:
		d.stopped()
	case failed && d.spent() == "time":
		d.ask() // the deadline stopped the model
	case failed:
		d.fail(in.Failure)
	case len(t.open) > 0:
		d.calls()
	default:
		d.complete()
	}
	d.advance()
	return nil
}

// problemOf returns what is wrong with a response, or "". The id of a call is unique in its response only.
func problemOf(items []Item) string {
	ids := map[string]bool{}
	for _, item := range items {
		if item.Kind == ToolCall && (item.CallID == "" || ids[item.CallID]) {
			return "the id of a call is empty or not the only one of its kind"
		}
		ids[item.CallID] = true
	}
	return ""
}

// recordBudgeted records an item. A call beyond the budget is recorded as a refused one.
func (d *decision) recordBudgeted(conversation string, item Item) {
	turn := d.state.Conversation(conversation).turn
	if limit := turn.budget.Calls; item.Kind == ToolCall && limit != 0 && turn.usage.Calls >= limit {
		item.Request = Request{Refused: &Refusal{Code: CodeBudget, Reason: "no tool calls are left", Max: int(max(limit, 0))}}
	}
	d.record(conversation, item)
}

// counted reports whether a call counts as used: those that the budget refused do not.
func counted(call Item) bool {
	return call.Request.Refused == nil || call.Request.Refused.Code != CodeBudget
}

func (in ToolDone) decide(d *decision) *Refusal {
	t, refusal := d.reported(in.Task, in.Call)
	if refusal != nil {
		return refusal
	}
	if t.stop == nil || in.Success { // otherwise the tool was stopped
		d.output(*t.tool(), in.Content, in.Success)
	}
	if t.stop != nil {
		d.stopped()
	} else {
		d.calls()
	}
	d.advance()
	return nil
}

// refuseEmpty returns why an input cannot be sent, and nil if it can. The input is in a field.
func refuseEmpty(parts []Part, field string) *Refusal {
	if slices.ContainsFunc(parts, func(p Part) bool { return p != Part{} }) {
		return nil
	}
	return &Refusal{Code: CodeInvalidArguments, Field: field, Reason: "at least one of a text and an item is required"}
}
