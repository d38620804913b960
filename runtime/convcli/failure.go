package convcli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	policy "github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/convcli/internal/terminal"
)

// failed wraps an error of a lower layer.
func failed(err error) error { return err }

func failedHint(hint, format string, args ...any) error {
	return policy.Hint(fmt.Errorf(format, args...), hint)
}

func usageError(hint, format string, args ...any) error {
	return policy.Hint(policy.Usagef(format, args...), hint)
}

// nothingFound ends a command with exit code 1 after it has said what it did
// not find.
func nothingFound() error { return policy.ErrFailed }

// Report writes an error that a command returned, and returns the exit code.
func Report(stderr io.Writer, err error) int { return policy.Report(stderr, err) }

// printLine writes one line; it has nowhere to report an error to. The text may
// hold names and arguments from anywhere.
func printLine(w io.Writer, prefix, text string) {
	line := terminal.AppendLine([]byte(prefix), []byte(text))
	_, _ = w.Write(append(line, '\n'))
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
