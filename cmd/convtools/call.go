package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/recall"
)

// maxInput bounds arguments read from standard input, in bytes. The tools allow
// less, and say so.
const maxInput = 8 << 20

func (a *app) callCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "call TOOL [JSON | - | key=value …]",
		Short: "Call a tool and print its answer",
		Long: `Calls a tool the way an assistant does and prints its answer.

Arguments are one JSON object, "-" to read one from standard input, or key=value
pairs, which are read as the types the tool declares: lists take values between
commas, or the key more than once. Where one value does too, as for subjects of
learn, a comma belongs to it.`,
		Example: `  convtools call conversation_list limit=5
  convtools call conversation_grep pattern=retry scopes=user,assistant
  convtools call conversation_read '{"id": "jp-c17737387251", "turn": 2}'
  convtools call learn topic=project 'subjects=guides/**' subjects=style`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{err: errors.New("call needs a tool: " + a.toolNames())}
			}
			tool, err := toolNamed(args[0])
			if err != nil {
				return err
			}
			if err := a.checkKnowledgeFlags(cmd, tool); err != nil {
				return err
			}
			arguments, err := a.arguments(tool, args[1:])
			if err != nil {
				return &usageError{err: err}
			}
			programs := a.programs()
			handlers := a.handlers(programs)
			handlers.Conversation = recall.New(programs).ShowPaths()
			answer, err := generated.Call(cmd.Context(), handlers, contract.Call{
				Tool: tool.Name, Arguments: arguments,
				Context: contract.Context{ConversationID: a.conversationID, Dir: a.workspace},
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.stdout, answer)
			return err
		},
	}
	a.knowledgeFlags(cmd)
	return cmd
}

// checkKnowledgeFlags refuses flags that would go unheeded.
func (a *app) checkKnowledgeFlags(cmd *cobra.Command, tool contract.Tool) error {
	for _, name := range []string{"knowledge", "prompt-injected"} {
		if cmd.Flags().Changed(name) && tool.Name != learnName() {
			return &usageError{err: fmt.Errorf("--%s only counts for learn", name)}
		}
	}
	if len(a.knowledge.Patterns) == 0 {
		return nil
	}
	_, err := a.openKnowledge()
	return err
}

// arguments makes one JSON object of what stands behind the tool's name.
func (a *app) arguments(tool contract.Tool, words []string) ([]byte, error) {
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
		input, err := io.ReadAll(io.LimitReader(a.stdin, maxInput))
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

// pairs reads key=value words. A value that is not of the declared type is
// passed on as text, for the tool to say what it wants.
func pairs(tool contract.Tool, words []string) ([]byte, error) {
	var schema struct {
		Properties map[string]property `json:"properties"`
	}
	if err := json.Unmarshal([]byte(tool.InputSchema), &schema); err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", tool.Name, err)
	}
	var keys []string
	values := map[string]any{}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q is not key=value", word)
		}
		declared := schema.Properties[key]
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		} else if declared.Type != "array" && !declared.oneOrMany() {
			return nil, fmt.Errorf("%s is given twice", key)
		}
		switch kind := declared.Type; {
		case declared.oneOrMany():
			values[key] = another(values[key], value)
		case kind == "array" && !strings.HasPrefix(value, "["):
			list, _ := values[key].([]any)
			for item := range strings.SplitSeq(value, ",") {
				list = append(list, strings.TrimSpace(item))
			}
			values[key] = list
		case kind != "string" && json.Valid([]byte(value)):
			values[key] = json.RawMessage(value)
		default:
			values[key] = value
		}
	}
	var b strings.Builder
	for i, key := range keys {
		name, err := json.Marshal(key)
		if err != nil {
			return nil, fmt.Errorf("writing the arguments: %w", err)
		}
		value, err := json.Marshal(values[key])
		if err != nil {
			return nil, fmt.Errorf("writing the arguments: %w", err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	return []byte("{" + b.String() + "}"), nil
}

// property is what a schema says about an argument.
type property struct {
	Type  string            `json:"type"`
	AnyOf []json.RawMessage `json:"anyOf"`
}

// oneOrMany says that the argument is a text or a list of texts.
func (p property) oneOrMany() bool { return p.Type == "" && len(p.AnyOf) > 0 }

// another adds a text to an argument that is one text or a list of them.
func another(to any, value string) any {
	switch earlier := to.(type) {
	case []string:
		return append(earlier, value)
	case string:
		return []string{earlier, value}
	default:
		return value
	}
}
