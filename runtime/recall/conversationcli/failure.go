package conversationcli

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/recall/conversationcli/internal/terminal"
)

// Exit codes.
const (
	exitFailure = 1 // something failed, or nothing was found
	exitUsage   = 2 // wrong use
)

// failure is an error with the exit code it leads to and advice on what to do.
type failure struct {
	code int
	err  error // nil when everything has been said
	hint string
}

func (f *failure) Error() string {
	if f.err == nil {
		return "nothing found"
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// failed wraps an error of a lower layer.
func failed(err error) error { return &failure{code: exitFailure, err: err} }

func failedHint(hint, format string, args ...any) error {
	return &failure{code: exitFailure, err: fmt.Errorf(format, args...), hint: hint}
}

func usageError(hint, format string, args ...any) error {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...), hint: hint}
}

// nothingFound ends a command with exit code 1 after it has said what it did
// not find.
func nothingFound() error { return &failure{code: exitFailure} }

// Report writes an error that a command returned to stderr, as a line "error: …"
// and, where there is advice, a line "hint: …", and returns the exit code. A
// reader that closed its end of a pipe early got all it wanted: that is no
// error.
func Report(stderr io.Writer, err error) int {
	if err == nil || isClosedPipe(err) {
		return 0
	}
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{code: exitFailure, err: err}
	}
	if f.err != nil {
		printLine(stderr, "error: ", f.err.Error())
	}
	if f.hint != "" {
		printLine(stderr, "hint: ", f.hint)
	}
	return f.code
}

// printLine writes one line; it has nowhere to report an error to. The text may
// hold names and arguments from anywhere.
func printLine(w io.Writer, prefix, text string) {
	line := terminal.AppendLine([]byte(prefix), []byte(text))
	_, _ = w.Write(append(line, '\n'))
}

func isClosedPipe(err error) bool {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return true
	}
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // as Windows says it
	return runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData))
}

// flagError turns what the flag parser says into advice.
func flagError(cmd *cobra.Command, err error) error {
	hint := fmt.Sprintf("%s --help lists the flags", cmd.CommandPath())
	if cmd.Name() == "grep" && strings.HasPrefix(err.Error(), "unknown") {
		hint = "to search for text that starts with '-', put -- before it: " + cmd.CommandPath() + " -- '-text'"
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		flag := invalid.GetFlag()
		switch {
		case flag.Value.Type() == "int" && errors.Is(err, strconv.ErrRange):
			return usageError(hint, "--%s cannot be %s: the number is too large", flag.Name, invalid.GetValue())
		case flag.Value.Type() == "int":
			return usageError(hint, "--%s must be a whole number, not %q", flag.Name, invalid.GetValue())
		case flag.Value.Type() == "bool":
			return usageError(hint, "--%s must be true or false, not %q", flag.Name, invalid.GetValue())
		}
	}
	return usageError(hint, "%w", err)
}
