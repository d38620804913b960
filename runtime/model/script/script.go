// Package script is a model that answers from a file, without a network: for tests and demonstrations.
//
// A script is TOML. It has conversations, and each of them the responses that the model gives in it, one after the
// other:
//
//	[[conversation]]
//	first = "Plan the trip"    # an input that the conversation begins with contains this; without it, any fits
//
//	[[conversation.response]]
//	text = "I ask for the hotels."
//	calls = [{ tool = "conv.create", arguments = { user_instruction = "List the hotels" } }]
//
//	[[conversation.response]]
//	text = "They are: ${output.last_assistant_message}"
//
//	[[conversation]]
//	first = "List the hotels"
//
//	[[conversation.response]]
//	pieces = ["The Adler, ", "the Post."]
//
// The first conversation that fits is taken. Which of its responses is next follows from the history alone: the first
// one whose match is in what the model answers, and otherwise the one that has the number of the response among those
// without match. So the model answers in the same way again after a crash.
//
// A response has these keys, all of them optional:
//
//	text     what the model answers
//	pieces   more of the answer, in the pieces in which it arrives, after text
//	calls    the tools that it calls: tool is a canonical name, arguments a table, or a text that is passed on as it is
//	match    the last input or output that is being answered contains this
//	repeat   true: for all further responses too
//	delay    how long the model takes before the first piece, as "250ms"
//
// In texts, and in texts within arguments, ${input} is the last input, ${output} for the last output of a tool,
// ${output.KEY} for a text in the JSON object that this is, and ${output.2.KEY} for that of the second output of the
// conversation.
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
	Calls  []call        `toml:"calls"`
	Match  string        `toml:"match"`
	Repeat bool          `toml:"repeat"`
	Delay  time.Duration `toml:"delay"`
}

type call struct {
	Tool      string `toml:"tool"`
	Arguments any    `toml:"arguments"`
}

// Parse reads a script for a model that the configuration calls name.
func Parse(name, source string) (*Model, error) {
	m := &Model{name: name}
	meta, err := toml.Decode(strings.TrimPrefix(source, "\ufeff"), m)
	if err != nil {
		return nil, fmt.Errorf("reading the script: %w", err)
	}
	for _, key := range meta.Undecoded() {
		if !slices.Contains(key, "arguments") { // which may have any
			return nil, fmt.Errorf("reading the script: unknown key %s", text.Quote(key.String()))
		}
	}
	return m, nil
}

// Sample implements [model.Model]. Four bytes are a token.
func (m *Model) Sample(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	h := read(r.Items)
	next, err := m.next(h)
	if err != nil {
		return model.Response{}, m.fail(err)
	}
	if next.Delay > 0 {
		select {
		case <-time.After(next.Delay):
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return model.Response{}, context.Cause(ctx)
	}
	said := ""
	for _, piece := range append([]string{next.Text}, next.Pieces...) {
		if piece, err = h.fill(piece, func(s string) string { return s }); err != nil {
			return model.Response{}, m.fail(err)
		}
		said += piece
		if delta != nil && piece != "" {
			delta(piece)
		}
	}
	var items []model.Item
	if said != "" {
		items = append(items, model.Text(model.AgentMessage, said))
	}
	for i, c := range next.Calls {
		item := model.Item{Kind: model.ToolCall, CallID: "call_" + strconv.Itoa(h.calls+i+1), Name: c.Tool, Wire: c.Tool}
		if item.Arguments, err = h.arguments(c.Arguments); err != nil {
			return model.Response{}, m.fail(err)
		}
		items = append(items, item)
	}
	return model.Response{Items: items, Usage: model.Usage{InputTokens: tokens(r.Items), OutputTokens: tokens(items)}}, nil
}

func (m *Model) fail(err error) error {
	return &model.Error{Model: m.name, Code: model.CodeScript, Message: err.Error(), Attempts: 1}
}

// next returns the response to a history.
func (m *Model) next(h history) (response, error) {
	for i, c := range m.Conversations {
		if c.First != "" && !slices.ContainsFunc(h.first, func(input string) bool { return strings.Contains(input, c.First) }) {
			continue
		}
		n := 0
		var numbered *response
		for _, r := range c.Responses {
			switch {
			case r.Match == "":
				if n == h.responses || r.Repeat && n < h.responses {
					numbered = &r
				}
				n++
			case strings.Contains(h.last, r.Match):
				return r, nil
			}
		}
		if numbered == nil {
			return response{}, fmt.Errorf("the script has no response %d for conversation %d (first = %s)", h.responses+1, i+1, text.Quote(c.First))
		}
		return *numbered, nil
	}
	return response{}, errors.New("the script has no conversation that begins with " + text.Quote(strings.Join(h.first, "\n")))
}

// history is what a script looks at in a request.
type history struct {
	first     []string // the inputs before the first response
	input     string   // the last one
	last      string   // the last input or output
	outputs   []string
	responses int
	calls     int
}

func read(items []model.Item) history {
	var h history
	answering := false
	for _, item := range items {
		own := item.Kind != model.UserMessage && item.Kind != model.ToolOutput
		switch {
		case item.Kind == model.UserMessage:
			h.input = item.Text()
			h.last = h.input
			if h.responses == 0 {
				h.first = append(h.first, h.input)
			}
		case item.Kind == model.ToolOutput:
			h.last = item.Output
			h.outputs = append(h.outputs, h.last)
		case !answering:
			h.responses++
		}
		if item.Kind == model.ToolCall {
			h.calls++
		}
		answering = own
	}
	return h
}

// fill replaces the placeholders in a text by their values, encoded by write.
func (h history) fill(s string, write func(string) string) (string, error) {
	var failed error
	// The pattern is compiled here: a script is short, and most programs that link this package read none.
	filled := regexp.MustCompile(`\$\{(input|output(\.[^{}]+)?)\}`).ReplaceAllStringFunc(s, func(placeholder string) string {
		value, err := h.value(strings.Trim(placeholder, "${}"))
		failed = cmp.Or(failed, err)
		return write(value)
	})
	return filled, failed
}

// value returns the value of a placeholder: input, output, output.KEY or output.NUMBER.KEY.
func (h history) value(name string) (string, error) {
	if name == "input" {
		return h.input, nil
	}
	number, key := len(h.outputs), strings.TrimPrefix(strings.TrimPrefix(name, "output"), ".")
	if first, rest, _ := strings.Cut(key, "."); first != "" {
		if n, err := strconv.Atoi(first); err == nil {
			number, key = n, rest
		}
	}
	if number < 1 || number > len(h.outputs) {
		return "", fmt.Errorf("the script refers to an output that there is not: %s", text.Quote(name))
	}
	output := h.outputs[number-1]
	if key == "" {
		return output, nil
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(output), &object); err != nil || object[key] == nil {
		return "", fmt.Errorf("the script refers to %s, which is not in the output %s", text.Quote(key), text.Quote(output))
	}
	if value, ok := object[key].(string); ok {
		return value, nil
	}
	encoded, err := json.Marshal(object[key])
	return string(encoded), err
}

// arguments returns the arguments of a call as JSON.
func (h history) arguments(arguments any) (string, error) {
	if verbatim, ok := arguments.(string); ok {
		return h.fill(verbatim, func(s string) string { return s })
	}
	if arguments == nil {
		return "{}", nil
	}
	encoded, err := json.Marshal(arguments)
	if err != nil {
		return "", fmt.Errorf("writing the arguments of the script: %w", err)
	}
	return h.fill(string(encoded), func(s string) string { // as it stands between the quotes of a JSON string
		quoted, _ := json.Marshal(s) // a text always has a form
		return string(quoted[1 : len(quoted)-1])
	})
}

func tokens(items []model.Item) int64 {
	bytes := 0
	for _, item := range items {
		bytes += len(item.Text()) + len(item.Arguments) + len(item.Output)
	}
	return int64(bytes+3) / 4
}
