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
			c.append(item, e)
		}
		s.conversations = append(s.conversations, c)
	case ConversationDestroyed:
		c.Destroyed = true
		for _, b := range s.stack {
			for i := range b.frames {
				if f := &b.frames[i]; f.result == nil && f.call.Target() == c.ID {
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
		s.started(c, e)
	case UserMessage, AgentMessage, Reasoning, ToolCall, ToolOutput:
		s.recorded(c, e)
	case TokenCount:
		c.use(e.Usage)
		c.turn.samples++
	case TaskComplete:
		c.LastActive = e.At
		s.ended(c, e)
	case TaskFailed:
		s.ended(c, e)
	case TurnAborted:
		if e.Reason == Replaced {
			s.replaced(c)
		} else {
			s.ended(c, e)
		}
	case CallsClosed:
		for _, output := range e.Outputs {
			c.append(output, e)
		}
		s.stack = s.stack[:len(s.stack)-1]
		s.ended(c, e)
	case StopRequested:
		s.task.stop = &e.Stop
	}
	s.seq, s.at = e.Seq, e.At
}

// follows reports whether an event has the number, time and session of the next one. The first is a SessionStarted.
func (s *State) follows(e Event) bool {
	first := s.seq == 0
	return e.Kind != "" && (e.Kind == SessionStarted) == first && e.Seq == s.seq+1 && !e.At.Before(s.at) &&
		e.Session != "" && (first || e.Session == s.id)
}

func (s *State) started(c *Conversation, e Event) {
	s.tasks++
	s.task = &task{id: e.Task, conversation: c.ID}
	if e.Continues != nil {
		for _, f := range s.top().frames {
			s.task.open = append(s.task.open, f.call)
		}
		s.stack = s.stack[:len(s.stack)-1]
		return
	}
	s.turns++
	c.turn = &turn{id: e.LogicalTurn, submission: e.Submission, frame: e.Frame, budget: e.Budget}
	if e.Frame == 0 {
		c.turn.outside = s.queue[0].Call != nil
		s.queue = s.queue[1:]
	}
}

func (s *State) recorded(c *Conversation, e Event) {
	item := e.Recorded()
	switch item.Kind {
	case AgentMessage:
		c.turn.message = item.Text()
	case ToolCall:
		s.task.open = append(s.task.open, item)
		if counted(item) {
			c.use(Usage{Calls: 1})
		}
	case ToolOutput:
		s.task.open = slices.DeleteFunc(s.task.open, func(call Item) bool { return call.CallID == item.CallID })
	}
	c.append(item, e)
}

// append puts an item at the end of a history.
func (c *Conversation) append(item Item, e Event) {
	c.history = &node{Entry: Entry{Item: item, Seq: e.Seq, At: e.At}, prev: c.history}
	c.LastActive = e.At
	if item.message() {
		c.Messages++
	}
}

// use adds what the running task of a conversation has used.
func (c *Conversation) use(u Usage) {
	c.Usage.Add(u)
	c.turn.usage.Add(u)
}

// replaced ends the running task, and puts its open calls on the stack.
func (s *State) replaced(c *Conversation) {
	b := batch{caller: c.ID, task: s.task.id}
	for _, call := range s.task.open {
		s.frames++
		b.frames = append(b.frames, frame{id: s.frames, call: call})
	}
	c.turn.interrupts += len(b.frames)
	s.stack, s.task = append(s.stack, b), nil
}

// ended ends the running task and the logical turn of a conversation. The call that it answers gets the result.
func (s *State) ended(c *Conversation, e Event) {
	result := &Result{Message: c.turn.message, Usage: c.turn.usage}
	result.Note(e)
	if s.task != nil && s.task.stop != nil && s.task.stop.Destroy {
		result.Status = StatusDestroyed
	}
	if f := s.awaited(); f != nil {
		f.result = result
		s.edit(s.top().caller).turn.usage.Add(result.Usage)
	}
	c.turn, s.task = nil, nil
}
