// Package jptool answers calls in JP's protocol for local tools: JP starts the program with a context and a call,
// each a JSON object, and reads one outcome from its standard output.
//
// It always prints exactly one outcome, nothing else, and the exit code is 0: JP would show anything else to the
// assistant as the answer.
package jptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

// jpContext is the context of a call, as far as it is used.
type jpContext struct {
	Action         string `json:"action"`
	Root           string `json:"root"`
	ConversationID string `json:"conversation_id"`
}

// jpCall is the call itself.
type jpCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Run prints the outcome of a command line of jp-tool and returns true. For others and for --help it returns false.
func Run(ctx context.Context, host *toolset.Host, registry *toolset.Registry, args []string) (answered bool) {
	line, ok := parse(registry, args)
	if !ok || asksForHelp(line.args) {
		return false
	}
	answer, err := line.answer(ctx, host, registry)
	outcome := contract.JSON(contract.OutcomeOf(answer, err))
	if _, err := fmt.Fprintln(host.Stdout, outcome); err != nil {
		fmt.Fprintf(host.Stderr, "error: writing the outcome: %v\n", err)
	}
	return true
}

// answer returns the answer to the call that the arguments of jp-tool describe. For the action format_arguments it only
// returns the call's arguments as a person reads them. The error is about flags or arguments, or that of the tool.
func (l commandLine) answer(ctx context.Context, host *toolset.Host, registry *toolset.Registry) (string, error) {
	if err := l.apply(host); err != nil {
		return "", err
	}
	if len(l.args) != 2 {
		return "", contract.Fixable(fmt.Sprintf("jp-tool takes two arguments, the JSON of the context and of the tool, and got %d. Configure the tool with command = %q, without blanks inside the braces.", len(l.args), commandLineOf(host.Name)))
	}
	var given jpContext
	if why := decodeObject(l.args[0], &given); why != "" {
		return "", contract.Fixable("The first argument of jp-tool is not the JSON of a context: " + why + ". Configure the tool with command = \"" + commandLineOf(host.Name) + "\".")
	}
	var call jpCall
	if why := decodeObject(l.args[1], &call); why != "" {
		return "", contract.Fixable("The second argument of jp-tool is not the JSON of a tool call: " + why + ". Configure the tool with command = \"" + commandLineOf(host.Name) + "\".")
	}
	switch given.Action {
	case "format_arguments":
		return formatArguments(call.Arguments), nil
	case "run", "":
	default:
		return "", contract.Fixable("jp-tool cannot do action " + text.Quote(given.Action) + "; it knows run and format_arguments.")
	}
	callContext := host.Context() // from the flags; values in JP's context take their place
	callContext.Ends = true       // this process, after the call
	if given.Root != "" {
		if err := checkRoot(host.Name, given.Root); err != nil {
			return "", err
		}
		callContext.Dir = given.Root
	}
	if given.ConversationID != "" {
		callContext.ConversationID = given.ConversationID
	}
	return registry.Call(ctx, contract.Call{Tool: call.Name, Arguments: call.Arguments, Context: callContext})
}

// checkRoot returns an error for a root that exists and cannot be used: the search for the project, upwards, would find
// another project. A root that does not exist is no error: it may be a workspace's id.
func checkRoot(program, root string) error {
	info, err := os.Stat(root)
	if err == nil && info.IsDir() {
		_, err = os.Stat(root + string(filepath.Separator) + ".") // fails if the directory may not be searched
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	reason := err
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		reason = failed.Err // the message has the path already
	}
	return &contract.Error{
		Message: fmt.Sprintf("The root of the project, as JP names it in the context, cannot be looked at: %v. The user has to make it accessible to %s.", reason, program),
		Err:     err,
	}
}

// decodeObject decodes a JSON object into v. It returns what is wrong with the text, as the end of a sentence, or "".
func decodeObject(input string, v any) (why string) {
	if !strings.HasPrefix(strings.TrimSpace(input), "{") {
		return "it is no object"
	}
	err := json.Unmarshal([]byte(input), v)
	if err == nil {
		return ""
	}
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return "its " + text.Line(mismatch.Field) + " cannot be " + withArticle(mismatch.Value)
	}
	return text.Line(err.Error())
}

func withArticle(jsonType string) string {
	if jsonType == "array" || jsonType == "object" {
		return "an " + jsonType
	}
	return "a " + jsonType
}

// maxShown is the greatest length of an argument that is shown, in characters.
const maxShown = 80

// formatArguments returns the arguments of a call as name=value on one line, for a person. It stops at an argument that
// cannot be decoded, without an error: after an error, JP would not run the tool.
func formatArguments(raw json.RawMessage) string {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return ""
	}
	var parts []string
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			break
		}
		parts = append(parts, text.Cut(fmt.Sprint(name), maxShown)+"="+text.Cut(string(value), maxShown))
	}
	return text.Line(strings.Join(parts, " "))
}
