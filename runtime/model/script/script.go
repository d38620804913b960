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
//	pace     how long it takes before each further one
//	usage    { input = 12, cached = 0, output = 34, reasoning = 0 }; without it a token is four bytes
//	error    { code = "model_overloaded", message = "…", temporary = true }: after the pieces, the model fails
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
	Pace   time.Duration `toml:"pace"`
	Usage  *usage        `toml:"usage"`
	Error  *failure      `toml:"error"`
}

type call struct {
	Tool      string `toml:"tool"`
	Arguments any    `toml:"arguments"`
	ID        string `toml:"id"`
}

type usage struct {
	Input     int64 `toml:"input"`
	Cached    int64 `toml:"cached"`
	Output    int64 `toml:"output"`
	Reasoning int64 `toml:"reasoning"`
}

type failure struct {
	Code      string `toml:"code"`
	Message   string `toml:"message"`
	Temporary bool   `toml:"temporary"`
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
	if r.Delay < 0 || r.Pace < 0 {
		return "delay and pace cannot be negative"
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

// Sample implements [model.Model].
func (m *Model) Sample(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	if delta == nil {
		delta = func(string) {}
	}
	h := read(r.Items)
	next, err := m.next(h)
	if err != nil {
		return model.Response{}, m.fail(model.CodeScript, err.Error())
	}
	if err := m.pause(ctx, next.Delay); err != nil {
		return model.Response{}, err
	}
	pieces := next.Pieces
	if pieces == nil && next.Text != "" {
		pieces = []string{next.Text}
	}
	said := ""
	for i, piece := range pieces {
		if piece, err = h.fill(piece); err != nil {
			return model.Response{}, m.fail(model.CodeScript, err.Error())
		}
		if i > 0 {
			if err := m.pause(ctx, next.Pace); err != nil {
				return model.Response{}, err
			}
		}
		said += piece
		delta(piece)
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
			return model.Response{}, m.fail(model.CodeScript, err.Error())
		}
		response.Items = append(response.Items, item)
	}
	response.Usage = next.usage(r, response.Items)
	if next.Error != nil {
		e := m.fail(model.Code(next.Error.Code), next.Error.Message)
		e.Temporary, e.Streamed = next.Error.Temporary, said != ""
		return model.Response{Usage: response.Usage}, e
	}
	return response, nil
}

func (m *Model) pause(ctx context.Context, d time.Duration) error {
	if d > 0 {
		return m.wait(ctx, d)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (m *Model) fail(code model.Code, message string) *model.Error {
	return &model.Error{Model: m.name, Code: code, Message: message, Attempts: 1}
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

// fill replaces the placeholders in a text.
func (h history) fill(s string) (string, error) {
	var failed error
	// The pattern is compiled here: a script is short, and most programs that link this package read none.
	filled := regexp.MustCompile(`\$\{[^{}]*\}`).ReplaceAllStringFunc(s, func(placeholder string) string {
		value, err := h.value(strings.Trim(placeholder, "${}"))
		if err != nil && failed == nil {
			failed = err
		}
		return value
	})
	return filled, failed
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
		return h.fill(verbatim)
	}
	if arguments == nil {
		return "{}", nil
	}
	filled, err := h.fillAll(arguments)
	if err != nil {
		return "", err
	}
	encoded, err := json.Marshal(filled)
	if err != nil {
		return "", fmt.Errorf("writing the arguments of the script: %w", err)
	}
	return string(encoded), nil
}

// fillAll replaces the placeholders in all texts of a value.
func (h history) fillAll(value any) (any, error) {
	var err error
	switch value := value.(type) {
	case string:
		return h.fill(value)
	case []any:
		filled := make([]any, len(value))
		for i := range value {
			if filled[i], err = h.fillAll(value[i]); err != nil {
				return nil, err
			}
		}
		return filled, nil
	case []map[string]any:
		filled := make([]any, len(value))
		for i := range value {
			if filled[i], err = h.fillAll(value[i]); err != nil {
				return nil, err
			}
		}
		return filled, nil
	case map[string]any:
		filled := map[string]any{}
		for key := range value {
			if filled[key], err = h.fillAll(value[key]); err != nil {
				return nil, err
			}
		}
		return filled, nil
	}
	return value, nil
}

// usage returns the tokens of a response. Where the script does not name them, four bytes are one.
func (r response) usage(request model.Request, items []model.Item) model.Usage {
	if r.Usage != nil {
		return model.Usage{
			InputTokens: r.Usage.Input, CachedTokens: r.Usage.Cached,
			OutputTokens: r.Usage.Output, ReasoningTokens: r.Usage.Reasoning,
		}
	}
	return model.Usage{InputTokens: tokens(request.Items), OutputTokens: tokens(items)}
}

func tokens(items []model.Item) int64 {
	bytes := 0
	for _, item := range items {
		bytes += len(item.Text()) + len(item.Arguments) + len(item.Output)
	}
	return int64(bytes+3) / 4
}
