package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/base/near"
)

// Setup prepares the root of a command line: its errors and its help. tools, the names of tools, are for a hint.
func Setup(root *cobra.Command, tools []string) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.Annotations = map[string]string{toolNames: strings.Join(tools, " ")}
	root.SetFlagErrorFunc(flagError)
	addHelp(root)
}

// flagError returns an error of wrong use for err, the parser's error about a flag. If the flag is unknown and the command
// takes text, the error has a hint about "--". If the flag refuses its value, the error has a hint about the values
// that the flag takes.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	takesText := cmd.ValidateArgs([]string{"-"}) == nil // an argument that begins with "-" is right
	if errors.As(err, &unknown) && takesText {
		return Hint(Usage(err), "see "+helpFor(cmd)+"; to give text that starts with '-', put -- before it")
	}
	if !errors.As(err, &invalid) {
		return Usage(err)
	}
	flag, cause := invalid.GetFlag(), invalid.Unwrap() // cause is the error with which the flag refuses its value
	value, usage := pflag.UnquoteUsage(flag)
	wrong := Usagef("--%s cannot be %q", flag.Name, invalid.GetValue())
	usageHint := strings.TrimSpace("--"+flag.Name+" "+value) + ": " + usage
	var advice *hintError
	var number *strconv.NumError
	switch {
	case errors.As(cause, &advice): // the flag has a hint of its own
		return Hint(wrong, advice.hint)
	case errors.As(cause, &number): // the text of cause is about Go, such as "strconv.ParseInt"
		return Hint(wrong, usageHint)
	default:
		return Hint(wrong, cause.Error()+"; "+usageHint)
	}
}

// toolNames is the annotation of a root command that lists the names of tools.
const toolNames = "convtools_tools"

// Execute runs a command line, reports its error, and returns the exit code.
func Execute(ctx context.Context, root *cobra.Command) int {
	cmd, err := root.ExecuteContextC(ctx)
	if usage, ok := errors.AsType[*usageError](err); ok {
		usage.command = cmd
	}
	return Report(root.ErrOrStderr(), err)
}

// Group adds the commands below to cmd and returns cmd, which shows its help. A word that is no command is wrong use.
func Group(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return cmd.Help()
	}
	cmd.AddCommand(below...)
	return cmd
}

// NoArgs requires that a command has no arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("%s takes no arguments, got %q", cmd.Name(), args[0])
	}
	return nil
}

// OneArg requires exactly one argument; name is for the error.
func OneArg(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return Usagef("%s takes one argument, %s, and got %d", cmd.Name(), name, len(args))
		}
		return nil
	}
}

// unknownCommand returns the error for a word that is no command of cmd. The error suggests the first of these: a
// command of cmd with the word in SuggestFor, a command of that name one level further down, the tool of that name, a
// command of cmd with a similar name. Without a suggestion, the error lists the commands of cmd.
func unknownCommand(cmd *cobra.Command, word string) error {
	var names []string
	for _, c := range listed(cmd) {
		names = append(names, c.Name())
		if slices.Contains(c.SuggestFor, word) {
			return unknownf(word, "; did you mean %s?", c.CommandPath())
		}
		for _, below := range listed(c) {
			if below.Name() == word || below.HasAlias(word) {
				return unknownf(word, "; did you mean %s?", below.CommandPath())
			}
		}
	}
	if slices.Contains(strings.Fields(cmd.Root().Annotations[toolNames]), word) {
		return unknownf(word, "; it is a tool: did you mean %s call %s?", cmd.Root().Name(), word)
	}
	if meant := near.Name(word, names); meant != "" {
		return unknownf(word, "; did you mean %s %s?", cmd.CommandPath(), meant)
	}
	if len(names) == 0 {
		return Usagef("%s has no commands, and got %q", cmd.CommandPath(), word)
	}
	return unknownf(word, "; the commands are %s", strings.Join(names, ", "))
}

func unknownf(word, format string, args ...any) error {
	return Usagef("unknown command %q%s", word, fmt.Sprintf(format, args...))
}

// Examples returns calls of a program as help shows them, one a line.
func Examples(program string, calls ...string) string {
	lines := make([]string, len(calls))
	for i, call := range calls {
		lines[i] = "  " + program + " " + call
	}
	return strings.Join(lines, "\n")
}

// listed returns the subcommands of cmd that its help shows, without help itself.
func listed(cmd *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool {
		return !c.IsAvailableCommand() || c.Name() == "help"
	})
}
