package process

import (
	"context"
	"errors"
	"fmt"
)

// A Kind classifies an [Error].
type Kind int

const (
	// BadArgument: the [Command] cannot be run as written.
	BadArgument Kind = iota + 1
	// NotFound: there is no such program.
	NotFound
	// NotExecutable: the file exists but cannot be run as a program.
	NotExecutable
	// Timeout: the time limit or the context's deadline passed.
	Timeout
	// Canceled: the context was canceled.
	Canceled
	// OutputTooLarge: the command printed more than [Limits] allows.
	OutputTooLarge
	// Signaled: another process ended the command by a signal, or, on Windows, an exception ended it.
	Signaled
	// IO: the operating system failed to start, feed, read or wait.
	IO
)

// Error is the only type of error that a [Runner] returns. Its text is safe to show; Stderr and Err are not.
type Error struct {
	Kind    Kind
	Command string // the command line: one line, shortened, safe to show
	Name    string // the program without its directory, safe to show
	Detail  string // the problem, safe to show
	Path    string // the directory that Detail is about, or empty
	Hint    string // advice, or empty
	Stderr  []byte // as in [Result]

	// Err is the cause, or nil: [context.DeadlineExceeded] for Timeout, [context.Canceled] and its cause for Canceled.
	Err error
}

// Error returns the command, the problem, the last line of standard error and the hint, in one line.
func (e *Error) Error() string {
	detail := e.Detail
	if e.Path != "" {
		detail += " (" + displayWord(e.Path) + ")"
	}
	return e.text(e.Command, detail)
}

// ForModel returns the text of Error without paths of this machine, except those that the command has printed: the
// program's name is in place of the command.
func (e *Error) ForModel() string { return e.text(e.Name, e.Detail) }

// text returns the command, the problem, the last line of standard error and the hint, without those that are empty.
func (e *Error) text(command, detail string) string {
	result := detail
	if command != "" {
		result = command + ": " + detail
	}
	if last := lastLine(e.Stderr); last != "" {
		result += " (last line on stderr: " + last + ")"
	}
	if e.Hint != "" {
		result += "; " + e.Hint
	}
	return result
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// The causes of the context of a run that was stopped.
var (
	errTimeLimit   = errors.New("time limit passed")
	errOutputLimit = errors.New("output limit passed")
)

func (c Command) failure(kind Kind, err error, detail, hint string) *Error {
	return &Error{Kind: kind, Command: c.display(), Name: c.name(), Detail: detail, Hint: hint, Err: err}
}

func (c Command) ioError(doing string, err error) *Error {
	return c.failure(IO, err, doing+": "+inline(err.Error(), maxReason), "")
}

// stopError returns the error for a run that was stopped because its context, run, has ended. run ends at its limits or
// with caller, which is the context of the caller. The cause alone does not tell which: caller may be the context of
// another run, whose limits have the same causes. If caller has ended with the cause of run, the error is about caller.
func (c Command) stopError(caller, run context.Context, limits Limits, stderr []byte) (e *Error) {
	cause := context.Cause(run)
	fromCaller := caller.Err() != nil && errors.Is(cause, context.Cause(caller))
	switch {
	case fromCaller && errors.Is(caller.Err(), context.DeadlineExceeded):
		e = c.failure(Timeout, context.DeadlineExceeded, "stopped because the time for the whole request was up", "ask for less, or allow the request more time")
	case fromCaller && errors.Is(caller.Err(), cause): // the caller gave no reason: the cause is only context.Canceled
		e = c.failure(Canceled, context.Canceled, "stopped because the request was canceled", "")
	case fromCaller:
		e = c.failure(Canceled, fmt.Errorf("%w: %w", context.Canceled, cause), "stopped because the request was canceled: "+inline(cause.Error(), maxReason), "")
	case errors.Is(cause, errOutputLimit):
		e = c.failure(OutputTooLarge, nil, "stopped because it printed more than "+byteCount(limits.Stdout), "ask it for less, or raise the output limit")
	default: // the time limit
		e = c.failure(Timeout, context.DeadlineExceeded, fmt.Sprintf("stopped because it did not finish within %s", limits.Timeout), "ask it for less, or raise the time limit")
	}
	e.Stderr = stderr
	return e
}

// byteCount returns n in MiB if it is a multiple of 1 MiB, otherwise in bytes.
func byteCount(n int64) string {
	if n > 0 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
