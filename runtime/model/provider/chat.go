package provider

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/model"
)

// chatBody returns a request of OpenAI's Chat Completions API, as far as the many servers go that offer it too.
func chatBody(r request) fields {
	body := fields{
		"model": r.model, "messages": chatMessages(r), "stream": true,
		"stream_options": fields{"include_usage": true},
	}
	r.offer(body, "parameters", func(function fields) fields { return fields{"type": "function", "function": function} }, nil)
	if r.MaxOutputTokens > 0 {
		body["max_completion_tokens"] = r.MaxOutputTokens
	}
	return body
}

// chatMessages returns the messages of a request. What the model wrote without a break is one message, and so is what
// the user did: the templates of many models want the two to alternate.
func chatMessages(r request) []fields {
	messages := []fields{}
	if r.Instructions != nil {
		messages = append(messages, fields{"role": "system", "content": *r.Instructions})
	}
	entries := r.entries()
	lastInput := len(entries) - 1
	for lastInput >= 0 && entries[lastInput].Kind != model.UserMessage {
		lastInput--
	}
	for i, run := range runs(entries) {
		switch run[0].Kind {
		case model.UserMessage:
			var parts []model.Part
			for _, e := range run {
				parts = append(parts, e.Parts...)
			}
			messages = append(messages, fields{"role": "user", "content": chatContent(parts)})
		case model.ToolOutput:
			for _, e := range run {
				messages = append(messages, fields{"role": "tool", "tool_call_id": e.CallID, "content": e.Output})
			}
		default:
			if message := chatMessage(run, i > lastInput); len(message) > 1 {
				messages = append(messages, message)
			}
		}
	}
	return messages
}

// runs yields the entries that become one message, with the index of the first: those of the user, those of tools, and
// those of the model.
func runs(entries []entry) func(yield func(int, []entry) bool) {
	side := func(e entry) model.Kind {
		if e.Kind == model.Reasoning || e.Kind == model.ToolCall {
			return model.AgentMessage
		}
		return e.Kind
	}
	return func(yield func(int, []entry) bool) {
		for start := 0; start < len(entries); {
			end := start + 1
			for end < len(entries) && side(entries[end]) == side(entries[start]) {
				end++
			}
			if !yield(start, entries[start:end]) {
				return
			}
			start = end
		}
	}
}

// chatContent returns the content of a user's message: a text where it is nothing else, since not every server reads
// parts.
func chatContent(parts []model.Part) any {
	var texts []string
	var encoded []fields
	for _, p := range parts {
		if p.ImageURL != "" {
			encoded = append(encoded, fields{"type": "image_url", "image_url": fields{"url": p.ImageURL}})
			continue
		}
		texts = append(texts, p.Text)
		encoded = append(encoded, fields{"type": "text", "text": p.Text})
	}
	if len(texts) == len(encoded) {
		return strings.Join(texts, "\n\n")
	}
	return encoded
}

// chatMessage returns a message of the model. Reasoning has no place in the interface; servers that send it want it
// back while a call of the same turn is being answered, and not later.
func chatMessage(run []entry, sameTurn bool) fields {
	message := fields{"role": "assistant"}
	var texts []string
	var calls []any
	for _, e := range run {
		switch e.Kind {
		case model.AgentMessage:
			if text := e.Text(); text != "" {
				texts = append(texts, text)
			}
		case model.Reasoning:
			if sameTurn {
				for key, value := range e.raw {
					message[key] = value
				}
			}
		case model.ToolCall:
			call := e.raw
			if call == nil {
				call = map[string]json.RawMessage{}
			}
			set(call, "type", "function")
			set(call, "id", e.CallID)
			set(call, "function", fields{"name": model.Flat(e.Name), "arguments": e.Arguments})
			calls = append(calls, call)
		}
	}
	switch {
	case len(texts) > 0:
		message["content"] = strings.Join(texts, "\n\n")
	case len(calls) > 0:
		message["content"] = nil
	default:
		return nil
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	return message
}

// done is the data of the last event of a stream.
const done = "[DONE]"

type chatDecoder struct {
	*stream
	text               strings.Builder
	reasoning, thought strings.Builder // some servers have one, some the other
	calls              []*chatCall
}

// chatCall is a call in the making.
type chatCall struct {
	index     int
	id, name  string
	arguments strings.Builder
	extra     map[string]json.RawMessage // what a server keeps with a call
}

func (d *chatDecoder) event(data []byte) (bool, error) {
	if string(data) == done {
		d.whole = true
		return true, nil
	}
	var chunk struct {
		Error   *providerError `json:"error"`
		Choices []struct {
			Delta struct {
				Content   string                       `json:"content"`
				Refusal   string                       `json:"refusal"`
				Reasoning string                       `json:"reasoning"`
				Thought   string                       `json:"reasoning_content"`
				Calls     []map[string]json.RawMessage `json:"tool_calls"`
			} `json:"delta"`
			Finish string `json:"finish_reason"`
		} `json:"choices"`
		Usage *openAIUsage `json:"usage"`
	}
	if err := json.Unmarshal(data, &chunk); err != nil {
		return false, invalid("an event of the response is not the JSON of the Chat Completions API")
	}
	if chunk.Error != nil {
		return false, chunk.Error.failure(0)
	}
	if chunk.Usage != nil {
		d.usage = chunk.Usage.usage()
	}
	if len(chunk.Choices) == 0 {
		return false, nil
	}
	choice := chunk.Choices[0]
	d.reasoning.WriteString(choice.Delta.Reasoning)
	d.thought.WriteString(choice.Delta.Thought)
	for _, text := range []string{choice.Delta.Content, choice.Delta.Refusal} {
		d.text.WriteString(text)
		d.delta(text)
	}
	for _, call := range choice.Delta.Calls {
		if err := d.call(call); err != nil {
			return false, err
		}
	}
	if choice.Finish == "content_filter" {
		return false, withheld()
	}
	d.whole = d.whole || choice.Finish != ""
	return false, nil
}

// call takes a piece of a call. Pieces belong together by their index. Some servers have no index, or the same one for
// all calls, and send each call whole: there an id begins a new one.
func (d *chatDecoder) call(piece map[string]json.RawMessage) error {
	var function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	if raw, ok := piece["function"]; ok && json.Unmarshal(raw, &function) != nil {
		return invalid("a call of the response is not the JSON of the Chat Completions API")
	}
	id, index, indexed := stringOf(piece["id"]), 0, false
	if raw, ok := piece["index"]; ok {
		indexed = json.Unmarshal(raw, &index) == nil
	}
	var call *chatCall
	for _, begun := range slices.Backward(d.calls) {
		if !indexed && id == "" || indexed && begun.index == index || !indexed && begun.id == id {
			call = begun
			break
		}
	}
	if call == nil || id != "" && call.id != "" && call.id != id {
		call = &chatCall{index: index, extra: map[string]json.RawMessage{}}
		d.calls = append(d.calls, call)
	}
	if id != "" {
		call.id = id
	}
	if call.name != function.Name { // some servers repeat the name with every piece
		call.name += function.Name
	}
	call.arguments.WriteString(function.Arguments)
	maps.Copy(call.extra, piece)
	return nil
}

func (d *chatDecoder) response() (r reply) {
	if d.reasoning.Len()+d.thought.Len() > 0 {
		thinking := struct {
			Reasoning string `json:"reasoning,omitempty"`
			Thought   string `json:"reasoning_content,omitempty"`
		}{d.reasoning.String(), d.thought.String()}
		if raw, err := model.JSON(thinking); err == nil {
			r.items = append(r.items, model.Item{Kind: model.Reasoning, Raw: string(raw)})
		}
	}
	if d.text.Len() > 0 {
		r.items = append(r.items, model.Text(model.AgentMessage, d.text.String()))
	}
	for _, call := range d.calls {
		item := model.Item{
			Kind: model.ToolCall, CallID: call.id, Name: d.names.Canonical(call.name), Wire: call.name,
			Arguments: call.arguments.String(),
		}
		for _, ours := range []string{"index", "id", "type", "function"} {
			delete(call.extra, ours)
		}
		if len(call.extra) > 0 {
			if raw, err := model.JSON(call.extra); err == nil {
				item.Raw = string(raw)
			}
		}
		r.items = append(r.items, item)
	}
	return r
}
