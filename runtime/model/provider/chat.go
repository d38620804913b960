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
			if message := chatMessage(run, i > lastInput); message != nil {
				messages = append(messages, message)
			}
		}
	}
	return messages
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
	message := fields{"role": "assistant", "content": nil}
	var texts []string
	var calls []fields
	for _, e := range run {
		switch text := e.Text(); {
		case e.Kind == model.Reasoning && sameTurn:
			maps.Copy(message, e.raw)
		case e.Kind == model.ToolCall:
			call := e.call()
			call["type"], call["id"] = "function", e.CallID
			call["function"] = fields{"name": model.Flat(e.Name), "arguments": e.Arguments}
			calls = append(calls, call)
		case text != "":
			texts = append(texts, text)
		}
	}
	if len(texts) > 0 {
		message["content"] = strings.Join(texts, "\n\n")
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	if len(texts)+len(calls) == 0 {
		return nil
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
	extra     fields // what a server keeps with a call
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
				Content   string            `json:"content"`
				Refusal   string            `json:"refusal"`
				Reasoning string            `json:"reasoning"`
				Thought   string            `json:"reasoning_content"`
				Calls     []json.RawMessage `json:"tool_calls"`
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
		if err := d.piece(call); err != nil {
			return false, err
		}
	}
	if choice.Finish == "content_filter" {
		return false, withheld()
	}
	d.whole = d.whole || choice.Finish != ""
	return false, nil
}

// piece takes a piece of a call. Pieces belong together by their index. Some servers have no index, or the same one for
// all calls, and send each call whole: there an id begins a new one.
func (d *chatDecoder) piece(raw json.RawMessage) error {
	var piece struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	var extra fields
	if json.Unmarshal(raw, &piece) != nil || parse(raw, &extra) != nil {
		return invalid("a call of the response is not the JSON of the Chat Completions API")
	}
	var call *chatCall
	for _, begun := range slices.Backward(d.calls) {
		if piece.Index == nil && (piece.ID == "" || begun.id == piece.ID) || piece.Index != nil && begun.index == *piece.Index {
			call = begun
			break
		}
	}
	if call == nil || piece.ID != "" && call.id != "" && call.id != piece.ID {
		call = &chatCall{extra: fields{}}
		if piece.Index != nil {
			call.index = *piece.Index
		}
		d.calls = append(d.calls, call)
	}
	if piece.ID != "" {
		call.id = piece.ID
	}
	if call.name != piece.Function.Name { // some servers repeat the name with every piece
		call.name += piece.Function.Name
	}
	call.arguments.WriteString(piece.Function.Arguments)
	maps.Copy(call.extra, extra)
	return nil
}

func (d *chatDecoder) finish() {
	thinking := fields{}
	for key, text := range map[string]*strings.Builder{"reasoning": &d.reasoning, "reasoning_content": &d.thought} {
		if text.Len() > 0 {
			thinking[key] = text.String()
		}
	}
	if len(thinking) > 0 {
		d.items = append(d.items, model.Item{Kind: model.Reasoning, Raw: d.own(thinking)})
	}
	if d.text.Len() > 0 {
		d.items = append(d.items, model.Text(model.AgentMessage, d.text.String()))
	}
	for _, call := range d.calls {
		item := d.call(call.id, call.name, call.arguments.String())
		for _, ours := range []string{"index", "id", "type", "function"} {
			delete(call.extra, ours)
		}
		if len(call.extra) > 0 {
			item.Raw = d.own(call.extra)
		}
		d.items = append(d.items, item)
	}
}
