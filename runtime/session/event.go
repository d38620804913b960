package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/convtools/convtools/runtime/model"
)

// Event is one entry of the log. Seq counts from 1 without a gap over the session. Ids that do not apply are
// zero.
type Event struct {
	Seq          int64        `json:"seq"`
	At           time.Time    `json:"ts"`
	Session      string       `json:"session_id"`
	Conversation string       `json:"conversation_id"`
	Task         TaskID       `json:"task_id"`
	LogicalTurn  TurnID       `json:"logical_turn_id,omitempty"`
	Frame        FrameID      `json:"frame_id,omitempty"`
	Submission   SubmissionID `json:"submission_id,omitempty"`
	Body         Body         `json:"-"` // in JSON its type, and its fields beside those above
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
		Config Config `json:"config"`
	}
	// ConversationOpened is a new conversation, of an id and a parent and with a context. The first one is the root, which
	// may have a history from before the session.
	ConversationOpened struct {
		Parent  string  `json:"parent_id,omitempty"`
		Context Context `json:"context"`
		History []Item  `json:"history,omitempty"`
	}
	// ConversationDestroyed leaves a tombstone.
	ConversationDestroyed struct{}

	// SubmissionQueued is input from outside, at the end of the queue.
	SubmissionQueued struct {
		Submission Submission `json:"submission"`
	}
	// PlanDropped is a submission that is not going to start, since its conversation was destroyed, or it was
	// interrupted.
	PlanDropped struct{}

	// TaskStarted is a task that waits for the model. It has a new logical turn with a budget, or continues one.
	TaskStarted struct {
		Continues *Continuation `json:"continues,omitempty"`
		Budget    Budget        `json:"budget,omitzero"`
	}
	// AgentMessageDelta is a piece of a message that is being written.
	AgentMessageDelta struct {
		Text string `json:"text"`
	}
	// ItemRecorded is an item at the end of the history.
	ItemRecorded struct{ Item }
	// TokenCount is the usage of a response, after its items.
	TokenCount struct {
		Usage Usage `json:"usage"`
	}
	// TaskComplete is the end of a task and of its logical turn, with the last assistant message of that.
	TaskComplete struct {
		LastAssistantMessage string `json:"last_assistant_message"`
	}
	// TaskFailed is the end of a task and of its logical turn by an error.
	TaskFailed struct {
		Failure Failure `json:"error"`
	}
	// TurnAborted is the end of a task by a call (Replaced) or from outside (Interrupted).
	TurnAborted struct {
		Reason AbortReason `json:"reason"`
	}

	// CallsDeferred is the calls of the response that replaced the task, as frames on the stack.
	CallsDeferred struct {
		Batch Batch `json:"batch"`
	}
	// FrameResolved is the result of the call that Event.Frame names, before its caller has it.
	FrameResolved struct {
		Result Result `json:"result"`
	}
	// CallsClosed is the outputs of a batch whose caller does not continue, since the chain was interrupted. It ends the
	// logical turn of the caller.
	CallsClosed struct {
		Outputs []Item `json:"outputs"`
	}

	// StopRequested is a task that ends as soon as nothing of it runs any more.
	StopRequested struct {
		Chain   bool `json:"chain,omitempty"`   // and all that waits for it
		Expired bool `json:"expired,omitempty"` // since its time is up
		Destroy bool `json:"destroy,omitempty"` // and then its conversation
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
func (e ItemRecorded) Type() string        { return string(e.Kind) }
func (TokenCount) Type() string            { return "token_count" }
func (TaskComplete) Type() string          { return "task_complete" }
func (TaskFailed) Type() string            { return "task_failed" }
func (TurnAborted) Type() string           { return "turn_aborted" }
func (CallsDeferred) Type() string         { return "calls_deferred" }
func (FrameResolved) Type() string         { return "frame_resolved" }
func (CallsClosed) Type() string           { return "calls_closed" }
func (StopRequested) Type() string         { return "stop_requested" }
func (Recovered) Type() string             { return "recovered" }

// MarshalJSON writes an event as one flat object: the fields of Event, the type, the fields of the body.
func (e Event) MarshalJSON() ([]byte, error) {
	type plain Event // without this method
	var b bytes.Buffer
	body := e.Body
	if recorded, ok := body.(ItemRecorded); ok {
		recorded.Kind = "" // it is the type
		body = recorded
	}
	for _, part := range []any{plain(e), struct {
		Type string `json:"type"`
	}{e.Body.Type()}, body} {
		if err := appendFields(&b, part); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// appendFields appends the fields of a struct to an object that is still open.
func appendFields(b *bytes.Buffer, part any) error {
	text, err := encode(part)
	if err != nil || text == "{}" {
		return err
	}
	if b.Len() > 0 {
		text = "," + text[1:]
	}
	b.WriteString(text[:len(text)-1])
	return nil
}

// UnmarshalJSON reads what MarshalJSON has written.
func (e *Event) UnmarshalJSON(text []byte) error {
	type plain Event
	var head struct {
		plain
		Type string `json:"type"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	*e = Event(head.plain)
	body, err := bodyOf(head.Type, text)
	if err != nil {
		return fmt.Errorf("event %d (%s): %w", e.Seq, head.Type, err)
	}
	e.Body = body
	return nil
}

// bodyOf reads the body of an event of a type.
func bodyOf(name string, text []byte) (Body, error) {
	switch name {
	case string(UserMessage), string(AgentMessage), string(Reasoning), string(ToolCall), string(ToolOutput):
		var item Item
		err := json.Unmarshal(text, &item)
		item.Kind = model.Kind(name)
		return ItemRecorded{item}, err
	}
	for _, read := range []func(string, []byte) (Body, error){
		bodyIn[SessionStarted], bodyIn[ConversationOpened], bodyIn[ConversationDestroyed], bodyIn[SubmissionQueued], bodyIn[PlanDropped],
		bodyIn[TaskStarted], bodyIn[AgentMessageDelta], bodyIn[TokenCount], bodyIn[TaskComplete], bodyIn[TaskFailed], bodyIn[TurnAborted],
		bodyIn[CallsDeferred], bodyIn[FrameResolved], bodyIn[CallsClosed], bodyIn[StopRequested], bodyIn[Recovered],
	} {
		if body, err := read(name, text); body != nil {
			return body, err
		}
	}
	return nil, errors.New("it is of no type that is known")
}

// bodyIn reads a body of one type, and returns nil where an event is of another one.
func bodyIn[B Body](name string, text []byte) (Body, error) {
	var body B
	if body.Type() != name {
		return nil, nil
	}
	err := json.Unmarshal(text, &body)
	return body, err
}

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
