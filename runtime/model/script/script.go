// Package script is a model that answers from a file, for tests and demonstrations without a network.
//
// A script is a TOML file with conversations. Each has the responses of the model, in order:
//
//	[[conversation]]
//	first = "Plan the trip"    # is in the first input; without it, the conversation matches any
//	[[conversation.response]]
//	text = "I ask for the hotels."
//	calls = [{ tool = "conv.create", arguments = { user_instruction = "List the hotels" } }]
//	[[conversation.response]]
//	text = "They are: ${output.last_assistant_message}"
//
//	[[conversation]]
//	first = "List the hotels"
//	[[conversation.response]]
//	pieces = ["The Adler, ", "the Post."]
//
// The first conversation that matches is used. Its next response is the first whose match is in the last input or output.
// If there is none, and the history has N responses, the next response is the one after the first N without match. The
// history alone decides, so a model answers the same after a crash.
//
// A response has these optional keys:
//
//	text     the answer
//	pieces   further text, in the pieces that arrive one by one
//	calls    the tools to call: tool is the canonical name, arguments is a table, or a string to send as it is
//	match    a text in the last input or output
//	repeat   true to use the response for all further ones, too
//	delay    the time before the first piece, such as "250ms"
//
// Texts and arguments can have placeholders: ${input} is the last input, ${output} the last output of a tool,
// ${output.KEY} a value of the JSON object in that output, and ${output.2.KEY} one of the second output.
package script

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/model"
)

// Model answers from a script. It implements [model.Model].
type Model struct {
	name          string
	Conversations []struct {
		First     string     `toml:"first"`
		Responses []response `toml:"response"`
	} `toml:"conversation"`
}

type response struct {
	Text   string        `toml:"text"`
	Pieces []string      `toml:"pieces"`
	Match  string        `toml:"match"`
	Repeat bool          `toml:"repeat"`
	Delay  time.Duration `toml:"delay"`
	Calls  []struct {
		Tool      string `toml:"tool"`
		Arguments any    `toml:"arguments"`
	} `toml:"calls"`
}

// Parse returns the model for a script. name is its name in the configuration.
func Parse(name, source string) (*Model, error) {
	m := &Model{name: name}
	meta, err := toml.Decode(source, m)
	if err != nil {
		return nil, fmt.Errorf("reading the script: %w", err)
	}
	for _, key := range meta.Undecoded() {
		if !slices.Contains(key, "arguments") { // they may have any key
			return nil, fmt.Errorf("reading the script: unknown key %s", text.Quote(key.String()))
		}
	}
	return m, nil
}

// Sample implements [model.Model]. The usage counts four bytes as a token.
func (m *Model) Sample(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	h := historyOf(r.Items)
	next, err := m.responseTo(h)
	var pieces []string
	var items []model.Item
	if err == nil {
		pieces, items, err = next.filled(h)
	}
	if err != nil {
		return model.Response{}, &model.Error{Model: m.name, Code: model.CodeScript, Message: err.Error(), Attempts: 1}
	}
	select {
	case <-time.After(next.Delay):
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return model.Response{}, context.Cause(ctx)
	}
	for _, piece := range pieces {
		if piece != "" {
			delta(piece)
		}
	}
	return model.Response{Items: items, Usage: model.Usage{InputTokens: tokens(r.Items), OutputTokens: tokens(items)}}, nil
}

// responseTo returns a response of the first conversation whose First is in h.first: the response whose Match is in
// h.last. If no response matches, it counts the responses without Match from 0, and returns number h.responses (the
// number of responses in the history). If they are too few, it returns the last one that has Repeat.
func (m *Model) responseTo(h history) (response, error) {
	for i, c := range m.Conversations {
		if !strings.Contains(h.first, c.First) {
			continue
		}
		var next *response
		n := 0 // the number of responses without Match before r
		for _, r := range c.Responses {
			switch {
			case r.Match != "" && strings.Contains(h.last, r.Match):
				return r, nil
			case r.Match != "":
				continue
			case n == h.responses, r.Repeat && n < h.responses: // its turn, or it repeats in later turns
				next = &r // replaces an earlier one that repeats
			}
			n++
		}
		if next == nil {
			return response{}, fmt.Errorf("the script has no response %d for conversation %d (first = %s)", h.responses+1, i+1, text.Quote(c.First))
		}
		return *next, nil
	}
	return response{}, errors.New("the script has no conversation that begins with " + text.Quote(h.first))
}

// filled returns the pieces of a response's text, and the message and calls of the response, with placeholders replaced.
func (r response) filled(h history) (pieces []string, items []model.Item, err error) {
	if err := h.fillPlaceholders(append([]string{r.Text}, r.Pieces...), &pieces); err != nil {
		return nil, nil, err
	}
	if message := strings.Join(pieces, ""); message != "" {
		items = append(items, model.Text(model.AgentMessage, message))
	}
	for i, c := range r.Calls {
		if c.Arguments == nil {
			c.Arguments = struct{}{}
		}
		var arguments json.RawMessage
		if err := h.fillPlaceholders(c.Arguments, &arguments); err != nil {
			return nil, nil, err
		}
		id := "call_" + strconv.Itoa(h.calls+i+1)
		items = append(items, model.Item{Kind: model.ToolCall, CallID: id, Name: c.Tool, Wire: c.Tool, Arguments: textIn(arguments)})
	}
	return pieces, items, nil
}

// history is the part of a request that decides on the response.
type history struct {
	first     string // the inputs before the first response, joined by newlines
	input     string // the last input
	last      string // the last input or output
	outputs   []string
	responses int
	calls     int
}

// historyOf returns the part of a history that decides on the next response: the inputs before the first response, the
// last input, the last input or output, all outputs, and the numbers of responses and calls.
func historyOf(items []model.Item) history {
	var h history
	for i, item := range items {
		switch item.Kind {
		case model.UserMessage:
			h.input = item.Text()
			h.last = h.input
			if h.responses == 0 { // the input comes before the first response
				h.first = strings.TrimPrefix(h.first+"\n"+h.input, "\n")
			}
		case model.ToolOutput:
			h.last = item.Output
			h.outputs = append(h.outputs, item.Output)
		case model.ToolCall:
			h.calls++
		}
		if !item.IsInput() && (i == 0 || items[i-1].IsInput()) { // the first item of a response
			h.responses++
		}
	}
	return h
}

// fillPlaceholders encodes from as JSON, replaces the placeholders in the JSON by their values, and decodes the result
// into to. The error says that from has no JSON, or that a placeholder has no value.
func (h history) fillPlaceholders(from, to any) error {
	encoded, err := model.JSON(from)
	if err != nil {
		return fmt.Errorf("writing the arguments of the script: %w", err)
	}
	// Not a package variable: most programs that link this package read no script.
	placeholders := regexp.MustCompile(`\$\{(input|output(?:\.(\d+))?(?:\.([^{}]+))?)\}`)
	filled := placeholders.ReplaceAllStringFunc(string(encoded), func(placeholder string) string {
		match := placeholders.FindStringSubmatch(placeholder)
		value, valueErr := h.value(match[1], match[2], match[3])
		err = cmp.Or(err, valueErr)
		quoted, _ := json.Marshal(value)         // a string cannot fail
		return string(quoted[1 : len(quoted)-1]) // without the quotes: the placeholder is inside of a string
	})
	return cmp.Or(err, json.Unmarshal([]byte(filled), to))
}

// value returns the value of a placeholder. name is all that is in its braces; number and key are parts of name or "".
func (h history) value(name, number, key string) (string, error) {
	if name == "input" {
		return h.input, nil
	}
	n := len(h.outputs) // the last output
	if number != "" {
		n, _ = strconv.Atoi(number) // a number too large becomes the largest
	}
	if n < 1 || n > len(h.outputs) {
		return "", fmt.Errorf("the script refers to an output that there is not: %s", text.Quote(name))
	}
	output := h.outputs[n-1]
	if key == "" {
		return output, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(output), &object); err != nil || object[key] == nil {
		return "", fmt.Errorf("the script refers to %s, which is not in the output %s", text.Quote(key), text.Quote(output))
	}
	return textIn(object[key]), nil
}

// textIn returns the text of a JSON string, and any other JSON as it is.
func textIn(encoded json.RawMessage) string {
	s := string(encoded)
	_ = json.Unmarshal(encoded, &s) // fails for any other JSON
	return s
}

// tokens returns the usage of items: four bytes are a token.
func tokens(items []model.Item) int64 {
	bytes := 0
	for _, item := range items {
		bytes += len(item.Text()) + len(item.Arguments) + len(item.Output)
	}
	return int64(bytes+3) / 4
}
