// Package cli is what the commands of a command line have in common: the output
// policy, arguments, help, manual pages and completion scripts.
//
// It never knows a tool, a family or a host by name, and reads and writes nothing
// but what commands print.
package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
)

// Output policy: results go to standard output and nothing else does. Standard
// error gets everything else, on lines that begin with what they are: "error: ",
// "cause: " for what is behind an error, "hint: " for what to do about it,
// "warning: " for what did not stop the command, and "note: ". Text that is not
// this program's own cannot drive a terminal or begin a line of its own.
//
// The exit code is 0 on success, 1 where something failed or nothing was found, 2 on
// wrong use, and 130 where a person stopped what was to be done.
//
// A command returns an error, and [Report] alone words it.
const (
	ExitOK     = 0
	ExitFailed = 1
	ExitUsage  = 2
	// ExitInterrupted is for work that a person stopped, as shells have it.
	ExitInterrupted = 130
)

// ErrInterrupted ends a command with [ExitInterrupted] that has said everything itself.
var ErrInterrupted = errors.New("interrupted")

// ErrFailed ends a command with exit code 1 that has said everything itself: what
// failed, or what it did not find.
var ErrFailed = errors.New("failed")

// usageError is an error in how the program was called.
type usageError struct {
	err     error
	command *cobra.Command // that was called, or nil
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// helpFor returns the command that shows how to use cmd.
func helpFor(cmd *cobra.Command) string {
	if cmd == nil {
		return "the help of the program"
	}
	name, below, _ := strings.Cut(cmd.CommandPath(), " ")
	return strings.TrimSpace(name + " help " + below)
}

// Usage returns an error in how the program was called: exit code 2. Without a
// [Hint], the hint is to see the help of the command that was called.
func Usage(err error) error { return &usageError{err: err} }

// Usagef is [Usage] of a formatted error.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

// Hint returns an error with advice on what to do about it, as the end of a line
// that begins with "hint: ".
func Hint(err error, hint string) error { return &hintError{err, hint} }

// Report writes an error that a command returned to stderr and returns the exit
// code. A reader that closed its end of a pipe early got all it wanted: that is
// no error.
func Report(stderr io.Writer, err error) int {
	var tool *contract.Error
	var arguments *contract.InvalidArguments
	var found interface{ Diagnostics() diag.List }
	switch {
	case err == nil || isClosedPipe(err):
		return ExitOK
	case errors.Is(err, ErrFailed):
		return ExitFailed
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	case errors.As(err, &tool):
		sayLines(stderr, tool.ForPerson())
	case errors.As(err, &arguments):
		sayLines(stderr, arguments.Error())
	case errors.As(err, &found):
		return reportFindings(stderr, found.Diagnostics())
	default:
		say(stderr, "error", err.Error())
	}
	var hint *hintError
	var usage *usageError
	isUsage := errors.As(err, &usage)
	switch {
	case errors.As(err, &hint):
		say(stderr, "hint", hint.hint)
	case isUsage:
		say(stderr, "hint", "see "+helpFor(usage.command))
	}
	if isUsage {
		return ExitUsage
	}
	return ExitFailed
}

// reportFindings writes what is wrong with a configuration. A finding about a flag
// names it as its file: where only flags are to blame, it is wrong use.
func reportFindings(stderr io.Writer, findings diag.List) int {
	code := ExitUsage
	for _, f := range findings {
		message := f.Message
		if f.Rule != "" {
			message += " [" + f.Rule + "]"
		}
		if f.File != "" {
			message = f.Place() + ": " + message
		}
		say(stderr, f.Severity.String(), message)
		if f.Hint != "" {
			say(stderr, "hint", f.Hint)
		}
		if f.Severity == diag.Error && !strings.HasPrefix(f.File, "-") {
			code = ExitFailed
		}
	}
	return code
}

// Warn writes a line about something that did not stop a command.
func Warn(stderr io.Writer, format string, args ...any) {
	say(stderr, "warning", fmt.Sprintf(format, args...))
}

// sayLines writes what a tool has to say about a failure, which may take several
// lines.
func sayLines(w io.Writer, message string) {
	_, _ = io.WriteString(w, "error: "+text.Visible(message)+"\n")
}

// say writes one line; there is nowhere to report an error to.
func say(w io.Writer, kind, message string) {
	_, _ = io.WriteString(w, kind+": "+text.Line(message)+"\n")
}

// PrintJSON prints a result as indented JSON, as [WriteJSON] does.
func PrintJSON(stdout io.Writer, terminal bool, result any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(result); err != nil {
		return err
	}
	return WriteJSON(stdout, terminal, b.Bytes())
}

// WriteJSON writes JSON. Text in it stays as it is, escaped as JSON. On a terminal
// everything hidden is escaped too, which is the same value and drives nothing.
func WriteJSON(stdout io.Writer, terminal bool, data []byte) error {
	if terminal {
		data = text.AppendJSON(nil, data)
	}
	_, err := stdout.Write(data)
	return err
}

func isClosedPipe(err error) bool {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return true
	}
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // as Windows has them
	return runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData))
}
