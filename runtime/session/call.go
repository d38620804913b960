package session

import (
	"slices"
)

// calls goes on with the calls of a response. All but the interrupting ones come first, one after the other; each that
// the host runs waits for its output. Then the interrupting ones that are allowed replace the task together.
func (d *decision) calls() {
	t := d.state.task
	caller := t.Conversation
	for _, call := range slices.Clone(t.open) {
		_, sends := call.Request.Sent()
		switch request := call.Request; {
		case sends:
		case call.ordinary():
			d.do(RunTool{Task: t.ID, Conversation: caller, Call: call})
			return
		case request.Destroy != nil:
			c, refusal := d.destroyable(caller, *request.Destroy)
			if refusal != nil {
				d.refuse(call, refusal)
				continue
			}
			d.destroy(c.ID)
			d.output(call, contentOK, true)
		default:
			content, success := d.state.Answer(caller, call)
			d.output(call, content, success)
		}
	}
	d.interrupts(caller)
}

func (d *decision) refuse(call Item, refusal *Refusal) {
	d.output(call, refusal.Content(), false)
}

func (d *decision) output(call Item, content string, success bool) {
	d.emit(d.state.task.Conversation, recorded(output(call, content, success)))
}

// interrupts replaces the task by the targets of its interrupting calls, as many as are allowed. Where none is, the
// model is sampled again with the refusals.
func (d *decision) interrupts(caller string) {
	t := d.state.task
	batch := Batch{Caller: caller, Task: t.ID}
	var opened []Event
	for _, call := range slices.Clone(t.open) {
		f := Frame{ID: d.state.frames + FrameID(len(batch.Frames)) + 1, Call: call, Depth: len(d.state.stack) + 1}
		f.Call.Arguments, f.Call.Raw = "", "" // which the history has
		refusal := d.admit(caller, f.Depth, len(batch.Frames)+1)
		if refusal == nil {
			f.Target, refusal = d.target(caller, call.Request, len(opened))
		}
		if refusal == nil && call.Request.Create != nil {
			var context Context
			if context, refusal = d.creation(caller, *call.Request.Create); refusal == nil {
				opened = append(opened, Event{Conversation: f.Target, Kind: ConversationOpened, Parent: caller, Context: context})
			}
		}
		if refusal != nil {
			d.refuse(call, refusal)
			continue
		}
		batch.Frames = append(batch.Frames, f)
	}
	if len(batch.Frames) == 0 {
		d.sample()
		return
	}
	d.emit(caller, Event{Kind: TurnAborted, Reason: Replaced})
	for _, opening := range opened {
		d.add(opening)
	}
	d.emit(caller, Event{Kind: CallsDeferred, Batch: batch})
}

// Answer returns the output of a call of conv.list or conv.history that a conversation would make now, for a host that
// asks for it outside of the conversation's tasks. The conversation has to be there.
func (s State) Answer(caller string, call Item) (content string, success bool) {
	refusal := call.Request.Refused
	if refusal == nil {
		refusal = s.mayConverse(caller)
	}
	switch history := call.Request.History; {
	case refusal != nil:
	case history != nil:
		var c *Conversation
		if c, refusal = s.addressed(history.ConversationID); refusal == nil {
			return s.historyContent(c, history.Limit), true
		}
	case call.Name == ConvList:
		return s.listContent(caller), true
	default:
		refusal = &Refusal{Code: CodeUnavailable, Reason: "this cannot be answered without a task"}
	}
	return refusal.Content(), false
}

// mayConverse returns why a conversation may not use conv.* at all, and nil where it may.
func (s State) mayConverse(caller string) *Refusal {
	if !s.Conversation(caller).Internal[ConvTools] {
		return &Refusal{Code: CodeUnavailable, Reason: "this conversation was created without the conv tools"}
	}
	return nil
}

// admit returns why one more interrupting call of a response is not allowed, and nil where it is: it would be the
// nth, at a depth.
func (d *decision) admit(caller string, depth, nth int) *Refusal {
	if refusal := d.state.mayConverse(caller); refusal != nil {
		return refusal
	}
	config, turn := d.state.config, d.state.Conversation(caller).turn
	switch {
	case depth > config.MaxInterruptChainDepth:
		return &Refusal{Code: CodeDepth, Reason: "too many calls wait for each other already", Depth: depth, Max: config.MaxInterruptChainDepth}
	case nth > config.MaxInterruptsPerResponse:
		return &Refusal{Code: CodeDepth, Reason: "too many of these calls in one response", Count: nth, Max: config.MaxInterruptsPerResponse}
	case turn.Interrupts+nth > config.MaxInterruptsPerTurn:
		return &Refusal{Code: CodeDepth, Reason: "too many of these calls since the last input", Count: turn.Interrupts + nth, Max: config.MaxInterruptsPerTurn}
	}
	if spent := turn.Budget.spent(turn.Usage, d.at); spent != "" {
		return &Refusal{Code: CodeBudget, Reason: "the budget of " + spent + " is used up"}
	}
	return nil
}

// target returns the conversation that an interrupting call asks, beside others that its response opens, or why it is
// refused.
func (d *decision) target(caller string, request Request, others int) (string, *Refusal) {
	field := "text"
	if request.Create != nil {
		field = "user_instruction"
	}
	sent, _ := request.Sent()
	if refusal := refuseInput(sent.input(), field); refusal != nil {
		return "", refusal
	}
	if request.Create != nil {
		if count, limit := d.state.live()+others+1, d.state.config.MaxConversations; count > limit {
			return "", &Refusal{Code: CodeConversations, Reason: "the session has as many conversations as it may have; conv.list shows them, and conv.destroy makes room for another one", Count: count, Max: limit}
		}
		return sent.ConversationID, nil
	}
	c, refusal := d.state.addressed(sent.ConversationID)
	if refusal != nil {
		return "", refusal
	}
	return c.ID, d.state.free(caller, c.ID)
}

// creation returns the context of the conversation that a call opens, which is that of its caller where the call does not
// say otherwise, or why it opens none.
func (d *decision) creation(caller string, request Create) (Context, *Refusal) {
	context := d.state.Conversation(caller).Context
	capabilities, refusal := context.narrow(d.state.config, request.MCPAllowlist, request.Internal)
	context.Capabilities, context.Title = capabilities, request.Title
	if request.Base != nil {
		context.Base = request.Base
	}
	return context, refusal
}

// destroyable returns the conversation that a call of conv.destroy destroys, or why it is refused.
func (d *decision) destroyable(caller string, request Destroy) (*Conversation, *Refusal) {
	if refusal := d.state.mayConverse(caller); refusal != nil {
		return nil, refusal
	}
	c, refusal := d.state.addressed(request.ConversationID)
	if refusal != nil {
		return nil, refusal
	}
	if c == d.state.Root() {
		return nil, refuseRoot()
	}
	return c, d.state.free(caller, c.ID)
}
