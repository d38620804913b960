package session

import (
	"fmt"
	"time"
)

// Event is one entry of the log. Seq counts from 1 without a gap over the session. Ids that do not apply are
// zero.
type Event struct {
	Seq          int64
	At           time.Time
	Session      string
	Conversation string
	Task         TaskID
	LogicalTurn  TurnID
	Frame        FrameID
	Submission   SubmissionID
	Body         Body
}

// Body is what an event reports. Of one task, the events are
//
//	TaskStarted (AgentMessageDelta | ItemRecorded | TokenCount)* (TaskComplete | TaskFailed | TurnAborted)
//
// A TurnAborted with the reason Replaced is followed by ConversationOpened for each conversation that the calls
// create, by one CallsDeferred, by the tasks of the targets, and by the continuation of the caller. The other
// events belong to no task and may come between those of one.
type Body interface {
	// Type is the name of the kind of event.
	Type() string
	apply(*State, Event) error
}

type (
	// SessionStarted is the first event of a log.
	SessionStarted struct {
		ID     string
		Config Config
	}
	// ConversationOpened is a new conversation, of an id and a parent and with a context. The first one is the root, which
	// may have a history from before the session.
	ConversationOpened struct {
		Parent  string
		Context Context
		History []Item
	}
	// ConversationDestroyed leaves a tombstone.
	ConversationDestroyed struct{}

	// SubmissionQueued is input from outside, at the end of the queue.
	SubmissionQueued struct{ Submission Submission }
	// PlanDropped is a submission that is not going to start, since its conversation was destroyed, or it was
	// interrupted.
	PlanDropped struct{}

	// TaskStarted is a task that waits for the model. It has a new logical turn with a budget, or continues one.
	TaskStarted struct {
		Continues *Continuation
		Budget    Budget
	}
	// AgentMessageDelta is a piece of a message that is being written.
	AgentMessageDelta struct{ Text string }
	// ItemRecorded is an item at the end of the history. Call is set for one of the kind ToolCall.
	ItemRecorded struct {
		Item Item
		Call Call
	}
	// TokenCount is the usage of a response, after its items.
	TokenCount struct{ Usage Usage }
	// TaskComplete is the end of a task and of its logical turn, with the last assistant message of that.
	TaskComplete struct{ LastAssistantMessage string }
	// TaskFailed is the end of a task and of its logical turn by an error.
	TaskFailed struct{ Failure Failure }
	// TurnAborted is the end of a task by a call (Replaced) or from outside (Interrupted).
	TurnAborted struct{ Reason AbortReason }

	// CallsDeferred is the calls of the response that replaced the task, as frames on the stack.
	CallsDeferred struct{ Batch Batch }
	// FrameResolved is the result of the call that Event.Frame names, before its caller has it.
	FrameResolved struct{ Result Result }
	// CallsClosed is the outputs of a batch whose caller does not continue: the chain was interrupted, or the caller
	// destroyed. It ends the logical turn of the caller.
	CallsClosed struct{ Outputs []Item }

	// StopRequested is a task that ends as soon as nothing of it runs any more.
	StopRequested struct {
		Chain   bool     // and all that waits for it
		Expired bool     // since its time is up
		Destroy []string // and then these conversations, which run or are suspended
	}
	// Recovered is where the session went on after its process had ended. What the model had written of a response, as
	// AgentMessageDelta, is void.
	Recovered struct{}
)

// Continuation is what a task continues: one of the same logical turn that calls have replaced.
type Continuation struct {
	Task  TaskID   `json:"task_id"`
	Calls []string `json:"call_ids,omitempty"` // their ids, in the order of the response
}

// AbortReason is why a task ended before its logical turn was answered.
type AbortReason string

const (
	Replaced    AbortReason = "replaced"
	Interrupted AbortReason = "interrupted"
)

// Failure is why a task failed.
type Failure struct {
	Code    Code   `json:"code"` // one of this package or of a model provider
	Message string `json:"message"`
}

func (SessionStarted) Type() string        { return "session_started" }
func (ConversationOpened) Type() string    { return "conversation_opened" }
func (ConversationDestroyed) Type() string { return "conversation_destroyed" }
func (SubmissionQueued) Type() string      { return "submission_queued" }
func (PlanDropped) Type() string           { return "plan_dropped" }
func (TaskStarted) Type() string           { return "task_started" }
func (AgentMessageDelta) Type() string     { return "agent_message_delta" }
func (e ItemRecorded) Type() string        { return string(e.Item.Kind) }
func (TokenCount) Type() string            { return "token_count" }
func (TaskComplete) Type() string          { return "task_complete" }
func (TaskFailed) Type() string            { return "task_failed" }
func (TurnAborted) Type() string           { return "turn_aborted" }
func (CallsDeferred) Type() string         { return "calls_deferred" }
func (FrameResolved) Type() string         { return "frame_resolved" }
func (CallsClosed) Type() string           { return "calls_closed" }
func (StopRequested) Type() string         { return "stop_requested" }
func (Recovered) Type() string             { return "recovered" }

// LogError is the error for events that no Step has written in this order.
type LogError struct {
	Seq     int64
	Type    string
	Problem string
}

func (e *LogError) Error() string {
	if e.Type == "" {
		return fmt.Sprintf("event %d is missing or damaged: %s", e.Seq, e.Problem)
	}
	return fmt.Sprintf("event %d (%s) does not follow from those before it: %s", e.Seq, e.Type, e.Problem)
}
