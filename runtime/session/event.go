package session

import (
	"fmt"
	"time"

	"github.com/convtools/convtools/runtime/model"
)

// Event is one entry of the log, as flat in memory as it is in JSON. Seq counts from 1 without a gap over the session.
// What does not belong to an event of its kind is zero. Of one task, the events are
//
//	TaskStarted (AgentMessageDelta | an item | TokenCount)* (TaskComplete | TaskFailed | TurnAborted)
//
// A TurnAborted with the reason Replaced is followed by ConversationOpened for each conversation that the calls
// create, by one CallsDeferred, by the tasks of the targets, and by the continuation of the caller. The other
// events belong to no task and may come between those of one.
type Event struct {
	Seq          int64        `json:"seq"`
	At           time.Time    `json:"ts"`
	Session      string       `json:"session_id"`
	Conversation string       `json:"conversation_id"`
	Task         TaskID       `json:"task_id"`
	LogicalTurn  TurnID       `json:"logical_turn_id,omitempty"`
	Frame        FrameID      `json:"frame_id,omitempty"`
	Submission   SubmissionID `json:"submission_id,omitempty"`
	Kind         model.Kind   `json:"type"` // one of those below, or that of an item at the end of the history

	Config    Config        `json:"config,omitzero"`
	Parent    string        `json:"parent_id,omitempty"`
	Context   Context       `json:"context,omitzero"`
	History   []Item        `json:"history,omitempty"` // of the root, from before the session
	Queued    Submission    `json:"submission,omitzero"`
	Continues *Continuation `json:"continues,omitempty"`
	Budget    Budget        `json:"budget,omitzero"`
	Item                    // without its kind; of a piece of a message, the text
	Usage     Usage         `json:"usage,omitzero"`
	Last      *string       `json:"last_assistant_message,omitempty"`
	Failure   Failure       `json:"error,omitzero"`
	Reason    AbortReason   `json:"reason,omitempty"`
	Batch     Batch         `json:"batch,omitzero"`
	Result    Result        `json:"result,omitzero"`
	Outputs   []Item        `json:"outputs,omitempty"`
	Stop
}

// The kinds of events, besides those of items.
const (
	// SessionStarted is the first event of a log, with the Config.
	SessionStarted model.Kind = "session_started"
	// ConversationOpened is a new conversation, with Parent and Context. The first one is the root, which may have a
	// History.
	ConversationOpened model.Kind = "conversation_opened"
	// ConversationDestroyed leaves a tombstone.
	ConversationDestroyed model.Kind = "conversation_destroyed"
	// SubmissionQueued is input from outside, Queued, at the end of the queue.
	SubmissionQueued model.Kind = "submission_queued"
	// PlanDropped is a submission that is not going to start: its conversation was destroyed, or it was interrupted.
	PlanDropped model.Kind = "plan_dropped"
	// TaskStarted is a task that waits for the model. It has a new logical turn with a Budget, or Continues one.
	TaskStarted model.Kind = "task_started"
	// AgentMessageDelta is a piece of a message that is being written.
	AgentMessageDelta model.Kind = "agent_message_delta"
	// TokenCount is the Usage of a response, after its items.
	TokenCount model.Kind = "token_count"
	// TaskComplete is the end of a task and of its logical turn, with the Last assistant message of that.
	TaskComplete model.Kind = "task_complete"
	// TaskFailed is the end of a task and of its logical turn by a Failure.
	TaskFailed model.Kind = "task_failed"
	// TurnAborted is the end of a task by a call (Replaced) or from outside (Interrupted), which is the Reason.
	TurnAborted model.Kind = "turn_aborted"
	// CallsDeferred is the calls of the response that replaced the task, as a Batch on the stack.
	CallsDeferred model.Kind = "calls_deferred"
	// FrameResolved is the Result of the call that Frame names, before its caller has it.
	FrameResolved model.Kind = "frame_resolved"
	// CallsClosed is the Outputs of a batch whose caller does not continue, since the chain was interrupted. It ends the
	// logical turn of the caller.
	CallsClosed model.Kind = "calls_closed"
	// StopRequested is a task that ends as soon as nothing of it runs any more, and what is to Stop with it.
	StopRequested model.Kind = "stop_requested"
	// Recovered is where the session went on after its process had ended. What the model had written of a response, as
	// AgentMessageDelta, is void.
	Recovered model.Kind = "recovered"
)

// Stop is what ends with a task, and why.
type Stop struct {
	Chain   bool `json:"chain,omitempty"`   // all that waits for it ends too
	Expired bool `json:"expired,omitempty"` // its time is up
	Destroy bool `json:"destroy,omitempty"` // its conversation is destroyed
}

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

// recorded is the event of an item at the end of a history.
func recorded(item Item) Event {
	e := Event{Kind: item.Kind, Item: item}
	e.Item.Kind = ""
	return e
}

// Recorded returns the item that an event records.
func (e Event) Recorded() Item {
	item := e.Item
	item.Kind = e.Kind
	return item
}

// LogError is the error for events that no Step has written in this order.
type LogError struct {
	Seq     int64
	Problem string
}

func (e *LogError) Error() string {
	return fmt.Sprintf("event %d does not follow from those before it: %s", e.Seq, e.Problem)
}
