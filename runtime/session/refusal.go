package session

import (
	"strconv"
	"strings"
)

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
	CodeInvalidResponse  Code = "invalid_response"       // a response that no provider may give
)

// reasonNotFound is the reason, to the letter, for every id that addresses no conversation.
const reasonNotFound = "conversation not found"

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

// InputError is the error for an input that does not fit the state: one that comes too late, or a defect of the host.
type InputError struct {
	Task    TaskID // that the input was for
	Problem string
}

func (e *InputError) Error() string {
	if e.Task == 0 {
		return e.Problem
	}
	return "task " + strconv.Itoa(int(e.Task)) + ": " + e.Problem
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

// addressed returns the conversation with an id, in lower or upper case, or why there is none.
func (s State) addressed(id string) (*Conversation, *Refusal) {
	id = strings.ToLower(id)
	if !validID(id) {
		return nil, &Refusal{Code: CodeInvalidID, Reason: reasonNotFound}
	}
	c := s.Conversation(id)
	switch {
	case c == nil:
		return nil, &Refusal{Code: CodeNotFound, Reason: reasonNotFound}
	case c.Destroyed:
		return nil, &Refusal{Code: CodeDestroyed, Reason: reasonNotFound}
	}
	return c, nil
}

// free returns why a conversation cannot be a target of caller's calls while the chain is as it is, and nil where it
// can.
func (s State) free(caller, id string) *Refusal {
	switch {
	case id == caller:
		return &Refusal{Code: CodeSelf, Reason: "this is the calling conversation itself"}
	case s.suspended(id):
		return &Refusal{Code: CodeSuspended, Reason: "the conversation waits for the answer to a call of its own, which has led to this one"}
	}
	return nil
}

// validID reports whether an id is a UUID in lower case, in its canonical form.
func validID(id string) bool {
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return false
	}
	digits := strings.ReplaceAll(id, "-", "")
	return len(digits) == 32 && strings.Trim(digits, "0123456789abcdef") == ""
}
