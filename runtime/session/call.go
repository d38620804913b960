package session

import "slices"

// calls goes on with the calls of a response. All but the interrupting ones come first, one after the other; each that
// the host runs waits for its output. Then the interrupting ones that are allowed replace the task together.
func (d *decision) calls() {
	t := d.state.task
	caller := t.Conversation
	for _, call := range slices.Clone(t.open) {
		switch request := call.Request.(type) {
		case Create, Send:
		case Ordinary:
			d.do(RunTool{Task: t.ID, Conversation: caller, Call: call})
			return
		case Destroy:
			c, refusal := d.destroyable(caller, request)
			if refusal != nil {
				d.refuse(call, refusal)
				continue
			}
			d.destroy(c.ID)
			d.output(call, contentOK, true)
		default:
			content, success := d.state.Answer(caller, request)
			d.output(call, content, success)
		}
	}
	d.interrupts(caller)
}

func (d *decision) refuse(call Call, refusal *Refusal) {
	d.output(call, refusal.Content(), false)
}

func (d *decision) output(call Call, content string, success bool) {
	d.emit(d.state.task.Conversation, ItemRecorded{Item: Item{
		Kind: ToolOutput, Origin: FromTool, CallID: call.ID, Tool: call.Request.tool(), Content: content, Success: success,
	}})
}

// interrupts replaces the task by the targets of its interrupting calls, as many as are allowed. Where none is, the
// model is sampled again with the refusals.
func (d *decision) interrupts(caller string) {
	t := d.state.task
	turn := d.state.Conversation(caller).turn
	batch := Batch{Caller: caller, Task: t.ID}
	opened := map[string]ConversationOpened{}
	for _, call := range slices.Clone(t.open) {
		f := Frame{ID: d.state.frames + FrameID(len(batch.Frames)) + 1, Call: call, Depth: len(d.state.stack) + 1}
		refusal := d.admit(caller, *turn, f.Depth, len(batch.Frames)+1)
		if refusal == nil {
			switch request := call.Request.(type) {
			case Create:
				var opening ConversationOpened
				opening, refusal = d.creation(caller, request, len(opened))
				if refusal == nil {
					opened[request.ConversationID] = opening
				}
				f.Target, f.Input, f.Budget = request.ConversationID, input(request.UserInstruction, request.Items), request.Budget
			case Send:
				f.Target, refusal = d.sendable(caller, request)
				f.Input, f.Budget = input(request.Text, request.Items), request.Budget
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
	d.emit(caller, TurnAborted{Reason: Replaced})
	for _, f := range batch.Frames {
		if opening, ok := opened[f.Target]; ok {
			d.emit(f.Target, opening)
		}
	}
	d.emit(caller, CallsDeferred{Batch: batch})
}

// Answer returns the output of a call of conv.list or conv.history that a conversation would make now, for a host that
// asks for it outside of the conversation's tasks. The conversation has to be there.
func (s State) Answer(caller string, request Request) (content string, success bool) {
	refusal := s.mayConverse(caller)
	switch request := request.(type) {
	case List:
		if refusal == nil {
			return s.listContent(caller), true
		}
	case History:
		var c *Conversation
		if c, refusal = s.readable(caller, request); refusal == nil {
			return s.historyContent(c, request.Limit), true
		}
	case Invalid:
		refusal = &request.Refusal
	default:
		refusal = &Refusal{Code: CodeUnavailable, Reason: "this cannot be answered without a task"}
	}
	return refusal.Content(), false
}

// mayConverse returns why a conversation may not use conv.* at all, and nil where it may.
func (s State) mayConverse(caller string) *Refusal {
	if !s.Conversation(caller).Internal.Conv {
		return &Refusal{Code: CodeUnavailable, Reason: "this conversation was created without the conv tools"}
	}
	return nil
}

// admit returns why one more interrupting call of a response is not allowed, and nil where it is: it would be the
// nth, at a depth.
func (d *decision) admit(caller string, turn LogicalTurn, depth, nth int) *Refusal {
	if refusal := d.state.mayConverse(caller); refusal != nil {
		return refusal
	}
	config := d.state.config
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

// creation returns the conversation that a call opens beside others of its response, or why it does not.
func (d *decision) creation(caller string, request Create, others int) (ConversationOpened, *Refusal) {
	parent := d.state.Conversation(caller)
	opening := ConversationOpened{Parent: caller, Context: parent.Context}
	if refusal := refuseInput(input(request.UserInstruction, request.Items), "user_instruction"); refusal != nil {
		return opening, refusal
	}
	capabilities, refusal := parent.narrow(d.state.config, request.MCPAllowlist, request.Internal)
	if refusal != nil {
		return opening, refusal
	}
	if count, limit := d.state.live()+others+1, d.state.config.MaxConversations; count > limit {
		return opening, &Refusal{Code: CodeConversations, Reason: "the session has as many conversations as it may have; conv.list shows them, and conv.destroy makes room for another one", Count: count, Max: limit}
	}
	opening.Context.Capabilities, opening.Context.Title = capabilities, request.Title
	if request.Base != nil {
		opening.Context.Base = request.Base
	}
	return opening, nil
}

// sendable returns the target of a call of conv.send, or why it is refused.
func (d *decision) sendable(caller string, request Send) (string, *Refusal) {
	if refusal := refuseInput(input(request.Text, request.Items), "text"); refusal != nil {
		return "", refusal
	}
	c, refusal := d.state.addressed(caller, request.ConversationID)
	if refusal != nil {
		return "", refusal
	}
	return c.ID, d.state.free(caller, c.ID)
}

// readable returns the conversation that a call of conv.history reads, or why it is refused.
func (s State) readable(caller string, request History) (*Conversation, *Refusal) {
	if refusal := s.mayConverse(caller); refusal != nil {
		return nil, refusal
	}
	if request.Limit != nil && *request.Limit < 1 {
		return nil, &Refusal{Code: CodeInvalidArguments, Field: "limit", Reason: "limit is at least 1"}
	}
	return s.addressed(caller, request.ConversationID)
}

// destroyable returns the conversation that a call of conv.destroy destroys, or why it is refused.
func (d *decision) destroyable(caller string, request Destroy) (*Conversation, *Refusal) {
	if refusal := d.state.mayConverse(caller); refusal != nil {
		return nil, refusal
	}
	c, refusal := d.state.addressed(caller, request.ConversationID)
	if refusal != nil {
		return nil, refusal
	}
	if c == d.state.Root() {
		return nil, refuseRoot()
	}
	return c, d.state.free(caller, c.ID)
}
