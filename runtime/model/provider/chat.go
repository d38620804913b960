package provider

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/model"
)

// chatBody returns a request of OpenAI's Chat Completions API, with the fields that other servers of the API know.
func chatBody(r request) fields {
	body := fields{
		"model": r.model, "messages": chatMessages(r), "stream": true,
		"stream_options": fields{"include_usage": true},
	}
	r.addTools(body, "parameters", func(function fields) fields { return fields{"type": "function", "function": function} }, nil)
	if r.MaxOutputTokens > 0 {
		body["max_completion_tokens"] = r.MaxOutputTokens
	}
	return body
}

// chatMessages returns the messages of a request. Adjacent messages of one role become one: the templates of many models
// want user and assistant to alternate.
func chatMessages(r request) []fields {
	messages := []fields{}
	if r.Instructions != nil {
		messages = append(messages, fields{"role": "system", "content": *r.Instructions})
	}
	all := turns(r.entries())
	asked := func(turn []entry) bool { return turn[0].role == "user" }
	for i, turn := range all {
		switch turn[0].role {
		case "user":
			messages = append(messages, fields{"role": "user", "content": chatContent(turn)})
		case "tool":
			for _, e := range turn {
				messages = append(messages, fields{"role": "tool", "tool_call_id": e.CallID, "content": e.Output})
			}
		default:
			if message := chatMessage(turn, !slices.ContainsFunc(all[i:], asked)); message != nil {
				messages = append(messages, message)
			}
		}
	}
	return messages
}

// chatContent returns the content of a user's message: a text if it has no image, since some servers accept nothing else.
func chatContent(turn []entry) any {
	var parts []model.Part
	for _, e := range turn {
		parts = append(parts, e.Parts...)
	}
	var texts []string
	for _, p := range parts {
		if p.ImageURL != "" {
			return encode(parts, "text", func(url string) fields {
				return fields{"type": "image_url", "image_url": fields{"url": url}}
			})
		}
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n")
}

// chatMessage returns a message of the model, or nil if it is empty. The API does not define reasoning; servers that
// send it want it back with the outputs of its calls, and not after the next message of the user.
func chatMessage(turn []entry, current bool) fields {
	message := fields{"role": "assistant", "content": nil}
	var texts []string
	var calls []fields
	for _, e := range turn {
		switch text := e.Text(); {
		case e.Kind == model.Reasoning && current:
			maps.Copy(message, e.saved)
		case e.Kind == model.ToolCall:
			e.saved["type"], e.saved["id"] = "function", e.CallID
			e.saved["function"] = fields{"name": e.Name, "arguments": e.Arguments}
			calls = append(calls, e.saved)
		case text != "":
			texts = append(texts, text)
		}
	}
	if len(texts)+len(calls) == 0 {
		return nil
	}
	if len(texts) > 0 {
		message["content"] = strings.Join(texts, "\n\n")
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	return message
}

// done is the data of the last event of OpenAI's streams.
const done = "[DONE]"

func (s *stream) chatEvent(data []byte) error {
	if string(data) == done {
		s.whole = true
		return io.EOF
	}
	var chunk struct {
		Error   any
		Choices []struct {
			Delta  fields
			Finish string `json:"finish_reason"`
		}
		Usage *usage
	}
	chunk.Usage = &s.usage
	if err := parse(data, &chunk); err != nil {
		return err
	}
	if chunk.Error != nil {
		return reported(chunk.Error, 0)
	}
	if len(chunk.Choices) == 0 {
		return nil
	}
	choice := chunk.Choices[0]
	s.message.add(choice.Delta)
	s.delta(textOf(choice.Delta["content"]))
	s.delta(textOf(choice.Delta["refusal"]))
	calls, _ := choice.Delta["tool_calls"].([]any)
	for _, call := range calls {
		piece, _ := call.(fields)
		s.chatCall(piece)
	}
	if choice.Finish == "content_filter" {
		return withheld()
	}
	s.whole = s.whole || choice.Finish != ""
	return nil
}

// chatCall adds a piece of a call to the last call with its index. A new id begins a call: some servers send no index, or
// the same one for every call.
func (s *stream) chatCall(piece fields) {
	index, _ := piece["index"].(json.Number)
	id := textOf(piece["id"])
	var call *block
	for _, b := range slices.Backward(s.blocks) {
		if known := b.text("id"); b.fields["index"] == index && (id == "" || known == "" || known == id) {
			call = b
			break
		}
	}
	if call == nil {
		call = &block{fields: fields{"index": index}}
		s.blocks = append(s.blocks, call)
	}
	if id != "" {
		call.fields["id"] = id
	}
	function, _ := piece["function"].(fields)
	if function["name"] == call.text("name") { // some servers repeat the name with every piece
		delete(function, "name")
	}
	call.add(function)
	for key, value := range piece { // the server wants its further fields back
		if !slices.Contains([]string{"index", "id", "type", "function"}, key) {
			call.fields[key] = value
		}
	}
}

func (s *stream) chatFinish() {
	thoughts := fields{}
	for _, key := range []string{"reasoning", "reasoning_content"} { // some servers have one, some the other
		if text := s.message.text(key); text != "" {
			thoughts[key] = text
		}
	}
	if len(thoughts) > 0 {
		s.items = append(s.items, model.Item{Kind: model.Reasoning, Raw: s.raw(thoughts)})
	}
	if text := s.message.text("content") + s.message.text("refusal"); text != "" {
		s.items = append(s.items, model.Text(model.AgentMessage, text))
	}
	for _, b := range s.blocks {
		item := s.call(b.text("id"), b.text("name"), b.text("arguments"))
		delete(b.fields, "index")
		delete(b.fields, "id")
		if len(b.fields) > 0 {
			item.Raw = s.raw(b.fields)
		}
		s.items = append(s.items, item)
	}
}
