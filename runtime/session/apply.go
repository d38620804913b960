package session

import (
	"errors"
	"slices"
)

// apply changes s as an event reports. It is the only code that changes a State.
func (s *State) apply(e Event) error {
	err := s.follows(e)
	if err == nil {
		err = e.Body.apply(s, e)
	}
	if err != nil {
		kind := ""
		if e.Body != nil {
			kind = e.Body.Type()
		}
		return &LogError{Seq: e.Seq, Type: kind, Problem: err.Error()}
	}
	s.seq, s.at = e.Seq, e.At
	return nil
}

func (s *State) follows(e Event) error {
	_, starts := e.Body.(SessionStarted)
	switch {
	case e.Body == nil:
		return errors.New("it reports nothing")
	case e.Seq != s.seq+1:
		return errors.New("its number is not the next")
	case e.At.Before(s.at):
		return errors.New("its time is before that of the last event")
	case starts != (s.seq == 0):
		return errors.New("session_started is the first event and no other")
	case e.Session == "" || !starts && e.Session != s.id:
		return errors.New("it is of another session")
	}
	return nil
}

var (
	errConversation = errors.New("the conversation is not there")
	errTask         = errors.New("this task is not the one that runs")
	errFrame        = errors.New("this is not a frame of the top batch that waits")
)

func (b SessionStarted) apply(s *State, e Event) error {
	s.id, s.config = e.Session, b.Config
	return nil
}

func (b ConversationOpened) apply(s *State, e Event) error {
	if s.Conversation(e.Conversation) != nil || !validID(e.Conversation) {
		return errors.New("the id of the conversation is taken or not one")
	}
	parent := s.Conversation(b.Parent)
	if len(s.conversations) > 0 && (parent == nil || !parent.covers(b.Context.Capabilities)) {
		return errors.New("the parent is not there or does not have the capabilities")
	}
	c := &Conversation{ID: e.Conversation, Parent: b.Parent, Context: b.Context, Opened: e.At, LastActive: e.At}
	for _, item := range b.History {
		c.record(item, e)
	}
	s.conversations = append(s.conversations, c)
	return nil
}

func (ConversationDestroyed) apply(s *State, e Event) error {
	c := s.edit(e.Conversation)
	if c == nil || c.Destroyed || c.turn != nil || c.Parent == "" {
		return errConversation
	}
	c.Destroyed = true
	return nil
}

func (b SubmissionQueued) apply(s *State, e Event) error {
	if b.Submission.ID != s.submissions+1 || e.Submission != b.Submission.ID {
		return errors.New("the number of the submission is not the next")
	}
	s.submissions++
	s.queue = append(s.queue, b.Submission)
	return nil
}

func (PlanDropped) apply(s *State, e Event) error {
	i := slices.IndexFunc(s.queue, func(q Submission) bool { return q.ID == e.Submission })
	if i < 0 {
		return errors.New("the submission does not wait")
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	return nil
}

func (b TaskStarted) apply(s *State, e Event) error {
	c := s.edit(e.Conversation)
	switch {
	case c == nil || c.Destroyed:
		return errConversation
	case s.task != nil || e.Task != s.tasks+1:
		return errTask
	}
	task := &Task{ID: e.Task, Conversation: c.ID, sampling: b.Continues == nil}
	switch {
	case b.Continues != nil:
		if len(s.stack) == 0 || c.turn == nil || s.stack[len(s.stack)-1].Caller != c.ID || s.awaited() != nil {
			return errFrame
		}
		for _, f := range s.stack[len(s.stack)-1].Frames {
			task.open = append(task.open, f.Call)
		}
		s.stack = s.stack[:len(s.stack)-1]
	case c.turn != nil || e.LogicalTurn != s.turns+1:
		return errors.New("the conversation has a logical turn, or the number of this one is not the next")
	default:
		outside := false
		if e.Frame != 0 {
			f := s.awaited()
			if f == nil || f.ID != e.Frame || f.Target != c.ID || f.Started {
				return errFrame
			}
			f.Started = true
		} else {
			if len(s.stack) > 0 || len(s.queue) == 0 || s.queue[0].ID != e.Submission {
				return errors.New("the submission is not the next")
			}
			outside = s.queue[0].Call != nil
			task.sampling = !outside
			s.queue = slices.Delete(s.queue, 0, 1)
		}
		s.turns++
		c.turn = &LogicalTurn{ID: e.LogicalTurn, Submission: e.Submission, Frame: e.Frame, Budget: b.Budget, Outside: outside}
	}
	s.tasks++
	s.task = task
	return nil
}

func (AgentMessageDelta) apply(s *State, e Event) error {
	_, err := s.working(e)
	return err
}

// working returns a copy of the conversation of the task that runs, which an event is about.
func (s *State) working(e Event) (*Conversation, error) {
	if s.task == nil || s.task.ID != e.Task || s.task.Conversation != e.Conversation {
		return nil, errTask
	}
	c := s.edit(e.Conversation)
	if c == nil || c.turn == nil {
		return nil, errConversation
	}
	return c, nil
}

func (c *Conversation) record(item Item, e Event) {
	c.history = &node{Entry: Entry{Item: item, Seq: e.Seq, At: e.At}, prev: c.history}
	c.LastActive = e.At
	if item.message() {
		c.Messages++
	}
}

func (b ItemRecorded) apply(s *State, e Event) error {
	c, err := s.working(e)
	if err != nil {
		return err
	}
	switch b.Kind {
	case UserMessage, Reasoning:
	case AgentMessage:
		c.turn.Message = b.Text()
	case ToolCall:
		s.task.open = append(s.task.open, b.Item)
		if counted(b.Item) {
			used := Usage{Calls: 1}
			s.usage.Add(used)
			c.Usage.Add(used)
			c.turn.Usage.Add(used)
		}
	case ToolOutput:
		i := slices.IndexFunc(s.task.open, func(call Item) bool { return call.CallID == b.CallID })
		if i < 0 {
			return errors.New("it is the output of a call that has one, or of none")
		}
		s.task.open = slices.Delete(s.task.open, i, i+1)
		s.task.sampling = len(s.task.open) == 0 && s.task.stop == nil // a task that is being stopped asks no model
	default:
		return errors.New("the kind of the item is none")
	}
	c.record(b.Item, e)
	return nil
}

func (b TokenCount) apply(s *State, e Event) error {
	c, err := s.working(e)
	if err != nil {
		return err
	}
	s.usage.Add(b.Usage)
	c.Usage.Add(b.Usage)
	c.turn.Usage.Add(b.Usage)
	c.turn.Samples++
	s.task.sampling = false
	return nil
}

// end ends the task that runs, and its logical turn where last is set.
func (s *State) end(e Event, last bool) error {
	c, err := s.working(e)
	switch {
	case err != nil:
		return err
	case last && len(s.task.open) > 0:
		return errors.New("a call has no output")
	case last:
		c.turn = nil
	}
	s.task = nil
	return nil
}

func (TaskComplete) apply(s *State, e Event) error {
	if err := s.end(e, true); err != nil {
		return err
	}
	s.edit(e.Conversation).LastActive = e.At
	return nil
}

func (TaskFailed) apply(s *State, e Event) error { return s.end(e, true) }

func (b TurnAborted) apply(s *State, e Event) error { return s.end(e, b.Reason != Replaced) }

func (b CallsDeferred) apply(s *State, e Event) error {
	c := s.edit(e.Conversation)
	if c == nil || c.turn == nil || s.task != nil || b.Batch.Caller != c.ID || len(b.Batch.Frames) == 0 {
		return errConversation
	}
	for _, f := range b.Batch.Frames {
		if f.ID != s.frames+1 || f.Result != nil || s.Conversation(f.Target) == nil {
			return errFrame
		}
		s.frames++
	}
	c.turn.Interrupts += len(b.Batch.Frames)
	s.stack = append(s.stack, cloneStack([]Batch{b.Batch})...)
	return nil
}

func (b FrameResolved) apply(s *State, e Event) error {
	for _, batch := range s.stack {
		for i := range batch.Frames {
			f := &batch.Frames[i]
			if f.ID != e.Frame || f.Result != nil {
				continue
			}
			c := s.edit(batch.Caller)
			if c == nil || c.turn == nil {
				return errConversation
			}
			result := b.Result
			f.Result = &result
			c.turn.Usage.Add(b.Result.Usage)
			return nil
		}
	}
	return errFrame
}

func (b CallsClosed) apply(s *State, e Event) error {
	c := s.edit(e.Conversation)
	if c == nil || s.task != nil || len(s.stack) == 0 || s.stack[len(s.stack)-1].Caller != c.ID || s.awaited() != nil {
		return errFrame
	}
	for _, output := range b.Outputs {
		c.record(output, e)
	}
	c.turn = nil
	s.stack = s.stack[:len(s.stack)-1]
	return nil
}

func (b StopRequested) apply(s *State, e Event) error {
	if s.task == nil || s.task.ID != e.Task {
		return errTask
	}
	asked := &stop{StopRequested: b}
	if call, ok := s.task.tool(); ok {
		asked.tool = call.CallID
	}
	if before := s.task.stop; before != nil {
		asked.tool = before.tool
	}
	s.task.stop = asked
	return nil
}

func (Recovered) apply(*State, Event) error { return nil }

// unfinished returns what shows that s is not a state between two steps, and an empty string where nothing does.
func (s *State) unfinished() string {
	if s.seq == 0 {
		return ""
	}
	if len(s.conversations) == 0 {
		return "there is no root conversation"
	}
	if s.task == nil {
		if len(s.stack) > 0 || len(s.queue) > 0 {
			return "something waits and nothing runs"
		}
		return ""
	}
	if _, runs := s.task.tool(); !runs && !s.task.sampling && s.task.stop == nil {
		return "the task that runs waits for nothing"
	}
	active := s.task.Conversation
	for i := len(s.stack) - 1; ; i-- {
		if c := s.Conversation(active); c == nil || c.turn == nil {
			return "a conversation of the chain has no logical turn"
		}
		if i < 0 {
			return ""
		}
		if f := s.stack[i].awaited(); f == nil || !f.Started || f.Target != active {
			return "a call does not wait for what is above it"
		}
		active = s.stack[i].Caller
	}
}
