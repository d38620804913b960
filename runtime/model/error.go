package model

import (
	"fmt"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
)

// Code is why a model did not answer. Hosts may rely on the values.
type Code string

const (
	CodeConfiguration   Code = "model_configuration" // there is no key, no program, no script; or tools cannot be named
	CodeUnauthorized    Code = "model_unauthorized"  // the provider refuses the key
	CodeInvalidRequest  Code = "model_invalid_request"
	CodeUnknownModel    Code = "model_unknown" // the provider has no such model, or there is nothing at the address
	CodeRateLimited     Code = "model_rate_limited"
	CodeOverloaded      Code = "model_overloaded"
	CodeServer          Code = "model_server_error"
	CodeUnreachable     Code = "model_unreachable"      // no connection, or one that broke before the response began
	CodeStalled         Code = "model_stalled"          // nothing came for too long
	CodeCut             Code = "model_cut"              // the response ended before its end
	CodeTooLarge        Code = "model_too_large"        // the response is longer than may be read
	CodeInvalidResponse Code = "model_invalid_response" // the response is none of this interface, or none that may be given
	CodeRefused         Code = "model_refused"          // the provider withholds the response
	CodeProgram         Code = "model_program"          // the command failed
	CodeScript          Code = "model_script"           // the script has no answer
)

// Error is why a model did not answer, after all attempts.
type Error struct {
	Model      string // what the configuration calls it
	Code       Code
	Status     int           // of HTTP, or 0
	Message    string        // the provider's own message, or what happened; shortened, safe to show, without a key
	RetryAfter time.Duration // for how long the provider wants to be left alone, or 0
	Temporary  bool          // the same request may be answered later
	Streamed   bool          // pieces had been passed on, so that no further attempt was made
	Attempts   int           // how often it was asked
	Err        error         // the cause, or nil; not safe to show
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %s: %s", text.Quote(e.Model), e.Message)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP status %d)", e.Status)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, ", after %d attempts", e.Attempts)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }
