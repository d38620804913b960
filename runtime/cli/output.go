// Package cli has the parts that all commands share: the output policy, arguments, help, manual pages and completion
// scripts.
//
// It never knows a tool, a family or a host by name.
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

// Output policy: standard output gets results only. Standard error gets everything else, on lines that begin with
// "error: ", "hint: " (what to do about the error), "warning: " (the command went on) or "note: ". Text from outside
// cannot drive a terminal or begin a line of its own.
//
// The exit code is 0 on success, 1 if something failed or nothing was found, 2 on wrong use, and 130 if a person
// interrupted the work.
//
// Commands return errors; [Report] prints them.
const (
	ExitOK     = 0
	ExitFailed = 1
	ExitUsage  = 2
	// ExitInterrupted is the exit code that shells use for an interrupt.
	ExitInterrupted = 130
)

// ErrInterrupted ends a command with [ExitInterrupted]. The command has already printed why.
var ErrInterrupted = errors.New("interrupted")

// ErrFailed ends a command with [ExitFailed]. The command has already printed why.
var ErrFailed = errors.New("failed")

// usageError is an error in how the program was called.
type usageError struct {
	err     error
	command *cobra.Command // the one that was called, or nil
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// helpFor returns the command line that shows the help of cmd.
func helpFor(cmd *cobra.Command) string {
	if cmd == nil {
		return "the help of the program"
	}
	name, below, _ := strings.Cut(cmd.CommandPath(), " ")
	return strings.TrimSpace(name + " help " + below)
}

// Usage returns an error in how the program was called, for exit code 2. The hint names the command's help.
func Usage(err error) error { return &usageError{err: err} }

// Usagef is [Usage] of a formatted error.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

// Hint adds advice to an error, as the end of a line that begins with "hint: ".
func Hint(err error, hint string) error { return &hintError{err, hint} }

// Report prints the error of a command and the error's hint, and returns the exit code. It prints nothing for nil, for
// [ErrFailed] and [ErrInterrupted], which the command has explained, and for a closed pipe, which is success.
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
		printErrorLines(stderr, tool.ForPerson())
	case errors.As(err, &arguments):
		printErrorLines(stderr, arguments.Error())
	case errors.As(err, &found):
		return reportFindings(stderr, found.Diagnostics())
	default:
		printLine(stderr, "error", err.Error())
	}
	var hint *hintError
	var usage *usageError
	isWrongUse := errors.As(err, &usage)
	if errors.As(err, &hint) {
		printLine(stderr, "hint", hint.hint)
	} else if isWrongUse {
		printLine(stderr, "hint", "see "+helpFor(usage.command))
	}
	if isWrongUse {
		return ExitUsage
	}
	return ExitFailed
}

// reportFindings prints problems, and returns [ExitUsage] if all errors are about flags, otherwise [ExitFailed].
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
		printLine(stderr, f.Severity.String(), message)
		if f.Hint != "" {
			printLine(stderr, "hint", f.Hint)
		}
		isAboutFlag := strings.HasPrefix(f.File, "-") // such as "--workspace", in place of a file
		if f.Severity == diag.Error && !isAboutFlag {
			code = ExitFailed
		}
	}
	return code
}

// Warn prints a warning: a problem that did not stop the command.
func Warn(stderr io.Writer, format string, args ...any) {
	printLine(stderr, "warning", fmt.Sprintf(format, args...))
}

// printErrorLines prints the error of a tool, which may have several lines.
func printErrorLines(w io.Writer, message string) {
	_, _ = io.WriteString(w, "error: "+text.Visible(message)+"\n")
}

// printLine prints a message of a kind on one line. An error of the writer cannot be reported anywhere.
func printLine(w io.Writer, kind, message string) {
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

// WriteJSON writes JSON. On a terminal, hidden characters in it become JSON escapes: the value stays the same.
func WriteJSON(stdout io.Writer, terminal bool, data []byte) error {
	if terminal {
		data = text.JSON(data)
	}
	_, err := stdout.Write(data)
	return err
}

// isClosedPipe reports whether an error is that of writing to a pipe without a reader.
func isClosedPipe(err error) bool {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return true
	}
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // of Windows
	return runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData))
}
