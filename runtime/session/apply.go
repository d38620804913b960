package session

import "slices"

// apply changes s as an event reports. It is the only code that changes a State. It takes the events of a log as Step has
// decided them: a log has checksums. See [Fold] for one that Step has not written.
func (s *State) apply(e Event) {
	c := s.edit(e.Conversation)
	switch e.Kind {
	case SessionStarted:
		s.id, s.config = e.Session, e.Config
	case ConversationOpened:
		c = &Conversation{ID: e.Conversation, Parent: e.Parent, Context: e.Context, Opened: e.At, LastActive: e.At}
		for _, item := range e.History {
			c.record(item, e)
		}
		s.conversations = append(s.conversations, c)
	case ConversationDestroyed:
		c.Destroyed = true
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
		s.used(c, e.Usage)
		c.turn.Samples++
		s.task.sampling = false
	case TaskComplete:
		c.LastActive, c.turn, s.task = e.At, nil, nil
	case TaskFailed:
		c.turn, s.task = nil, nil
	case TurnAborted:
		if s.task = nil; e.Reason != Replaced {
			c.turn = nil
		}
	case CallsDeferred:
		s.frames += FrameID(len(e.Batch.Frames))
		c.turn.Interrupts += len(e.Batch.Frames)
		s.stack = append(s.stack, cloneStack([]Batch{e.Batch})...)
	case FrameResolved:
		if f := s.frame(e.Frame); f != nil {
			f.Result = &e.Result
		}
		c.turn.Usage.Add(e.Result.Usage)
	case CallsClosed:
		for _, output := range e.Outputs {
			c.record(output, e)
		}
		c.turn, s.stack = nil, s.stack[:len(s.stack)-1]
	case StopRequested:
		s.stopping(e.Stop)
	}
	s.seq, s.at = e.Seq, e.At
}

// misfit returns why an event cannot be the next one, and an empty text where it can.
func (s *State) misfit(e Event) string {
	switch {
	case e.Seq != s.seq+1:
		return "its number is not the next"
	case e.At.Before(s.at):
		return "its time is before that of the last event"
	case (e.Kind == SessionStarted) != (s.seq == 0):
		return "session_started is the first event and no other"
	case e.Session == "" || s.id != "" && e.Session != s.id:
		return "it is of another session"
	case e.Kind == "":
		return "it has no kind"
	}
	return ""
}

func (s *State) started(c *Conversation, e Event) {
	s.tasks++
	s.task = &Task{ID: e.Task, Conversation: c.ID}
	if e.Continues != nil {
		last := len(s.stack) - 1
		for _, f := range s.stack[last].Frames {
			s.task.open = append(s.task.open, f.Call)
		}
		s.stack = s.stack[:last]
		return
	}
	s.turns++
	c.turn = &LogicalTurn{ID: e.LogicalTurn, Submission: e.Submission, Frame: e.Frame, Budget: e.Budget}
	if f := s.frame(e.Frame); f != nil {
		f.Started = true
	} else if len(s.queue) > 0 {
		c.turn.Outside = s.queue[0].Call != nil
		s.queue = slices.Delete(s.queue, 0, 1)
	}
	s.task.sampling = !c.turn.Outside
}

func (s *State) recorded(c *Conversation, e Event) {
	item := e.Recorded()
	switch item.Kind {
	case AgentMessage:
		c.turn.Message = item.Text()
	case ToolCall:
		s.task.open = append(s.task.open, item)
		if counted(item) {
			s.used(c, Usage{Calls: 1})
		}
	case ToolOutput:
		s.task.open = slices.DeleteFunc(s.task.open, func(call Item) bool { return call.CallID == item.CallID })
		s.task.sampling = len(s.task.open) == 0 && s.task.stop == nil // a task that is being stopped asks no model
	}
	c.record(item, e)
}

// record puts an item at the end of a history.
func (c *Conversation) record(item Item, e Event) {
	c.history = &node{Entry: Entry{Item: item, Seq: e.Seq, At: e.At}, prev: c.history}
	c.LastActive = e.At
	if item.message() {
		c.Messages++
	}
}

// used counts what the conversation of the task that runs has used.
func (s *State) used(c *Conversation, u Usage) {
	for _, sum := range []*Usage{&s.usage, &c.Usage, &c.turn.Usage} {
		sum.Add(u)
	}
}

// frame returns the frame with an id that waits on the stack, and nil where there is none.
func (s *State) frame(id FrameID) *Frame {
	for _, b := range s.stack {
		if i := slices.IndexFunc(b.Frames, func(f Frame) bool { return f.ID == id }); i >= 0 {
			return &b.Frames[i]
		}
	}
	return nil
}

func (s *State) stopping(asked Stop) {
	stop := &stop{Stop: asked}
	if call, ok := s.task.tool(); ok {
		stop.tool = call.CallID
	}
	if before := s.task.stop; before != nil {
		stop.tool = before.tool
	}
	s.task.stop = stop
}
