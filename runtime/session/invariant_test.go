package session

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
)

// checkStep holds what is true of every step: it leaves the state that it is given as it was, and gives the same
// answer twice (I14).
func checkStep(t checker, before State, at time.Time, in Input, log []Event) {
	t.Helper()
	next, events, err := Step(before, at, in)
	again, eventsAgain, errAgain := Step(before, at, in)
	if !reflect.DeepEqual([]any{next, events, err}, []any{again, eventsAgain, errAgain}) {
		t.Fatalf("%T%+v gives different answers", in, in)
	}
	checkFold(t, before, log)
}

// checkFold holds that a state is the fold of its log.
func checkFold(t checker, s State, log []Event) {
	t.Helper()
	folded, err := State{}.Apply(log)
	if err != nil {
		t.Fatalf("the log does not fold: %v", err)
	}
	if !reflect.DeepEqual(folded, s) {
		t.Fatalf("the fold of the log is another state:\n%s", cmp.Diff(folded, s, cmp.Exporter(func(reflect.Type) bool { return true })))
	}
}

// checkState holds the invariants of a state and of the whole log that led to it:
//
//	I1   at most one task runs
//	I2   a call has at most one output, and one when its conversation is sampled again
//	I3   no conversation with an open call is sampled
//	I4   the batch at the top of the stack alone goes on, and its caller when all its frames have results
//	I5   a suspended conversation does not run
//	I6   the events of a task follow the grammar of [Event], and are numbered without a gap
//	I7   when nothing runs and nothing waits, the stack is empty and no call is open
//	I8   a conversation may do no more than the one that created it
//	I9   the root is there
//	I10  what a tree has used is the sum of its responses
//	I11  no limit and no budget is exceeded
//	I12  conv.list and conv.history show what the log has
//	I13  submissions start in their order, each at some time
//	I14  a part of the log can be recovered from, and the same log leads to the same state
//	I15  a conversation that is destroyed gets no more events
func checkState(t checker, s State, log []Event) {
	t.Helper()
	checkFold(t, s, log)
	checkAudited(t, s, audit{}.with(t, log))
	for c := range s.Conversations() {
		checkHistory(t, c)
	}
}

// checkAudited holds the invariants of a state, with what is to be known of the log that led to it.
func checkAudited(t checker, s State, a audit) {
	t.Helper()
	if a.session != s.id || a.seq != s.seq {
		t.Fatalf("I6: the log has %d events of session %q, the state %d of %q", a.seq, a.session, s.seq, s.id)
	}
	if work := s.Work(); (work == nil) != (a.running == 0) || work != nil && work.Task != a.running {
		t.Fatalf("I1: task %d runs according to the log, %+v in the state", a.running, work)
	}
	if s.task == nil && (len(s.stack) > 0 || len(s.queue) > 0) {
		t.Fatalf("I7: nothing runs, and %d batches and %d submissions wait", len(s.stack), len(s.queue))
	}
	for i, b := range s.stack {
		below := State{stack: s.stack[:i+1]}
		f := below.awaited()
		if f == nil {
			t.Fatalf("I4: batch %d has all results and does not continue", i)
		}
		next := s.task.conversation
		if i+1 < len(s.stack) {
			next = s.stack[i+1].caller
		}
		if answers := s.Conversation(next).turn.frame; f.call.Target() != next || answers != f.id {
			t.Fatalf("I4: frame %d of batch %d asks %s, above it is %s for frame %d", f.id, i, label(f.call.Target()), label(next), answers)
		}
		if s.task.conversation == b.caller {
			t.Fatalf("I5: %s is suspended and runs", label(b.caller))
		}
	}
	if len(s.stack) > s.config.MaxInterruptChainDepth || s.liveCount() > s.config.MaxConversations {
		t.Fatalf("I11: depth %d, %d conversations", len(s.stack), s.liveCount())
	}
	if root := s.Root(); root.Destroyed || root.Parent != "" {
		t.Fatalf("I9: the root is gone")
	}

	for c := range s.Conversations() {
		logged := a.of[c.ID]
		if c.Parent != "" && !s.Conversation(c.Parent).covers(c.Capabilities) {
			t.Fatalf("I8: %s may do more than what created it", label(c.ID))
		}
		if logged.messages != c.Messages || logged.gone != c.Destroyed {
			t.Fatalf("I12: %s has %d messages in the log and counts %d; destroyed: %v, %v", label(c.ID), logged.messages, c.Messages, logged.gone, c.Destroyed)
		}
		if c.turn == nil {
			if s.suspended(c.ID) || s.task != nil && s.task.conversation == c.ID {
				t.Fatalf("%s has no logical turn and is not idle", label(c.ID))
			}
			if len(logged.open) > 0 {
				t.Fatalf("I7: %s is idle with the open calls %v", label(c.ID), logged.open)
			}
			continue
		}
		if most := s.config.MaxSamplesPerSubmission; most > 0 && s.task != nil && s.samplesOfSubmission() > int64(most) {
			t.Fatalf("I11: one input has cost %d requests of %d", s.samplesOfSubmission(), most)
		}
		if c.turn.interrupts > s.config.MaxInterruptsPerTurn || c.turn.samples > s.config.MaxSamplesPerTurn {
			t.Fatalf("I11: %s has %+v", label(c.ID), *c.turn)
		}
		if limit := c.turn.budget.Calls; limit > 0 && c.turn.usage.Calls > limit {
			t.Fatalf("I11: %s has used %d calls of %d", label(c.ID), c.turn.usage.Calls, limit)
		}
		if limit := c.turn.budget.Tokens; limit > 0 && c.turn.usage.tokens() >= limit+tokensPerSample {
			t.Fatalf("I11: %s has used %d tokens of %d", label(c.ID), c.turn.usage.tokens(), limit)
		}
		if c.turn.usage != logged.turn {
			t.Fatalf("I10: the turn of %s and its calls used %+v, it counts %+v", label(c.ID), logged.turn, c.turn.usage)
		}
	}
	if a.used != usageOf(s) {
		t.Fatalf("I10: the responses used %+v, the session %+v", a.used, usageOf(s))
	}
	if work := s.Work(); work != nil && work.Call == nil && len(a.of[work.Conversation.ID].open) > 0 {
		t.Fatalf("I3: %s is sampled with the open calls %v", label(work.Conversation.ID), a.of[work.Conversation.ID].open)
	}
}

// usageOf returns what all samples and calls of a session have used.
func usageOf(s State) (sum Usage) {
	for c := range s.Conversations() {
		sum.Add(c.Usage)
	}
	return sum
}

// checkHistory holds that outputs follow their calls, one each (I2), and that what is counted is what conv.history shows
// (I12).
func checkHistory(t checker, c *Conversation) {
	t.Helper()
	open, messages := map[string]bool{}, 0
	for _, item := range c.Items() {
		switch item.Kind {
		case ToolCall:
			open[item.CallID] = true
		case ToolOutput:
			if !open[item.CallID] {
				t.Fatalf("I2: %s has two outputs of %s", label(c.ID), item.CallID)
			}
			delete(open, item.CallID)
		default:
			if len(open) > 0 && item.Kind == UserMessage {
				t.Fatalf("I3: %s has a message after an open call", label(c.ID))
			}
		}
		if (item.Kind == UserMessage || item.Kind == AgentMessage) && item.Origin != FromHost {
			messages++
		}
	}
	if c.turn == nil && len(open) > 0 {
		t.Fatalf("I7: %s is idle with an open call", label(c.ID))
	}
	if messages != c.Messages {
		t.Fatalf("I12: %s counts %d messages and has %d", label(c.ID), c.Messages, messages)
	}
}

// audit is what is to be known of a log for the invariants of logs, without the log: so that they are held after each
// step of a long one.
type audit struct {
	session string
	seq     int64
	running TaskID
	started SubmissionID // the last one
	used    Usage        // by all responses
	of      map[string]audited
	chain   []string // the conversations that wait for an answer
}

// audited is what an audit knows of a conversation.
type audited struct {
	open     []string // calls without an output
	messages int
	gone     bool
	turn     Usage // by its last logical turn and what its calls started
}

// with returns the audit of a log that goes on with events. It holds the grammar of tasks (I1, I6), that calls have one
// output (I2), the order of submissions (I13) and the silence of tombstones (I15).
func (a audit) with(t checker, events []Event) audit {
	t.Helper()
	a.of, a.chain = maps.Clone(a.of), slices.Clone(a.chain)
	if a.of == nil {
		a.of = map[string]audited{}
	}
	for _, e := range events {
		if a.seq == 0 {
			a.session = e.Session
		}
		a.seq++
		if e.Seq != a.seq || e.Session != a.session {
			t.Fatalf("I6: event %d of session %q has the number %d", a.seq, e.Session, e.Seq)
		}
		c := a.of[e.Conversation]
		if c.gone {
			t.Fatalf("I15: %s of %s, which is destroyed", e.Kind, label(e.Conversation))
		}
		switch e.Kind {
		case TaskStarted:
			if a.running != 0 {
				t.Fatalf("I1: task %d starts while %d runs", e.Task, a.running)
			}
			a.running = e.Task
			switch {
			case e.Continues != nil:
				a.chain = a.chain[:len(a.chain)-1]
			case e.Frame == 0 && e.Submission <= a.started:
				t.Fatalf("I13: submission %d starts after %d", e.Submission, a.started)
			case e.Frame == 0:
				a.started = e.Submission
				fallthrough
			default:
				c.turn = Usage{}
			}
			if e.Submission == 0 || e.LogicalTurn == 0 {
				t.Fatalf("I6: a task without a logical turn or a submission: %+v", e)
			}
		case AgentMessageDelta, UserMessage, AgentMessage, Reasoning, ToolCall, ToolOutput, TokenCount, TaskComplete, TaskFailed, TurnAborted:
			if e.Task != a.running || a.running == 0 {
				t.Fatalf("I6: %s of task %d while %d runs", e.Kind, e.Task, a.running)
			}
			switch e.Kind {
			case TokenCount:
				a.used.Add(e.Usage)
				c.turn.Add(e.Usage)
			case UserMessage, AgentMessage, Reasoning, ToolCall, ToolOutput:
				if e.Kind == ToolCall && counted(e.Recorded()) {
					a.used.Calls++
					c.turn.Calls++
				}
				c.record(t, e, e.Recorded())
			case TaskComplete, TaskFailed, TurnAborted:
				a.running = 0
				if e.Reason == Replaced {
					a.chain = append(a.chain, e.Conversation)
				} else {
					a.answered(c)
				}
			}
		case CallsClosed:
			for _, output := range e.Outputs {
				c.record(t, e, output)
			}
			a.chain = a.chain[:len(a.chain)-1]
			a.answered(c)
		case ConversationDestroyed:
			c.gone = true
		}
		a.of[e.Conversation] = c
	}
	return a
}

// answered adds what a logical turn has used to that of the caller that waits for it.
func (a audit) answered(c audited) {
	if len(a.chain) > 0 {
		caller := a.of[a.chain[len(a.chain)-1]]
		caller.turn.Add(c.turn)
		a.of[a.chain[len(a.chain)-1]] = caller
	}
}

// record notes an item of the history.
func (c *audited) record(t checker, e Event, item Item) {
	t.Helper()
	switch item.Kind {
	case ToolCall:
		c.open = append(slices.Clip(c.open), item.CallID)
	case ToolOutput:
		i := slices.Index(c.open, item.CallID)
		if i < 0 {
			t.Fatalf("I2: %s has two outputs of %s, or one of no call", label(e.Conversation), item.CallID)
		}
		c.open = slices.Concat(c.open[:i], c.open[i+1:])
	case UserMessage:
		if len(c.open) > 0 {
			t.Fatalf("I3: %s has a message after the open calls %v", label(e.Conversation), c.open)
		}
	}
	if (item.Kind == UserMessage || item.Kind == AgentMessage) && item.Origin != FromHost {
		c.messages++
	}
}

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
	if s.task.ordinaryCall() == nil && len(s.task.open) > 0 {
		return "the task that runs waits for nothing"
	}
	active := s.task.conversation
	for i := len(s.stack) - 1; ; i-- {
		if c := s.Conversation(active); c == nil || c.turn == nil {
			return "a conversation of the chain has no logical turn"
		}
		if i < 0 {
			return ""
		}
		below := State{stack: s.stack[:i+1]}
		if f := below.awaited(); f == nil || f.call.Target() != active {
			return "a call does not wait for what is above it"
		}
		active = s.stack[i].caller
	}
}

// covers reports whether every tool of d is one of c.
func (c Capabilities) covers(d Capabilities) bool {
	for tool, has := range d.Internal {
		if has && !c.Internal[tool] {
			return false
		}
	}
	return !slices.ContainsFunc(d.MCP, func(given string) bool {
		return !slices.ContainsFunc(c.MCP, func(entry string) bool { return covers(entry, given) })
	})
}
