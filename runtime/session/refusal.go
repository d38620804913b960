package session

import "errors"

// Code is why a call, an input or a task failed. Hosts and models may rely on the values.
type Code string

const (
	CodeInvalidArguments Code = "invalid_arguments" // an argument is wrong or missing, or names something unknown
	CodeInvalidID        Code = "invalid_id"
	CodeNotFound         Code = "not_found"
	CodeDestroyed        Code = "destroyed"
	CodeSelf             Code = "self"               // a call names the calling conversation
	CodeSuspended        Code = "suspended_in_chain" // a call names a conversation that waits for its answer
	CodeRoot             Code = "root"
	CodeDepth            Code = "depth_exceeded" // calls are too deep, or too many for a response or a logical turn
	CodeConversations    Code = "conversations_exceeded"
	CodeBudget           Code = "budget_exceeded"  // nothing is left of a budget
	CodeSamples          Code = "samples_exceeded" // a logical turn or a submission has had its samples
	CodeUnavailable      Code = "unavailable"      // the conversation does not have the tool, or cannot give it
	CodeUnreadableFile   Code = "unreadable_file"  // a file that a call names cannot be read; set by hosts
	CodeInterrupted      Code = "interrupted"      // a call ended before it had a result
	CodeFailed           Code = "failed"           // the target of a call failed
	CodeLate             Code = "late"             // an input is for work that does not run, or is being stopped already
	CodeInvalidResponse  Code = "invalid_response"
)

// Refusal is why a call or an input was refused. It had no effect.
type Refusal struct {
	Code   Code   `json:"code"`
	Reason string `json:"reason"`
	Field  string `json:"field,omitempty"` // the wrong argument
	Depth  int    `json:"depth,omitempty"` // the depth that the call would have had
	Count  int    `json:"count,omitempty"` // the number of calls or conversations that there would have been
	Max    int    `json:"max,omitempty"`   // the greatest depth or number that is allowed
}

func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Reason }

// late returns the refusal of an input with the code late.
func late(reason string) *Refusal { return &Refusal{Code: CodeLate, Reason: reason} }

// CallInterrupted returns the refusal of a call that ended before it had a result.
func CallInterrupted() *Refusal {
	return &Refusal{Code: CodeInterrupted, Reason: "the call was interrupted before it had a result"}
}

// CodeOf returns the code of the refusal that an error wraps, and an empty code for another error.
func CodeOf(err error) Code {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal.Code
	}
	return ""
}

// Status is how a logical turn ended.
type Status string

const (
	StatusCompleted   Status = "completed"
	StatusNoMessage   Status = "no_message" // completed without a message, or with an empty last one
	StatusFailed      Status = "failed"
	StatusInterrupted Status = "interrupted"
	StatusDestroyed   Status = "destroyed"
)

// Result is how a logical turn ended, for the call or the submission that it answers.
type Result struct {
	Status  Status
	Message string // the last assistant message, whatever the status
	Failure Failure
	Usage   Usage // with that of the logical turns that its calls started
}

// Apply adds the next event of a logical turn to the result, except for Usage. It reports whether the turn has ended.
func (r *Result) Apply(e Event) (ended bool) {
	switch e.Kind {
	case AgentMessage:
		r.Message = e.Text()
	case TaskComplete:
		r.Status = StatusCompleted
		if r.Message == "" {
			r.Status = StatusNoMessage
		}
	case TaskFailed:
		r.Status, r.Failure = StatusFailed, e.Failure
	case TurnAborted, CallsClosed, PlanDropped:
		if e.Reason != Replaced { // otherwise another task continues the turn
			r.Status = StatusInterrupted
		}
	}
	return r.Status != ""
}
