package session

import "slices"

// calls goes on with the open calls of a response, in their order. Calls of conv.create and conv.send wait until the
// others have outputs, and then replace the task together.
func (d *decision) calls() {
	t := d.state.task
	for _, call := range slices.Clone(t.open) {
		switch _, sends := call.Request.Sent(); {
		case sends:
		case call.ordinary():
			return
		case call.Request.Destroy != nil:
			d.destroyFor(t.conversation, call)
		default:
			content, success := d.state.Answer(t.conversation, call)
			d.output(call, content, success)
		}
	}
	d.replace(t.conversation)
}

func (d *decision) refuse(call Item, refusal *Refusal) {
	d.output(call, refusal.Content(), false)
}

func (d *decision) output(call Item, content string, success bool) {
	d.record(d.state.task.conversation, output(call, content, success))
}

// destroyFor makes a call of conv.destroy.
func (d *decision) destroyFor(caller string, call Item) {
	refusal := d.state.mayConverse(caller)
	var c *Conversation
	if refusal == nil {
		c, refusal = d.state.removable(caller, call.Request.Destroy.ConversationID)
	}
	if refusal != nil {
		d.refuse(call, refusal)
		return
	}
	d.destroy(c.ID)
	d.output(call, contentOK, true)
}

// replace ends the running task in favor of the targets of its calls. If none is allowed, the model is asked again.
func (d *decision) replace(caller string) {
	var opened []Event
	allowed := 0
	for _, call := range slices.Clone(d.state.task.open) {
		refusal := d.refusalOf(caller, allowed+1)
		switch create := call.Request.Create; {
		case refusal != nil:
		case create != nil:
			var opening Event
			opening, refusal = d.opening(caller, *create, len(opened))
			if refusal == nil {
				opened = append(opened, opening)
			}
		default:
			refusal = d.refusalToSend(caller, *call.Request.Send)
		}
		if refusal != nil {
			d.refuse(call, refusal)
			continue
		}
		allowed++
	}
	if allowed == 0 {
		d.ask()
		return
	}
	d.emit(caller, Event{Kind: TurnAborted, Reason: Replaced})
	for _, opening := range opened {
		d.add(opening)
	}
}

// refusalOf returns why a caller may not make the nth call of conv.create or conv.send of a response, and nil if it may.
func (d *decision) refusalOf(caller string, nth int) *Refusal {
	if refusal := d.state.mayConverse(caller); refusal != nil {
		return refusal
	}
	config, turn, depth := d.state.config, d.state.Conversation(caller).turn, len(d.state.stack)+1
	switch {
	case depth > config.MaxInterruptChainDepth:
		return &Refusal{Code: CodeDepth, Reason: "too many calls wait for each other already", Depth: depth, Max: config.MaxInterruptChainDepth}
	case nth > config.MaxInterruptsPerResponse:
		return &Refusal{Code: CodeDepth, Reason: "too many of these calls in one response", Count: nth, Max: config.MaxInterruptsPerResponse}
	case turn.interrupts+nth > config.MaxInterruptsPerTurn:
		return &Refusal{Code: CodeDepth, Reason: "too many of these calls since the last input", Count: turn.interrupts + nth, Max: config.MaxInterruptsPerTurn}
	}
	if spent := d.spent(); spent != "" {
		return &Refusal{Code: CodeBudget, Reason: "the budget of " + spent + " is used up"}
	}
	return nil
}

// refusalToSend returns why a call of conv.send is not allowed, and nil if it is.
func (d *decision) refusalToSend(caller string, request Send) *Refusal {
	c, refusal := d.state.addressed(request.ConversationID)
	switch empty := refuseEmpty(request.input(), "text"); {
	case empty != nil:
		return empty
	case refusal != nil:
		return refusal
	}
	return d.state.free(caller, c.ID)
}

// opening returns the event of the conversation that a call creates, beside others of the response, or why it is refused.
func (d *decision) opening(caller string, request Create, others int) (Event, *Refusal) {
	sent, _ := Request{Create: &request}.Sent()
	if refusal := refuseEmpty(sent.input(), "user_instruction"); refusal != nil {
		return Event{}, refusal
	}
	if count, limit := d.state.live()+others+1, d.state.config.MaxConversations; count > limit {
		return Event{}, &Refusal{
			Code: CodeConversations, Count: count, Max: limit,
			Reason: "the session has as many conversations as it may have; conv.list shows them, and conv.destroy makes room for another one",
		}
	}
	context := d.state.Conversation(caller).Context
	capabilities, refusal := context.narrow(d.state.config, request.MCPAllowlist, request.Internal)
	context.Capabilities, context.Title = capabilities, request.Title
	if request.Base != nil {
		context.Base = request.Base
	}
	return Event{Conversation: sent.ConversationID, Kind: ConversationOpened, Parent: caller, Context: context}, refusal
}

// Answer returns the output that a call of conv.list or conv.history by a caller has now. A host may ask at any time.
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

// mayConverse returns why a conversation may not use the conv tools, and nil if it may.
func (s State) mayConverse(caller string) *Refusal {
	if !s.Conversation(caller).Internal[ConvTools] {
		return &Refusal{Code: CodeUnavailable, Reason: "this conversation was created without the conv tools"}
	}
	return nil
}
