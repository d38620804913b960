package model

import (
	"fmt"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
)

// Code says why a model did not answer. Hosts may rely on the values.
type Code string

const (
	CodeConfiguration   Code = "model_configuration" // no key, program or script, or a tool without a possible name
	CodeUnauthorized    Code = "model_unauthorized"  // the provider refused the key
	CodeInvalidRequest  Code = "model_invalid_request"
	CodeUnknownModel    Code = "model_unknown" // the provider has no such model or no such path
	CodeRateLimited     Code = "model_rate_limited"
	CodeOverloaded      Code = "model_overloaded"
	CodeServer          Code = "model_server_error"
	CodeUnreachable     Code = "model_unreachable"      // no connection, or it broke before the response
	CodeStalled         Code = "model_stalled"          // a timeout
	CodeCut             Code = "model_cut"              // the response is incomplete
	CodeTooLarge        Code = "model_too_large"        // the response exceeds a limit of ours
	CodeInvalidResponse Code = "model_invalid_response" // the response violates its interface
	CodeRefused         Code = "model_refused"          // the provider withheld the response
	CodeProgram         Code = "model_program"          // the command failed
	CodeScript          Code = "model_script"           // the script has no response
)

// Error is the error of a model after its last attempt.
type Error struct {
	Model      string // the name in the configuration
	Code       Code
	Status     int           // the HTTP status, or 0
	Message    string        // safe to show: short, without a key
	RetryAfter time.Duration // the time to wait that the provider asks for, or 0
	Temporary  bool          // the same request may succeed later
	Attempts   int
}

func (e *Error) Error() string {
	s := fmt.Sprintf("model %s: %s", text.Quote(e.Model), e.Message)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP status %d)", e.Status)
	}
	if e.Attempts > 1 {
		s += fmt.Sprintf(", after %d attempts", e.Attempts)
	}
	return s
}
