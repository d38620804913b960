package session

import (
	"cmp"
	"slices"
)

// answerCalls answers the open calls of the running task in their order, up to the first whose tool the host has to
// run. Calls of conv.create and conv.send wait until the others have outputs, and then replace the task together.
func (d *decision) answerCalls() {
	t := d.state.task
	for _, call := range slices.Clone(t.open) {
		switch _, sends := call.Request.Sent(); {
		case sends: // replaceTask, below, takes these calls together
		case call.ordinary(): // the host runs the tool, and reports its output with ToolDone
			return
		case call.Request.Destroy != nil:
			d.destroyFor(t.conversation, call)
		default:
			content, success := d.state.Answer(t.conversation, call)
			d.recordOutput(call, content, success)
		}
	}
	d.replaceTask(t.conversation)
}

// recordRefusal records the refusal of a call of the running task as its output.
func (d *decision) recordRefusal(call Item, refusal *Refusal) {
	d.recordOutput(call, refusal.Content(), false)
}

// recordOutput records the output of a call of the running task.
func (d *decision) recordOutput(call Item, content string, success bool) {
	d.record(d.state.task.conversation, outputItem(call, content, success))
}

// destroyFor carries out a call of conv.destroy. It records the output, or a refusal if the caller may not destroy.
func (d *decision) destroyFor(caller string, call Item) {
	c, refusal := d.state.removable(caller, call.Request.Destroy.ConversationID)
	refusal = cmp.Or(d.state.refusalOfConvTools(caller), refusal)
	if refusal != nil {
		d.recordRefusal(call, refusal)
		return
	}
	d.destroy(c.ID)
	d.recordOutput(call, `{"ok":true}`, true)
}

// replaceTask refuses the open calls of conv.create and conv.send that are not allowed. If it allows any, it ends the task
// and opens the conversations that these calls create, so that their targets run next. Otherwise the task goes on.
func (d *decision) replaceTask(caller string) {
	var openings []Event
	allowed := 0
	for _, call := range slices.Clone(d.state.task.open) {
		refusal := d.refusalByLimits(caller, allowed+1)
		if send := call.Request.Send; refusal == nil && send != nil {
			refusal = d.refusalToSend(caller, *send)
		}
		if create := call.Request.Create; refusal == nil && create != nil {
			var opening Event
			if opening, refusal = d.openingOf(caller, *create, len(openings)); refusal == nil {
				openings = append(openings, opening)
			}
		}
		if refusal != nil {
			d.recordRefusal(call, refusal)
			continue
		}
		allowed++
	}
	if allowed == 0 {
		d.awaitModelOrEnd()
		return
	}
	d.emit(caller, Event{Kind: TurnAborted, Reason: Replaced})
	for _, opening := range openings {
		d.add(opening)
	}
}

// refusalByLimits returns why a caller may not make the nth call of conv.create or conv.send in a response, whatever
// its arguments: the caller has no conv tools, or has reached a limit or its budget. It returns nil if the caller may.
func (d *decision) refusalByLimits(caller string, nth int) *Refusal {
	if refusal := d.state.refusalOfConvTools(caller); refusal != nil {
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

// refusalToSend returns why the arguments of a call of conv.send are not allowed, and nil if they are.
func (d *decision) refusalToSend(caller string, request Send) *Refusal {
	c, refusal := d.state.addressed(request.ConversationID)
	if refusal == nil {
		refusal = d.state.refusalOfTarget(caller, c.ID)
	}
	return cmp.Or(refusalOfEmpty(request.parts(), "text"), refusal)
}

// openingOf returns the event that opens the conversation of a call of conv.create. If it refuses the call, the event
// is not valid. others is the number of new conversations of the calls before this call in the response.
func (d *decision) openingOf(caller string, request Create, others int) (Event, *Refusal) {
	sent, _ := Request{Create: &request}.Sent() // the first message; a request with Create always has it
	if refusal := refusalOfEmpty(sent.parts(), "user_instruction"); refusal != nil {
		return Event{}, refusal
	}
	if count, limit := d.state.liveCount()+others+1, d.state.config.MaxConversations; count > limit {
		return Event{}, &Refusal{
			Code: CodeConversations, Count: count, Max: limit,
			Reason: "the session has as many conversations as it may have; conv.list shows them, and conv.destroy makes room for another one",
		}
	}
	childContext := d.state.Conversation(caller).Context
	capabilities, refusal := childContext.narrow(d.state.config, request.MCPAllowlist, request.Internal)
	childContext.Capabilities, childContext.Title = capabilities, request.Title
	if request.Base != nil {
		childContext.Base = request.Base
	}
	return Event{Conversation: sent.ConversationID, Kind: ConversationOpened, Parent: caller, Context: childContext}, refusal
}

// Answer returns the output of a call of conv.list or conv.history in this state; without success, why it is refused.
func (s State) Answer(caller string, call Item) (content string, success bool) {
	history := call.Request.History
	refusal := cmp.Or(call.Request.Refused, s.refusalOfConvTools(caller))
	switch {
	case refusal != nil:
		return refusal.Content(), false
	case call.Name == ConvList:
		return s.listContent(caller), true
	case history == nil: // the call is of another tool
		refusal = &Refusal{Code: CodeUnavailable, Reason: "this cannot be answered without a task"}
		return refusal.Content(), false
	}
	c, refusal := s.addressed(history.ConversationID)
	if refusal != nil {
		return refusal.Content(), false
	}
	return s.historyContent(c, history.Limit), true
}

// refusalOfConvTools returns why a conversation may not use the conv tools, and nil if it may.
func (s State) refusalOfConvTools(caller string) *Refusal {
	if !s.Conversation(caller).Internal[ConvTools] {
		return &Refusal{Code: CodeUnavailable, Reason: "this conversation was created without the conv tools"}
	}
	return nil
}
