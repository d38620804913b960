package session

import (
	"reflect"
	"time"

	"github.com/google/go-cmp/cmp"
)

// checkStep holds what is true of every step: it leaves the state that it is given as it was, and gives the same
// answer twice (I14).
func checkStep(t checker, before State, at time.Time, in Input, log []Event) {
	t.Helper()
	next, effects, events, err := Step(before, at, in)
	again, effectsAgain, eventsAgain, errAgain := Step(before, at, in)
	if !reflect.DeepEqual([]any{next, effects, events, err}, []any{again, effectsAgain, eventsAgain, errAgain}) {
		t.Fatalf("%T%+v gives different answers", in, in)
	}
	checkFold(t, before, log)
}

// checkFold holds that a state is the fold of its log.
func checkFold(t checker, s State, log []Event) {
	t.Helper()
	folded, err := Fold(log)
	if err != nil {
		t.Fatalf("the log does not fold: %v", err)
	}
	if !reflect.DeepEqual(folded, s) {
		t.Fatalf("the fold of the log is another state:\n%s", cmp.Diff(folded, s, cmp.Exporter(func(reflect.Type) bool { return true })))
	}
}

// checkState holds the invariants of a state and of the log that led to it. Their numbers are those of the
// specification, §4.3.
func checkState(t checker, s State, log []Event, effects []Effect) {
	t.Helper()
	checkFold(t, s, log)
	checkLog(t, s, log)

	if s.task == nil && (len(s.stack) > 0 || len(s.queue) > 0) {
		t.Fatalf("I7: nothing runs, and %d batches and %d submissions wait", len(s.stack), len(s.queue))
	}
	for i, b := range s.stack {
		f := b.awaited()
		if f == nil {
			t.Fatalf("I4: batch %d has all results and does not continue", i)
		}
		next := s.task.Conversation
		if i+1 < len(s.stack) {
			next = s.stack[i+1].Caller
		}
		if f.Target != next || !f.Started || f.Depth != i+1 {
			t.Fatalf("I4: the target of batch %d is %s, above it is %s", i, label(f.Target), label(next))
		}
		if s.task.Conversation == b.Caller {
			t.Fatalf("I5: %s is suspended and runs", label(b.Caller))
		}
	}
	if len(s.stack) > s.config.MaxInterruptChainDepth || s.live() > s.config.MaxConversations {
		t.Fatalf("I11: depth %d, %d conversations", len(s.stack), s.live())
	}
	if root := s.Root(); root.Destroyed || root.Parent != "" {
		t.Fatalf("I9: the root is gone")
	}

	var used Usage
	for c := range s.Conversations() {
		used.add(c.Usage)
		if c.Parent != "" && !s.Conversation(c.Parent).covers(c.Capabilities) {
			t.Fatalf("I8: %s may do more than what created it", label(c.ID))
		}
		checkHistory(t, s, c)
		if c.turn == nil {
			if s.suspended(c.ID) || s.task != nil && s.task.Conversation == c.ID {
				t.Fatalf("%s has no logical turn and is not idle", label(c.ID))
			}
			continue
		}
		if c.turn.Interrupts > s.config.MaxInterruptsPerTurn || c.turn.Samples > s.config.MaxSamplesPerTurn {
			t.Fatalf("I11: %s has %+v", label(c.ID), *c.turn)
		}
		if limit := c.turn.Budget.Calls; limit > 0 && c.turn.Usage.Calls > limit {
			t.Fatalf("I11: %s has used %d calls of %d", label(c.ID), c.turn.Usage.Calls, limit)
		}
		if limit := c.turn.Budget.Tokens; limit > 0 && c.turn.Usage.tokens() >= limit+tokensPerSample {
			t.Fatalf("I11: %s has used %d tokens of %d", label(c.ID), c.turn.Usage.tokens(), limit)
		}
	}
	if used != s.usage {
		t.Fatalf("I10: the conversations used %+v, the session %+v", used, s.usage)
	}
	for _, effect := range effects {
		if sample, ok := effect.(Sample); ok && len(unanswered(s.Conversation(sample.Conversation))) > 0 {
			t.Fatalf("I3: %s is sampled with an open call", label(sample.Conversation))
		}
	}
}

// unanswered returns the calls of a history without an output.
func unanswered(c *Conversation) map[string]bool {
	open := map[string]bool{}
	for _, item := range c.Items() {
		switch item.Kind {
		case ToolCall:
			open[item.CallID] = true
		case ToolOutput:
			delete(open, item.CallID)
		}
	}
	return open
}

// checkHistory holds that outputs follow their calls, one each (I2), that none is left when a conversation is idle
// (I7), and that what is counted is what conv.history shows (I12).
func checkHistory(t checker, s State, c *Conversation) {
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

// checkLog holds the grammar of tasks (I1, I6), the order of submissions (I13), the silence of tombstones (I15), and
// the sum of all responses (I10).
func checkLog(t checker, s State, log []Event) {
	t.Helper()
	var running TaskID
	var started SubmissionID
	var used Usage
	turns, answering := map[TurnID]Usage{}, map[FrameID]TurnID{}
	spend := func(turn TurnID, more Usage) {
		sum := turns[turn]
		sum.add(more)
		turns[turn] = sum
	}
	gone := map[string]bool{}
	for i, e := range log {
		if e.Seq != int64(i+1) || e.Session != s.id {
			t.Fatalf("I6: event %d of session %q has the number %d", i+1, e.Session, e.Seq)
		}
		if gone[e.Conversation] {
			t.Fatalf("I15: %s of %s, which is destroyed", e.Body.Type(), label(e.Conversation))
		}
		switch b := e.Body.(type) {
		case TaskStarted:
			if running != 0 {
				t.Fatalf("I1: task %d starts while %d runs", e.Task, running)
			}
			running = e.Task
			if b.Continues == nil {
				answering[e.Frame] = e.LogicalTurn
			}
			if b.Continues == nil && e.Frame == 0 {
				if e.Submission <= started {
					t.Fatalf("I13: submission %d starts after %d", e.Submission, started)
				}
				started = e.Submission
			}
			if e.Submission == 0 || e.LogicalTurn == 0 {
				t.Fatalf("I6: a task without a logical turn or a submission: %+v", e)
			}
		case AgentMessageDelta, ItemRecorded, TokenCount, TaskComplete, TaskFailed, TurnAborted:
			if e.Task != running || running == 0 {
				t.Fatalf("I6: %s of task %d while %d runs", b.Type(), e.Task, running)
			}
			switch b := b.(type) {
			case TokenCount:
				used.add(b.Usage)
				spend(e.LogicalTurn, b.Usage)
			case ItemRecorded:
				if b.Item.Kind == ToolCall && counted(b.Call) {
					used.Calls++
					spend(e.LogicalTurn, Usage{Calls: 1})
				}
			case TaskComplete, TaskFailed, TurnAborted:
				running = 0
			}
		case FrameResolved:
			if turn := answering[e.Frame]; turn != 0 { // it has started
				spend(e.LogicalTurn, turns[turn])
			}
		case ConversationDestroyed:
			gone[e.Conversation] = true
		}
	}
	if used != s.usage {
		t.Fatalf("I10: the responses used %+v, the session %+v", used, s.usage)
	}
	for c := range s.Conversations() {
		if c.turn != nil && c.turn.Usage != turns[c.turn.ID] {
			t.Fatalf("I10: the turn of %s and its calls used %+v, it counts %+v", label(c.ID), turns[c.turn.ID], c.turn.Usage)
		}
	}
}
