package session

import (
	"slices"
	"strings"
)

func (in Start) decide(d *decision) error {
	switch {
	case d.state.seq > 0:
		return &InputError{Problem: "the session has been started"}
	case in.Session == "":
		return &InputError{Problem: "the session has no id"}
	case !validID(in.Root):
		return &InputError{Problem: "the id of the root conversation is not a UUID in lower case"}
	}
	d.emit("", SessionStarted{ID: in.Session, Config: in.Config.withDefaults()})
	d.emit(in.Root, ConversationOpened{Context: in.Context})
	return nil
}

func (in Submit) decide(d *decision) error {
	c, refusal := d.state.addressed("", in.Conversation)
	if refusal != nil {
		return refusal
	}
	if problem := problemOfInput(in.Input); problem != "" {
		return &Refusal{Code: CodeInvalidArguments, Field: "input", Reason: problem}
	}
	id := d.state.submissions + 1
	d.add(Event{Conversation: c.ID, Submission: id, Body: SubmissionQueued{Submission{
		ID: id, Conversation: c.ID, Context: in.Context, Input: in.Input, Budget: in.Budget,
	}}})
	d.advance()
	return nil
}

func (in Interrupt) decide(d *decision) error {
	t := d.state.task
	switch {
	case t == nil:
		return &InputError{Problem: "nothing runs"}
	case t.stop != nil && (t.stop.Chain || !in.Chain):
		return &InputError{Task: t.ID, Problem: "it is being stopped"}
	}
	d.stop(StopRequested{Chain: in.Chain})
	return nil
}

func (in Remove) decide(d *decision) error {
	c, refusal := d.state.addressed("", in.Conversation)
	if refusal != nil {
		return refusal
	}
	running := d.state.task != nil && d.state.task.Conversation == c.ID
	suspended := d.state.suspended(c.ID)
	switch {
	case c == d.state.Root():
		return refuseRoot()
	case suspended && !in.Force:
		return d.state.free("", c.ID)
	case !running && !suspended:
		d.destroy(c.ID)
		return nil
	case d.state.task.stop != nil && slices.Contains(d.state.task.stop.Destroy, c.ID):
		return &InputError{Task: d.state.task.ID, Problem: "it is being stopped"}
	}
	d.stop(StopRequested{Destroy: []string{c.ID}})
	return nil
}

func (in Recover) decide(d *decision) error {
	t := d.state.task
	running := ""
	if t != nil {
		running = t.Conversation
	}
	d.emit(running, Recovered{})
	switch {
	case t == nil:
	case t.stop != nil:
		d.stopped()
	case t.sampling:
		d.sample()
	default:
		call, _ := t.tool()
		d.output(call, refusalContent(&Refusal{Code: CodeInterrupted, Reason: "the session ended while the tool ran; it may or may not have had its effect"}), false)
		d.calls()
	}
	d.advance()
	return nil
}

// task returns the task that runs where it has an id and waits for the model or for a tool.
func (d *decision) task(id TaskID, sampling bool) (*Task, error) {
	t := d.state.task
	if t == nil || t.ID != id {
		return nil, &InputError{Task: id, Problem: "it does not run"}
	}
	if t.sampling != sampling {
		return nil, &InputError{Task: id, Problem: "it does not wait for this"}
	}
	return t, nil
}

func (in Delta) decide(d *decision) error {
	t, err := d.task(in.Task, true)
	if err != nil {
		return err
	}
	d.emit(t.Conversation, AgentMessageDelta{Text: in.Text})
	return nil
}

func (in Response) decide(d *decision) error {
	t, err := d.task(in.Task, true)
	if err != nil {
		return err
	}
	conversation, stopping := t.Conversation, t.stop != nil
	in.Usage.Samples, in.Usage.Calls = 1, 0
	if problem := d.problemOfResponse(in.Items); problem != "" {
		d.emit(conversation, TokenCount{Usage: in.Usage})
		if !stopping {
			d.fail(Failure{Code: CodeInvalidResponse, Message: problem})
			d.advance()
		}
		return nil
	}
	calls := false
	for _, item := range in.Items {
		switch {
		case item.Call != nil:
			calls = true
			d.call(conversation, *item.Call)
		case item.Message != nil:
			d.emit(conversation, ItemRecorded{Item: Item{Kind: AgentMessage, Origin: FromModel, Parts: []Part{{Text: *item.Message}}, Raw: item.Raw}})
		default:
			d.emit(conversation, ItemRecorded{Item: Item{Kind: Reasoning, Origin: FromModel, Raw: item.Raw}})
		}
	}
	d.emit(conversation, TokenCount{Usage: in.Usage})
	switch {
	case stopping:
	case calls:
		d.calls()
	default:
		d.complete()
	}
	d.advance()
	return nil
}

// problemOfResponse returns what is wrong with a response, and an empty string where nothing is. Call ids are told apart within
// a response only, since some providers count them from the beginning in each.
func (d *decision) problemOfResponse(items []ResponseItem) string {
	ids, opened := map[string]bool{}, map[string]bool{}
	for _, item := range items {
		if item.Call == nil {
			continue
		}
		if item.Call.ID == "" || ids[item.Call.ID] {
			return "the id of a call is empty or not the only one of its kind"
		}
		ids[item.Call.ID] = true
		switch request := item.Call.Request.(type) {
		case nil:
			return "a call asks for nothing"
		case Create:
			id := request.ConversationID
			if !validID(id) || opened[id] || d.state.Conversation(id) != nil {
				return "the id of a conversation to be created is taken or not one"
			}
			opened[id] = true
		}
	}
	return ""
}

// call records a call of a response. One that the budget does not allow is recorded as such, for it to be refused when
// its turn comes.
func (d *decision) call(conversation string, call Call) {
	turn := d.state.Conversation(conversation).turn
	if limit := turn.Budget.Calls; limit != 0 && turn.Usage.Calls >= limit {
		call.Request = Invalid{Tool: call.Request.tool(), Refusal: Refusal{Code: CodeBudget, Reason: "no tool calls are left", Max: int(max(limit, 0))}}
	}
	item := Item{
		Kind: ToolCall, Origin: FromModel, CallID: call.ID, Name: call.Name, Tool: call.Request.tool(),
		Arguments: call.Arguments, Raw: call.Raw,
	}
	d.emit(conversation, ItemRecorded{Item: item, Call: call})
}

// counted reports whether a call counts as used: not where the budget refused it.
func counted(call Call) bool {
	invalid, ok := call.Request.(Invalid)
	return !ok || invalid.Refusal.Code != CodeBudget
}

func (in SampleFailed) decide(d *decision) error {
	t, err := d.task(in.Task, true)
	if err != nil {
		return err
	}
	stopping := t.stop != nil
	in.Usage.Samples, in.Usage.Calls = 1, 0
	d.emit(t.Conversation, TokenCount{Usage: in.Usage})
	if stopping {
		return nil
	}
	d.fail(in.Failure)
	d.advance()
	return nil
}

func (in ToolDone) decide(d *decision) error {
	t, err := d.task(in.Task, false)
	if err != nil {
		return err
	}
	call, ok := t.tool()
	if !ok || call.ID != in.Call || t.stop != nil && t.stop.tool != in.Call {
		return &InputError{Task: in.Task, Problem: "this call does not run"}
	}
	stopping := t.stop != nil
	d.output(call, in.Content, in.Success)
	if stopping {
		return nil
	}
	d.calls()
	d.advance()
	return nil
}

func (in Stopped) decide(d *decision) error {
	t := d.state.task
	if t == nil || t.ID != in.Task || t.stop == nil {
		return &InputError{Task: in.Task, Problem: "it is not being stopped"}
	}
	d.stopped()
	d.advance()
	return nil
}

func (in Expire) decide(d *decision) error {
	t := d.state.task
	if t == nil || t.ID != in.Task || t.stop != nil {
		return &InputError{Task: in.Task, Problem: "it does not run, or is being stopped"}
	}
	deadline := d.state.Conversation(t.Conversation).turn.Budget.Deadline
	if deadline.IsZero() || d.at.Before(deadline) {
		return &InputError{Task: in.Task, Problem: "its deadline has not passed"}
	}
	d.stop(StopRequested{Expired: true})
	return nil
}

// stop asks for the end of the task that runs, beside what has been asked for before.
func (d *decision) stop(asked StopRequested) {
	t := d.state.task
	before := t.stop
	if before != nil {
		asked.Chain = asked.Chain || before.Chain
		asked.Expired = before.Expired
		asked.Destroy = slices.Concat(before.Destroy, asked.Destroy)
	}
	d.emit(t.Conversation, asked)
	if before == nil {
		d.do(Cancel{Task: t.ID})
	}
}

// advance starts tasks until one runs or nothing waits: first what is on the stack, then the queue.
func (d *decision) advance() {
	for d.err == nil && d.state.task == nil {
		f := d.state.awaited()
		switch {
		case f != nil:
			d.startFrame(*f)
		case len(d.state.stack) > 0:
			d.resume(d.state.stack[len(d.state.stack)-1])
		case len(d.state.queue) > 0:
			d.startSubmission(d.state.queue[0])
		default:
			return
		}
	}
}

func (d *decision) startFrame(f Frame) {
	caller := d.state.Conversation(d.state.stack[len(d.state.stack)-1].Caller)
	d.add(Event{
		Conversation: f.Target, Task: d.state.tasks + 1, LogicalTurn: d.state.turns + 1, Frame: f.ID, Submission: caller.turn.Submission,
		Body: TaskStarted{Budget: f.Budget.within(caller.turn.Budget, caller.turn.Usage)},
	})
	d.emit(f.Target, ItemRecorded{Item: Item{Kind: UserMessage, Origin: FromConv, From: caller.ID, Parts: f.Input}})
	d.sample()
}

func (d *decision) startSubmission(q Submission) {
	d.add(Event{
		Conversation: q.Conversation, Task: d.state.tasks + 1, LogicalTurn: d.state.turns + 1, Submission: q.ID,
		Body: TaskStarted{Budget: q.Budget},
	})
	if len(q.Context) > 0 {
		d.emit(q.Conversation, ItemRecorded{Item: Item{Kind: UserMessage, Origin: FromHost, Parts: q.Context}})
	}
	d.emit(q.Conversation, ItemRecorded{Item: Item{Kind: UserMessage, Origin: FromUser, Parts: q.Input}})
	d.sample()
}

// resume continues the caller of a batch whose frames are all resolved, with their outputs (S-70, A-12).
func (d *decision) resume(b Batch) {
	turn := d.state.Conversation(b.Caller).turn
	continues := &Continuation{Task: b.Task}
	for _, f := range b.Frames {
		continues.Calls = append(continues.Calls, f.Call.ID)
	}
	d.add(Event{
		Conversation: b.Caller, Task: d.state.tasks + 1, LogicalTurn: turn.ID, Frame: turn.Frame, Submission: turn.Submission,
		Body: TaskStarted{Continues: continues, Budget: turn.Budget},
	})
	for _, f := range b.Frames {
		d.emit(b.Caller, ItemRecorded{Item: d.state.outputOf(f)})
	}
	d.sample()
}

// sample asks the model, or fails the task where its logical turn may not go on.
func (d *decision) sample() {
	if d.err != nil {
		return
	}
	t := d.state.task
	turn := d.state.Conversation(t.Conversation).turn
	if turn.Samples >= d.state.config.MaxSamplesPerTurn {
		d.fail(Failure{Code: CodeSamples, Message: "the answer took more requests to the model than are allowed"})
		return
	}
	if spent := turn.Budget.spent(turn.Usage, d.at); spent != "" {
		d.fail(Failure{Code: CodeBudget, Message: "the budget of " + spent + " is used up"})
		return
	}
	d.do(Sample{Task: t.ID, Conversation: t.Conversation, Left: Budget{}.within(turn.Budget, turn.Usage)})
}

// complete ends the task and its logical turn.
func (d *decision) complete() {
	c := d.state.Conversation(d.state.task.Conversation)
	turn := *c.turn
	d.emit(c.ID, TaskComplete{LastAssistantMessage: turn.Message})
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
	d.emit(c.ID, TaskFailed{Failure: failure})
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
			e := Event{Conversation: b.Caller, Frame: id, Body: FrameResolved{Result: result}}
			if turn := d.state.Conversation(b.Caller).turn; turn != nil {
				e.LogicalTurn, e.Submission = turn.ID, turn.Submission
			}
			d.add(e)
			return
		}
	}
}

// stopped ends the task that was asked to stop, and what is to end with it.
func (d *decision) stopped() {
	t, asked := d.state.task, d.state.task.stop.StopRequested
	for _, call := range slices.Clone(t.open) {
		d.output(call, refusalContent(refuseInterrupted()), false)
	}
	c := d.state.Conversation(t.Conversation)
	turn := *c.turn
	doomed := func(id string) bool { return slices.Contains(asked.Destroy, id) }
	status := func(id string) Status {
		if doomed(id) {
			return StatusDestroyed
		}
		return StatusInterrupted
	}

	if asked.Expired && !asked.Chain && len(asked.Destroy) == 0 {
		d.fail(Failure{Code: CodeBudget, Message: "the budget of time is used up"})
		return
	}
	d.emit(c.ID, TurnAborted{Reason: Interrupted})
	d.resolve(turn, Result{Status: status(c.ID)})

	keep := len(d.state.stack)
	if asked.Chain {
		keep = 0
	} else if i := slices.IndexFunc(d.state.stack, func(b Batch) bool { return doomed(b.Caller) }); i >= 0 {
		keep = i
	}
	for len(d.state.stack) > keep && d.err == nil {
		d.unwind(status)
	}
	for _, id := range asked.Destroy {
		d.destroy(id)
	}
}

// unwind closes the top batch and ends the logical turn of its caller, which does not continue.
func (d *decision) unwind(status func(conversation string) Status) {
	b := d.state.stack[len(d.state.stack)-1]
	for _, f := range b.Frames {
		if f.Result == nil {
			d.resolveFrame(f.ID, Result{Status: StatusInterrupted})
		}
	}
	b = d.state.stack[len(d.state.stack)-1]
	turn := *d.state.Conversation(b.Caller).turn
	var outputs []Item
	for _, f := range b.Frames {
		outputs = append(outputs, d.state.outputOf(f))
	}
	d.emit(b.Caller, CallsClosed{Outputs: outputs})
	d.resolve(turn, Result{Status: status(b.Caller)})
}

// destroy leaves a tombstone of a conversation that neither runs nor is suspended. What waits to start in it is
// dropped.
func (d *decision) destroy(id string) {
	for _, q := range slices.Clone(d.state.queue) {
		if q.Conversation == id {
			d.add(Event{Conversation: id, Submission: q.ID, Body: PlanDropped{}})
		}
	}
	for _, b := range cloneStack(d.state.stack) {
		for _, f := range b.Frames {
			if f.Target == id && f.Result == nil {
				d.resolveFrame(f.ID, Result{Status: StatusDestroyed})
			}
		}
	}
	d.emit(id, ConversationDestroyed{})
}

func refuseRoot() *Refusal {
	return &Refusal{Code: CodeRoot, Reason: "the root conversation cannot be destroyed"}
}

func refuseInterrupted() *Refusal {
	return &Refusal{Code: CodeInterrupted, Reason: "the call was interrupted before it had a result"}
}

// problemOfInput returns what is wrong with an input, and an empty string where nothing is.
func problemOfInput(parts []Part) string {
	if !slices.ContainsFunc(parts, func(p Part) bool { return p != Part{} }) {
		return "at least one of a text and an item is required"
	}
	for _, p := range parts {
		if p.ImageURL != "" && !imageURL(p.ImageURL) {
			return "the address of an image has to begin with data:, http:// or https://"
		}
	}
	return ""
}

func imageURL(address string) bool {
	return strings.HasPrefix(address, "data:") || strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://")
}
