package session

import "slices"

// apply changes s as an event says. No other code changes a State. It panics if what the event is about is missing.
func (s *State) apply(e Event) {
	c := s.edit(e.Conversation)
	switch e.Kind {
	case SessionStarted:
		s.id, s.config = e.Session, e.Config
	case ConversationOpened:
		c = &Conversation{ID: e.Conversation, Parent: e.Parent, Context: e.Context, Opened: e.At, LastActive: e.At}
		for _, item := range e.History {
			c.addEntry(item, e)
		}
		s.conversations = append(s.conversations, c)
	case ConversationDestroyed:
		c.Destroyed = true
		for _, b := range s.stack {
			for i := range b.frames {
				if f := &b.frames[i]; f.result == nil && f.call.Target() == c.ID { // it has not started
					f.result = &Result{Status: StatusDestroyed}
				}
			}
		}
	case SubmissionQueued:
		s.submissions++
		s.queue = append(s.queue, e.Queued)
	case PlanDropped:
		s.queue = slices.DeleteFunc(s.queue, func(q Submission) bool { return q.ID == e.Submission })
	case TaskStarted:
		s.startTask(c, e)
	case UserMessage, AgentMessage, Reasoning, ToolCall, ToolOutput:
		s.addItem(c, e)
	case TokenCount:
		c.addUsage(e.Usage)
		c.turn.samples++
	case TaskComplete:
		c.LastActive = e.At
		s.endTurn(c, e)
	case TaskFailed:
		s.endTurn(c, e)
	case TurnAborted:
		if e.Reason == Replaced { // the task has made calls of conv.create or conv.send
			s.pushBatch(c) // the calls wait on the stack for their results; the turn goes on in another task
		} else {
			s.endTurn(c, e)
		}
	case CallsClosed:
		for _, output := range e.Outputs {
			c.addEntry(output, e)
		}
		s.stack = s.stack[:len(s.stack)-1]
		s.endTurn(c, e)
	case StopRequested:
		s.task.stop = &e.Stop
	}
	s.seq, s.at = e.Seq, e.At
}

// follows reports whether an event can be the next one: it has the next number and the id of the session, and is not
// earlier than the last event. The first event, and no other, is a SessionStarted.
func (s *State) follows(e Event) bool {
	isFirst, isStart := s.seq == 0, e.Kind == SessionStarted
	return isFirst == isStart && e.Kind != "" && e.Seq == s.seq+1 && !e.At.Before(s.at) &&
		e.Session != "" && (isFirst || e.Session == s.id)
}

// startTask starts the task of a TaskStarted event. A task that continues another one gets the calls of the batch at
// the top of the stack, and the batch leaves the stack. Any other task opens a logical turn, which answers a call or
// the first submission; the submission leaves the queue.
func (s *State) startTask(c *Conversation, e Event) {
	s.tasks++
	s.task = &task{id: e.Task, conversation: c.ID}
	if e.Continues != nil { // the logical turn of c is open already
		for _, f := range s.top().frames {
			s.task.open = append(s.task.open, f.call)
		}
		s.stack = s.stack[:len(s.stack)-1]
		return
	}
	s.turns++
	c.turn = &turn{id: e.LogicalTurn, submission: e.Submission, frame: e.Frame, budget: e.Budget}
	if e.Frame == 0 { // no call has started the turn, so it is for a submission
		c.turn.outside = s.queue[0].Call != nil // a program has made this call, so no model is asked
		s.queue = s.queue[1:]
	}
}

// addItem adds an item to the history of a conversation, and updates the logical turn and the open calls of the task.
func (s *State) addItem(c *Conversation, e Event) {
	item := e.Recorded()
	switch item.Kind {
	case AgentMessage:
		c.turn.message = item.Text()
	case ToolCall:
		s.task.open = append(s.task.open, item)
		if counted(item) { // false if the budget refused the call
			c.addUsage(Usage{Calls: 1})
		}
	case ToolOutput:
		s.task.open = slices.DeleteFunc(s.task.open, func(call Item) bool { return call.CallID == item.CallID })
	}
	c.addEntry(item, e)
}

// addEntry puts an item at the end of the history of a conversation. The event is the one that recorded the item.
func (c *Conversation) addEntry(item Item, e Event) {
	c.history = &node{Entry: Entry{Item: item, Seq: e.Seq, At: e.At}, prev: c.history}
	c.LastActive = e.At
	if item.shown() {
		c.Messages++
	}
}

// addUsage adds what the running task has used, to the sums of its conversation and of its logical turn.
func (c *Conversation) addUsage(u Usage) {
	c.Usage.Add(u)
	c.turn.usage.Add(u)
}

// pushBatch ends the running task of a conversation, and puts the open calls of the task on the stack as one batch.
func (s *State) pushBatch(c *Conversation) {
	b := batch{caller: c.ID, task: s.task.id}
	for _, call := range s.task.open {
		s.frames++
		b.frames = append(b.frames, frame{id: s.frames, call: call})
	}
	c.turn.interrupts += len(b.frames) // each call interrupts the turn, which config.MaxInterruptsPerTurn limits
	s.stack, s.task = append(s.stack, b), nil
}

// endTurn ends the logical turn of a conversation, and the running task if there is one. If a call of another conversation
// has started the turn, the call gets the result, and the usage counts for the turn of that conversation, too.
func (s *State) endTurn(c *Conversation, e Event) {
	result := &Result{Message: c.turn.message, Usage: c.turn.usage}
	result.Apply(e)
	if s.task != nil && s.task.stop != nil && s.task.stop.Destroy {
		result.Status = StatusDestroyed
	}
	if f := s.awaited(); f != nil { // f is the call that started the turn: only the first call without a result has a target that runs
		f.result = result
		s.edit(s.top().caller).turn.usage.Add(result.Usage)
	}
	c.turn, s.task = nil, nil
}
