package session

import "errors"

// Code is why a call, an input or a task did not do what was asked. Hosts and models may rely on the values.
type Code string

const (
	CodeInvalidArguments Code = "invalid_arguments"      // arguments that are wrong or missing, or name what is not there
	CodeInvalidID        Code = "invalid_id"             // an id that is no UUID
	CodeNotFound         Code = "not_found"              // an id of no conversation
	CodeDestroyed        Code = "destroyed"              // an id of a conversation that was destroyed
	CodeSelf             Code = "self"                   // a call that names the calling conversation
	CodeSuspended        Code = "suspended_in_chain"     // a call that names a conversation which waits for its answer
	CodeRoot             Code = "root"                   // the root cannot be destroyed
	CodeDepth            Code = "depth_exceeded"         // calls too deep, or too many of one response or logical turn
	CodeConversations    Code = "conversations_exceeded" // too many conversations that are not destroyed
	CodeBudget           Code = "budget_exceeded"        // nothing is left of a budget
	CodeSamples          Code = "samples_exceeded"       // of a logical turn
	CodeUnavailable      Code = "unavailable"            // a tool that the conversation does not have, or cannot give
	CodeUnreadableFile   Code = "unreadable_file"        // a file that a call names; a host gives it as Request.Refused
	CodeInterrupted      Code = "interrupted"            // a call that was ended before it had a result
	CodeFailed           Code = "failed"                 // of a call whose target failed
	CodeLate             Code = "late"                   // an input for what does not run, or is being stopped already
	CodeInvalidResponse  Code = "invalid_response"       // a response that no provider may give
)

// Refusal is why a call was refused without an effect, and so why [Remove], [Submit] or [Interrupt] were. As the output
// of a call it is the JSON object {"ok":false,"code":…,"reason":…} with the other fields that are set.
type Refusal struct {
	Code   Code   `json:"code"`
	Reason string `json:"reason"`
	Field  string `json:"field,omitempty"` // the argument that is wrong
	Depth  int    `json:"depth,omitempty"` // how deep the call would have been
	Count  int    `json:"count,omitempty"` // how many there would have been
	Max    int    `json:"max,omitempty"`   // how deep or how many are allowed
}

func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Reason }

// late returns the refusal of an input that nothing in the session is there for.
func late(reason string) *Refusal { return &Refusal{Code: CodeLate, Reason: reason} }

// CodeOf returns the code of the refusal in an error, and an empty one if there is none.
func CodeOf(err error) Code {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal.Code
	}
	return ""
}

// Status is how the logical turn that a call started has ended.
type Status string

const (
	StatusCompleted   Status = "completed"
	StatusNoMessage   Status = "no_message" // completed with an empty last message, or none
	StatusFailed      Status = "failed"
	StatusInterrupted Status = "interrupted"
	StatusDestroyed   Status = "destroyed"
)

// Result is what the output of a call of conv.create or conv.send is made from.
type Result struct {
	Status  Status  `json:"status"`
	Message string  `json:"message"` // the last assistant message of the logical turn, of any status
	Failure Failure `json:"error,omitzero"`
	Usage   Usage   `json:"usage"` // of the logical turn and of all that its calls started
}

// Note takes the next event of a logical turn, and reports whether it was the last one.
func (r *Result) Note(e Event) (ended bool) {
	switch e.Kind {
	case AgentMessage:
		r.Message = e.Text()
		return false
	case TaskComplete:
		r.Status = StatusCompleted
		if r.Message == "" {
			r.Status = StatusNoMessage
		}
	case TaskFailed:
		r.Status, r.Failure = StatusFailed, e.Failure
	case TurnAborted, CallsClosed, PlanDropped:
		if e.Reason == Replaced {
			return false
		}
		r.Status = StatusInterrupted
	default:
		return false
	}
	return true
}
