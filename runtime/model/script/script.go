// Package script is a model that answers from a file, without a network: for tests, demonstrations and replays.
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
// without match. So the model answers in the same way again after a crash, and in a fork of a session.
//
// A response has these keys, all of them optional:
//
//	text     what the model answers
//	pieces   the same in the pieces in which it arrives, in place of text
//	calls    the tools that it calls: tool is a canonical name; arguments is a table, or a text that is passed on as it
//	         is; id is the id of the call, where it is not to be call_1, call_2, … of the conversation
//	match    the last input or output that is being answered contains this
//	repeat   true: for all further responses too
//	delay    how long the model takes before the first piece, as "250ms"
//
// In texts, and in texts within arguments, ${input} stands for the last input, ${output} for the last output of a tool,
// ${output.KEY} for a text in the JSON object that this is, and ${output.2.KEY} for that of the second output of the
// conversation.
package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/model"
)

// Model answers from a script. It implements [model.Model].
type Model struct {
	name   string
	script file
	wait   func(context.Context, time.Duration) error
}

// file is a decoded script.
type file struct {
	Conversations []conversation `toml:"conversation"`
}

type conversation struct {
	First     string     `toml:"first"`
	Responses []response `toml:"response"`
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
	ID        string `toml:"id"`
}

// Parse reads a script for a model that the configuration calls name. wait takes the time that the script wants; nil
// waits for real.
func Parse(name, source string, wait func(context.Context, time.Duration) error) (*Model, error) {
	m := &Model{name: name, wait: wait}
	if wait == nil {
		m.wait = sleep
	}
	meta, err := toml.Decode(strings.TrimPrefix(source, "\ufeff"), &m.script)
	if err != nil {
		return nil, fmt.Errorf("reading the script: %w", err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 && !inArguments(unknown[0]) {
		return nil, fmt.Errorf("reading the script: unknown key %s", text.Quote(unknown[0].String()))
	}
	for i, c := range m.script.Conversations {
		for n, r := range c.Responses {
			if problem := r.problem(); problem != "" {
				return nil, fmt.Errorf("reading the script: response %d of conversation %d: %s", n+1, i+1, problem)
			}
		}
	}
	return m, nil
}

// inArguments reports whether a key is one of the arguments of a call, which may be any.
func inArguments(key toml.Key) bool {
	return len(key) > 4 && key[2] == "calls" && key[3] == "arguments"
}

func (r response) problem() string {
	if r.Text != "" && r.Pieces != nil {
		return "it has both text and pieces"
	}
	if r.Delay < 0 {
		return "delay cannot be negative"
	}
	for _, c := range r.Calls {
		if c.Tool == "" {
			return "a call names no tool"
		}
		switch c.Arguments.(type) {
		case nil, string, map[string]any:
		default:
			return "arguments have to be a table or a text"
		}
	}
	return ""
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Sample implements [model.Model]. Four bytes are a token.
func (m *Model) Sample(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	h := read(r.Items)
	next, err := m.next(h)
	if err != nil {
		return model.Response{}, m.fail(err)
	}
	if next.Delay > 0 {
		err = m.wait(ctx, next.Delay)
	} else {
		err = context.Cause(ctx)
	}
	if err != nil {
		return model.Response{}, err
	}
	pieces := next.Pieces
	if pieces == nil && next.Text != "" {
		pieces = []string{next.Text}
	}
	said := ""
	for _, piece := range pieces {
		if piece, err = h.fill(piece, plain); err != nil {
			return model.Response{}, m.fail(err)
		}
		said += piece
		if delta != nil {
			delta(piece)
		}
	}
	var response model.Response
	if said != "" {
		response.Items = append(response.Items, model.Text(model.AgentMessage, said))
	}
	for i, c := range next.Calls {
		item := model.Item{Kind: model.ToolCall, CallID: c.ID, Name: c.Tool, Wire: c.Tool}
		if item.CallID == "" {
			item.CallID = "call_" + strconv.Itoa(h.calls+i+1)
		}
		if item.Arguments, err = h.arguments(c.Arguments); err != nil {
			return model.Response{}, m.fail(err)
		}
		response.Items = append(response.Items, item)
	}
	response.Usage = model.Usage{InputTokens: tokens(r.Items), OutputTokens: tokens(response.Items)}
	return response, nil
}

func (m *Model) fail(err error) error {
	return &model.Error{Model: m.name, Code: model.CodeScript, Message: err.Error(), Attempts: 1}
}

// next returns the response to a history.
func (m *Model) next(h history) (response, error) {
	for i, c := range m.script.Conversations {
		if !h.begins(c.First) {
			continue
		}
		n := 0
		var numbered *response
		for _, r := range c.Responses {
			if r.Match != "" {
				if strings.Contains(h.last, r.Match) {
					return r, nil
				}
				continue
			}
			if n == h.responses || r.Repeat && n < h.responses {
				numbered = &r
			}
			n++
		}
		if numbered != nil {
			return *numbered, nil
		}
		return response{}, fmt.Errorf("the script has no response %d for conversation %d (first = %s)", h.responses+1, i+1, text.Quote(c.First))
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
		switch item.Kind {
		case model.UserMessage:
			h.input = item.Text()
			h.last = h.input
			if h.responses == 0 {
				h.first = append(h.first, h.input)
			}
		case model.ToolOutput:
			h.outputs = append(h.outputs, item.Output)
			h.last = item.Output
		case model.ToolCall:
			h.calls++
		}
		own := item.Kind != model.UserMessage && item.Kind != model.ToolOutput
		if own && !answering {
			h.responses++
		}
		answering = own
	}
	return h
}

func (h history) begins(first string) bool {
	for _, input := range h.first {
		if strings.Contains(input, first) {
			return true
		}
	}
	return first == ""
}

// fill replaces the placeholders in a text by what they stand for, as write writes it.
func (h history) fill(s string, write func(string) string) (string, error) {
	var failed error
	// The pattern is compiled here: a script is short, and most programs that link this package read none.
	filled := regexp.MustCompile(`\$\{[^{}]*\}`).ReplaceAllStringFunc(s, func(placeholder string) string {
		value, err := h.value(strings.Trim(placeholder, "${}"))
		if err != nil && failed == nil {
			failed = err
		}
		return write(value)
	})
	return filled, failed
}

func plain(s string) string { return s }

// inJSON writes a text as it stands between the quotes of a JSON string.
func inJSON(s string) string {
	encoded, _ := json.Marshal(s) // a string always can be written
	return string(encoded[1 : len(encoded)-1])
}

func (h history) value(name string) (string, error) {
	if name == "input" {
		return h.input, nil
	}
	path, found := strings.CutPrefix(name, "output")
	if !found || path != "" && path[0] != '.' {
		return "", fmt.Errorf("the script has an unknown placeholder %s; known are input and output", text.Quote(name))
	}
	number, key := len(h.outputs), strings.TrimPrefix(path, ".")
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
		return h.fill(verbatim, plain)
	}
	if arguments == nil {
		return "{}", nil
	}
	encoded, err := json.Marshal(arguments)
	if err != nil {
		return "", fmt.Errorf("writing the arguments of the script: %w", err)
	}
	return h.fill(string(encoded), inJSON)
}

func tokens(items []model.Item) int64 {
	bytes := 0
	for _, item := range items {
		bytes += len(item.Text()) + len(item.Arguments) + len(item.Output)
	}
	return int64(bytes+3) / 4
}
