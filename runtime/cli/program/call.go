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

// arguments returns the arguments of a call as a JSON object, or nil if there are no words. words follow the tool's
// name: they are a JSON object, or "-" for an object on standard input, or key=value pairs. Other words, and a failure
// to read standard input, are errors.
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

// pairs returns key=value words as a JSON object. A value that does not have the type of the tool's parameter stays a
// string. Words without a key, and second values for a parameter that is no list, are errors.
func pairs(tool contract.Tool, words []string) ([]byte, error) {
	given := map[string]any{}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q is not key=value", word)
		}
		declared := parameter(tool, key)
		earlier, isRepeated := given[key]
		switch {
		case isRepeated && declared.Type != "array":
			return nil, fmt.Errorf("%s is given twice", key)
		case declared.Type == "array":
			given[key] = listWith(declared, earlier, value)
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

// listWith returns the value of a list parameter: the items of earlier, followed by those in text. earlier is the value
// so far, or nil. The first text for a parameter that takes one item or a list is returned as a string, not as a list.
// A text that begins with a bracket takes the place of earlier: as JSON or, if the text is no JSON, as a string.
func listWith(declared contract.Parameter, earlier any, text string) any {
	if declared.OneOrMany { // commas do not separate items
		switch earlier := earlier.(type) {
		case nil:
			return text
		case []any:
			return append(earlier, text)
		default:
			return []any{earlier, text}
		}
	}
	if strings.HasPrefix(text, "[") {
		if json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
		return text
	}
	list, _ := earlier.([]any)
	var numbers []json.RawMessage // or booleans
	if declared.Items != nil && declared.Items.Type != "string" && json.Unmarshal([]byte("["+text+"]"), &numbers) == nil {
		for _, number := range numbers {
			list = append(list, number)
		}
		return list
	}
	for item := range strings.SplitSeq(text, ",") {
		list = append(list, strings.TrimSpace(item))
	}
	return list
}

// parameter returns a parameter of a tool by its name, or the zero Parameter.
func parameter(tool contract.Tool, name string) contract.Parameter {
	i := slices.IndexFunc(tool.Parameters, func(p contract.Parameter) bool { return p.Name == name })
	if i < 0 {
		return contract.Parameter{}
	}
	return tool.Parameters[i]
}

// completeCall returns completions of the last word of a command line "call TOOL KEY=VALUE…". word is the typed part of
// the last word, and args are the words between call and word. Without args, the completions are names of tools;
// otherwise they are "key=" or, if word has "=", "key=value". The directive turns off completions of file names.
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
	key, typed, hasKey := strings.Cut(word, "=")
	if !hasKey {
		for _, parameter := range tool.Parameters {
			words = append(words, parameter.Name+"=")
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
	for _, value := range values(cmd.Context(), family, tool, key, typed, given) {
		words = append(words, key+"="+text.Line(value))
	}
	return words, noFiles
}

// values returns the values that the argument key of a tool can have. If the schema does not list the values, the
// tool's family finds some from what is typed and from the values of the other arguments.
func values(ctx context.Context, family toolset.Family, tool contract.Tool, key, typed string, given map[string]string) []string {
	declared := parameter(tool, key)
	switch {
	case len(declared.Enum) > 0 && declared.Type != "array":
		return declared.Enum
	case declared.Type == "boolean":
		return []string{"true", "false"}
	case family.Arguments != nil:
		return family.Arguments(ctx, tool.Name, key, typed, given)
	}
	return nil
}

// asUsage returns the error for a flag that the tool ignores as one of wrong use, and any other error as it is.
func asUsage(err error) error {
	if _, ok := errors.AsType[*toolset.IgnoredFlagError](err); ok {
		return cli.Usage(err)
	}
	return err
}
