package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
)

// jpContext is what JP says about a call. It sends more, and may send less when
// it only wants arguments formatted.
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

// fill takes from the command line what the context does not say.
func (c *jpContext) fill(a *app) {
	if c.Root == "" {
		c.Root = a.workspace
	}
	if c.ConversationID == "" {
		c.ConversationID = a.conversationID
	}
}

// object reads a JSON object into v, and says what is wrong with the text where
// it is none.
func object(text string, v any) (why string) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return "it is no object"
	}
	err := json.Unmarshal([]byte(text), v)
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &mismatch):
		return "its " + envelope.SanitizeLine(mismatch.Field) + " cannot be " + withArticle(mismatch.Value)
	default:
		return envelope.SanitizeLine(err.Error())
	}
}

func withArticle(jsonType string) string {
	if jsonType == "array" || jsonType == "object" {
		return "an " + jsonType
	}
	return "a " + jsonType
}

// jpTool answers one call of JP. JP reads one outcome from standard output; the
// exit code counts for nothing, and anything else on standard output would be
// shown to the assistant as the answer.
func (a *app) jpTool(ctx context.Context, args []string) int {
	answer, err := a.jpAnswer(ctx, args)
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(contract.OutcomeOf(answer, err)); err != nil {
		fmt.Fprintf(a.stderr, "error: writing the outcome: %v\n", err)
	}
	return exitOK
}

func (a *app) jpAnswer(ctx context.Context, args []string) (string, error) {
	if len(args) != 2 {
		return "", contract.Fixable(fmt.Sprintf("jp-tool takes two arguments, the JSON of the context and of the tool, and got %d. Configure the tool with command = \"convtools jp-tool {{context}} {{tool}}\", without blanks inside the braces.", len(args)))
	}
	var where jpContext
	if why := object(args[0], &where); why != "" {
		return "", contract.Fixable("The first argument of jp-tool is not the JSON of a context: " + why + ". Configure the tool with command = \"convtools jp-tool {{context}} {{tool}}\".")
	}
	var call jpCall
	if why := object(args[1], &call); why != "" {
		return "", contract.Fixable("The second argument of jp-tool is not the JSON of a tool call: " + why + ". Configure the tool with command = \"convtools jp-tool {{context}} {{tool}}\".")
	}
	where.fill(a)
	switch where.Action {
	case "format_arguments":
		return formatArguments(call.Arguments), nil
	case "run", "":
		return generated.Call(ctx, a.handlers(a.programs()), contract.Call{
			Tool: call.Name, Arguments: call.Arguments,
			Context: contract.Context{ConversationID: where.ConversationID, Dir: where.Root},
		})
	default:
		return "", contract.Fixable("jp-tool cannot do action " + contract.Quote(where.Action) + "; it knows run and format_arguments.")
	}
}

// formatArguments shows a call's arguments to a person: name=value on one line.
// It never fails, because JP then would not run the tool.
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
		parts = append(parts, contract.Clip(fmt.Sprint(name))+"="+contract.Clip(string(value)))
	}
	return envelope.SanitizeLine(strings.Join(parts, " "))
}
