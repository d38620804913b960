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
	d.add(Event{Session: in.Session, Kind: SessionStarted, Config: in.Config.withDefaults()})
	d.emit(in.Root, Event{Kind: ConversationOpened, Context: in.Context, History: in.History})
	return nil
}

func (in Submit) decide(d *decision) error {
	if in.Call == nil {
		if refusal := refuseInput(in.Input, "input"); refusal != nil {
			return refusal
		}
	} else if _, sends := in.Call.Request.Sent(); !sends || in.Call.CallID == "" {
		return &InputError{Problem: "a call from outside has an id, and is one of conv.create or conv.send"}
	} else if create := in.Call.Request.Create; create != nil && d.state.taken(create.ConversationID) {
		return &InputError{Problem: "the id of a conversation to be created is taken or not one"}
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

// taken reports whether no conversation can be created with an id.
func (s State) taken(id string) bool {
	return !validID(id) || s.Conversation(id) != nil || slices.ContainsFunc(s.queue, func(q Submission) bool {
		return q.Call != nil && q.Call.Request.Create != nil && q.Call.Request.Create.ConversationID == id
	})
}

func (in Interrupt) decide(d *decision) error {
	for _, q := range d.state.queue {
		if q.ID == in.Submission {
			d.add(Event{Conversation: q.Conversation, Submission: q.ID, Kind: PlanDropped})
			return nil
		}
	}
	t := d.state.task
	switch {
	case t == nil:
		return &InputError{Problem: "nothing runs"}
	case in.Submission != 0 && d.state.Conversation(t.Conversation).turn.Submission != in.Submission:
		return &InputError{Problem: "nothing of the submission runs or waits"}
	case t.stop != nil && (t.stop.Chain || !in.Chain):
		return &InputError{Task: t.ID, Problem: "it is being stopped"}
	}
	d.stop(Stop{Chain: in.Chain})
	return nil
}

func (in Remove) decide(d *decision) error {
	c, refusal := d.state.addressed(in.Conversation)
	if refusal != nil {
		return refusal
	}
	t := d.state.task
	switch running := t != nil && t.Conversation == c.ID; {
	case c == d.state.Root():
		return refuseRoot()
	case d.state.suspended(c.ID):
		return d.state.free("", c.ID)
	case !running:
		d.destroy(c.ID)
	case t.stop != nil && t.stop.Destroy:
		return &InputError{Task: t.ID, Problem: "it is being stopped"}
	default:
		d.stop(Stop{Destroy: true})
	}
	return nil
}

func (in Recover) decide(d *decision) error {
	t := d.state.task
	running := ""
	if t != nil {
		running = t.Conversation
	}
	d.emit(running, Event{Kind: Recovered})
	switch {
	case t == nil:
	case t.stop != nil:
		d.stopped()
	case t.sampling:
		d.sample()
	default:
		call, _ := t.tool()
		d.output(call, (&Refusal{Code: CodeInterrupted, Reason: "the session ended while the tool ran; it may or may not have had its effect"}).Content(), false)
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
	d.emit(t.Conversation, Event{Kind: AgentMessageDelta, Item: message("", "", []Part{{Text: in.Text}})})
	return nil
}

func (in Response) decide(d *decision) error {
	t, err := d.task(in.Task, true)
	if err != nil {
		return err
	}
	if problem := d.problemOfResponse(in.Items); problem != "" {
		in.Items, in.Failure = nil, Failure{Code: CodeInvalidResponse, Message: problem}
	}
	calls := false
	for _, item := range in.Items {
		item.Origin = FromModel
		calls = calls || item.Kind == ToolCall
		d.record(t.Conversation, item)
	}
	in.Usage.Samples, in.Usage.Calls = 1, 0
	d.emit(t.Conversation, Event{Kind: TokenCount, Usage: in.Usage})
	switch {
	case t.stop != nil:
		return nil
	case in.Failure != Failure{}:
		d.fail(in.Failure)
	case calls:
		d.calls()
	default:
		d.complete()
	}
	d.advance()
	return nil
}

// problemOfResponse returns what is wrong with a response, and an empty string where nothing is. A call id has to be
// unique in its response only, since some providers count from the beginning in each.
func (d *decision) problemOfResponse(items []Item) string {
	ids, opened := map[string]bool{}, map[string]bool{}
	for _, item := range items {
		if item.Kind != ToolCall {
			continue
		}
		if item.CallID == "" || ids[item.CallID] {
			return "the id of a call is empty or not the only one of its kind"
		}
		ids[item.CallID] = true
		if create := item.Request.Create; create != nil {
			if opened[create.ConversationID] || d.state.taken(create.ConversationID) {
				return "the id of a conversation to be created is taken or not one"
			}
			opened[create.ConversationID] = true
		}
	}
	return ""
}

// record records an item. A call that the budget does not allow is recorded as such, for it to be refused when its turn
// comes.
func (d *decision) record(conversation string, item Item) {
	turn := d.state.Conversation(conversation).turn
	if limit := turn.Budget.Calls; item.Kind == ToolCall && limit != 0 && turn.Usage.Calls >= limit {
		item.Request = Request{Refused: &Refusal{Code: CodeBudget, Reason: "no tool calls are left", Max: int(max(limit, 0))}}
	}
	d.emit(conversation, recorded(item))
}

// counted reports whether a call counts as used: not where the budget refused it.
func counted(call Item) bool {
	return call.Request.Refused == nil || call.Request.Refused.Code != CodeBudget
}

func (in ToolDone) decide(d *decision) error {
	t, err := d.task(in.Task, false)
	if err != nil {
		return err
	}
	call, ok := t.tool()
	if !ok || call.CallID != in.Call || t.stop != nil && t.stop.tool != in.Call {
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
	d.stop(Stop{Expired: true})
	return nil
}

// stop asks for the end of the task that runs, beside what has been asked for before.
func (d *decision) stop(asked Stop) {
	t := d.state.task
	before := t.stop
	if before != nil {
		asked.Chain = asked.Chain || before.Chain
		asked.Expired = before.Expired
		asked.Destroy = asked.Destroy || before.Destroy
	}
	d.emit(t.Conversation, Event{Kind: StopRequested, Stop: asked})
	if before == nil {
		d.do(Cancel{Task: t.ID})
	}
}

func refuseRoot() *Refusal {
	return &Refusal{Code: CodeRoot, Reason: "the root conversation cannot be destroyed"}
}

func refuseInterrupted() *Refusal {
	return &Refusal{Code: CodeInterrupted, Reason: "the call was interrupted before it had a result"}
}

// refuseInput returns why an input is refused, which is in a field, and nil where it is not.
func refuseInput(parts []Part, field string) *Refusal {
	if !slices.ContainsFunc(parts, func(p Part) bool { return p != Part{} }) {
		return &Refusal{Code: CodeInvalidArguments, Field: field, Reason: "at least one of a text and an item is required"}
	}
	for _, p := range parts {
		inline, web := strings.HasPrefix(p.ImageURL, "data:"), strings.HasPrefix(p.ImageURL, "http://") || strings.HasPrefix(p.ImageURL, "https://")
		if p.ImageURL != "" && !inline && !web {
			return &Refusal{Code: CodeInvalidArguments, Field: field, Reason: "the address of an image has to begin with data:, http:// or https://"}
		}
	}
	return nil
}
