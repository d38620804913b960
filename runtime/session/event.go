package session

import (
	"time"

	"github.com/convtools/convtools/runtime/model"
)

// Event is one entry of the log. Fields of other kinds are zero. Seq counts from 1 without a gap. The events of a task:
//
//	TaskStarted (AgentMessageDelta | an item | TokenCount)* (TaskComplete | TaskFailed | TurnAborted)
//
// After a TurnAborted with the reason Replaced come a ConversationOpened for each conversation that the calls create, the
// tasks of the targets, and the task that continues the caller. Other events belong to no task and may come anywhere.
type Event struct {
	Seq          int64        `json:"seq"`
	At           time.Time    `json:"ts"`
	Session      string       `json:"session_id"`
	Conversation string       `json:"conversation_id"`
	Task         TaskID       `json:"task_id"`
	LogicalTurn  TurnID       `json:"logical_turn_id,omitempty"`
	Frame        FrameID      `json:"frame_id,omitempty"` // the call that the logical turn answers
	Submission   SubmissionID `json:"submission_id,omitempty"`
	Kind         model.Kind   `json:"type"` // one of those below, or the kind of the item that is added to the history

	Config    Config        `json:"config,omitzero"`
	Parent    string        `json:"parent_id,omitempty"`
	Context   Context       `json:"context,omitzero"`
	History   []Item        `json:"history,omitempty"` // of the root, from before the session
	Queued    Submission    `json:"submission,omitzero"`
	Continues *Continuation `json:"continues,omitempty"`
	Budget    Budget        `json:"budget,omitzero"`
	Item                    // the item that is recorded, without its kind; of a delta, the text alone
	Usage     Usage         `json:"usage,omitzero"`
	Last      *string       `json:"last_assistant_message,omitempty"`
	Failure   Failure       `json:"error,omitzero"`
	Reason    AbortReason   `json:"reason,omitempty"`
	Outputs   []Item        `json:"outputs,omitempty"`
	Stop
}

// The kinds of events, besides those of items. The comments name the fields that an event of the kind has.
const (
	SessionStarted        model.Kind = "session_started"        // the first event of a log, with the Config
	ConversationOpened    model.Kind = "conversation_opened"    // a new conversation, with Parent and Context; the root comes first, and may have a History
	ConversationDestroyed model.Kind = "conversation_destroyed" // leaves a tombstone
	SubmissionQueued      model.Kind = "submission_queued"      // puts the submission Queued at the end of the queue
	PlanDropped           model.Kind = "plan_dropped"           // a submission never starts: its conversation was destroyed, or the submission was interrupted
	TaskStarted           model.Kind = "task_started"           // a task with a new logical turn and its Budget, or a task that Continues a logical turn
	AgentMessageDelta     model.Kind = "agent_message_delta"    // a piece of a message that the model is writing
	TokenCount            model.Kind = "token_count"            // the Usage of a response, after its items
	TaskComplete          model.Kind = "task_complete"          // ends a task and its logical turn; Last is the last assistant message of the turn, maybe empty
	TaskFailed            model.Kind = "task_failed"            // ends a task and its logical turn by a Failure
	TurnAborted           model.Kind = "turn_aborted"           // ends a task: Replaced puts its open calls on the stack as a batch, Interrupted ends the logical turn
	CallsClosed           model.Kind = "calls_closed"           // ends the logical turn of a caller whose chain is interrupted, with the Outputs of its batch
	StopRequested         model.Kind = "stop_requested"         // asks the running task to end once nothing of it runs any more, together with what is in its Stop
	Recovered             model.Kind = "recovered"              // a new process took the session over; the deltas of an unfinished response are void
)

// Stop is what ends together with a task.
type Stop struct {
	Chain   bool `json:"chain,omitempty"`   // everything on the stack
	Destroy bool `json:"destroy,omitempty"` // its conversation
}

// Continuation is the task that a task continues: calls of the same logical turn replaced it.
type Continuation struct {
	Task  TaskID   `json:"task_id"`
	Calls []string `json:"call_ids,omitempty"` // their ids, in the order of the response
}

// AbortReason is why a task ended without an answer.
type AbortReason string

const (
	Replaced    AbortReason = "replaced"
	Interrupted AbortReason = "interrupted"
)

// Failure is why a task failed.
type Failure struct {
	Code    Code   `json:"code"` // one of this package, or of package model
	Message string `json:"message"`
}

// Recorded returns the item that an event adds to the history of its conversation.
func (e Event) Recorded() Item {
	e.Item.Kind = e.Kind
	return e.Item
}

// record emits the event that adds an item to the history of a conversation.
func (d *decision) record(conversation string, item Item) {
	e := Event{Kind: item.Kind, Item: item}
	e.Item.Kind = "" // the kind of the event says it
	d.emit(conversation, e)
}
