package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

// maxInput is the greatest length in bytes of arguments from standard input. The tools themselves allow less.
const maxInput = 8 << 20

func (p *CommandLine) callCommand() *cobra.Command {
	structured := false
	var calls []string
	for _, example := range p.Registry.Examples() {
		calls = append(calls, "call "+example)
	}
	cmd := &cobra.Command{
		Use:   "call TOOL [JSON | - | key=value …]",
		Short: "Call a tool and print its answer",
		Long: `Calls a tool the way an assistant does and prints its answer.

Arguments are one JSON object, "-" to read one from standard input, or key=value
pairs, which are read as the types the tool declares: lists take values between
commas, or the key more than once.`,
		Example:           cli.Examples(p.Host.Name, calls...),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: p.completeCall,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("call needs a tool: %s", strings.Join(p.Registry.Names(), ", "))
			}
			tool, family, err := p.Registry.Lookup(args[0])
			if err != nil {
				return cli.Usage(err)
			}
			if err := asUsage(p.Registry.CheckFlags(cmd.Flags(), tool.Name)); err != nil {
				return err
			}
			arguments, err := p.arguments(tool, args[1:])
			if err != nil {
				return cli.Usage(err)
			}
			callContext := p.Host.Context()
			callContext.Caller.Process, callContext.Ends = caller.Shell, true
			run := family.Call
			if structured {
				if run = family.CallStructured; !slices.Contains(family.HasStructured, tool.Name) {
					return cli.Usagef("%s has no answer in JSON: leave --structured out", tool.Name)
				}
			}
			answer, err := run(cmd.Context(), contract.Call{Tool: args[0], Arguments: arguments, Context: callContext})
			if err != nil {
				return err
			}
			if structured {
				return cli.WriteJSON(p.Host.Stdout, p.Host.Terminal, []byte(answer+"\n"))
			}
			_, err = fmt.Fprintln(p.Host.Stdout, answer)
			return err
		},
	}
	p.Registry.AddFlags(cmd)
	cmd.Flags().BoolVar(&structured, "structured", false, "print the answer for programs, as JSON, of a tool that has one")
	return cmd
}

// arguments returns the words after the tool's name as one JSON object, or nil if there are none. Words are a JSON
// object, "-" for an object on standard input, or key=value pairs. The error is for other words, or that of reading.
func (p *CommandLine) arguments(tool contract.Tool, words []string) ([]byte, error) {
	if len(words) == 0 {
		return nil, nil
	}
	first := strings.TrimSpace(words[0])
	isPair := strings.Contains(first, "=") && !strings.HasPrefix(first, "{")
	if !isPair && len(words) > 1 {
		return nil, fmt.Errorf("%q is not key=value; a JSON object has to be one argument, in quotes", words[0])
	}
	switch {
	case first == "-":
		input, err := io.ReadAll(io.LimitReader(p.Host.Stdin, maxInput))
		if err != nil {
			return nil, fmt.Errorf("reading the arguments from standard input: %w", err)
		}
		return input, nil
	case isPair:
		return pairs(tool, words)
	case strings.HasPrefix(first, "{"):
		return []byte(words[0]), nil
	default:
		return nil, fmt.Errorf("%q is neither a JSON object nor key=value", words[0])
	}
}

// pairs returns key=value words as a JSON object. A value becomes what the type of the tool's parameter says; a value
// of another type stays a string, which the tool reports. The error is for a word without a key, and for a key that is
// given twice although it takes one value.
func pairs(tool contract.Tool, words []string) ([]byte, error) {
	given := map[string]any{}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q is not key=value", word)
		}
		declared := parameter(tool, key)
		earlier, isRepeated := given[key]
		list, isList := earlier.([]any)
		var items []json.RawMessage
		switch {
		case isRepeated && declared.Type != "array":
			return nil, fmt.Errorf("%s is given twice", key)
		case declared.OneOrMany && !isRepeated:
			given[key] = value
		case declared.OneOrMany && !isList: // the second value
			given[key] = []any{earlier, value}
		case declared.OneOrMany:
			given[key] = append(list, value)
		case declared.Items != nil && declared.Items.Type != "string" && !strings.HasPrefix(value, "[") && json.Unmarshal([]byte("["+value+"]"), &items) == nil:
			for _, item := range items { // numbers or booleans between commas
				list = append(list, item)
			}
			given[key] = list
		case declared.Type == "array" && !strings.HasPrefix(value, "["):
			for item := range strings.SplitSeq(value, ",") {
				list = append(list, strings.TrimSpace(item))
			}
			given[key] = list
		case declared.Type != "string" && json.Valid([]byte(value)):
			given[key] = json.RawMessage(value)
		default:
			given[key] = value
		}
	}
	arguments, err := json.Marshal(given)
	if err != nil {
		return nil, fmt.Errorf("writing the arguments: %w", err)
	}
	return arguments, nil
}

// parameter returns a parameter of a tool by its name, or the zero Parameter.
func parameter(tool contract.Tool, name string) contract.Parameter {
	for _, p := range tool.Parameters {
		if p.Name == name {
			return p
		}
	}
	return contract.Parameter{}
}

// completeCall completes the names of tools, and the names and values of their arguments.
func (p *CommandLine) completeCall(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const noFiles = cobra.ShellCompDirectiveNoFileComp
	var words []cobra.Completion
	if len(args) == 0 {
		for _, tool := range p.Registry.Declared() {
			words = append(words, cobra.CompletionWithDesc(tool.Name, tool.Summary))
		}
		return words, noFiles
	}
	tool, family, err := p.Registry.Lookup(args[0])
	if err != nil {
		return nil, noFiles
	}
	key, prefix, hasKey := strings.Cut(word, "=")
	if !hasKey {
		for _, p := range tool.Parameters {
			words = append(words, p.Name+"=")
		}
		slices.Sort(words)
		return words, noFiles | cobra.ShellCompDirectiveNoSpace
	}
	given := map[string]string{}
	for _, arg := range args[1:] {
		if name, value, ok := strings.Cut(arg, "="); ok {
			given[name] = value
		}
	}
	for _, value := range values(cmd.Context(), family, tool, key, prefix, given) {
		words = append(words, key+"="+text.Line(value))
	}
	return words, noFiles
}

// values returns the values of an argument for completion: the allowed ones, or those that the family knows.
func values(ctx context.Context, family toolset.Family, tool contract.Tool, key, prefix string, given map[string]string) []string {
	declared := parameter(tool, key)
	switch {
	case len(declared.Enum) > 0 && declared.Type != "array":
		return declared.Enum
	case declared.Type == "boolean":
		return []string{"true", "false"}
	case family.Arguments != nil:
		return family.Arguments(ctx, tool.Name, key, prefix, given)
	}
	return nil
}

// asUsage returns the error for a flag that the tool ignores as one of wrong use, and any other error as it is.
func asUsage(err error) error {
	var ignored *toolset.IgnoredFlagError
	if errors.As(err, &ignored) {
		return cli.Usage(err)
	}
	return err
}
