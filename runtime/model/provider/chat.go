package provider

import (
	"cmp"
	"encoding/json"
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
	turns := r.turns()
	for i, t := range turns {
		switch t.role {
		case "user":
			messages = append(messages, fields{"role": "user", "content": chatContent(t.items)})
		case "tool":
			for _, e := range t.items {
				messages = append(messages, fields{"role": "tool", "tool_call_id": e.CallID, "content": e.Output})
			}
		default:
			current := !slices.ContainsFunc(turns[i:], func(t turn) bool { return t.role == "user" })
			if message := chatMessage(t.items, current); message != nil {
				messages = append(messages, message)
			}
		}
	}
	return messages
}

// chatContent returns the content of a user's message: its texts as one if it has no image, since some servers take only
// that, and otherwise a list of parts.
func chatContent(items []entry) any {
	var parts []model.Part
	for _, e := range items {
		parts = append(parts, e.Parts...)
	}
	var texts []string
	for _, p := range parts {
		if p.ImageURL != "" {
			return encodeParts(parts, "text", func(url string) fields {
				return fields{"type": "image_url", "image_url": fields{"url": url}}
			})
		}
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n")
}

// chatMessage returns a message of the model, or nil if the message has neither text nor calls. The API does not define
// reasoning. Servers that send it want it back with the outputs of the calls after it, but not once the user has sent
// another message. current says that the user has not.
func chatMessage(items []entry, current bool) fields {
	message := fields{"role": "assistant", "content": nil}
	var texts []string
	var calls []fields
	for _, e := range items {
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

// chatEvent reads an event: a piece of the message and of its calls, or the reason why they end.
func (s *stream) chatEvent(event fields) error {
	choices := objectsOf(event["choices"])
	if len(choices) == 0 {
		return nil
	}
	delta := objectOf(choices[0]["delta"])
	appendTexts(s.message, delta)
	s.delta(textOf(delta["content"]))
	s.delta(textOf(delta["refusal"]))
	for _, piece := range objectsOf(delta["tool_calls"]) {
		if s.chatCall(piece); len(s.parts) > maxCalls {
			return invalidError("the response has too many calls")
		}
	}
	reason := textOf(choices[0]["finish_reason"])
	s.complete = s.complete || reason != ""
	if reason == "content_filter" {
		return withheldError()
	}
	return nil
}

// maxCalls is the largest number of calls in a response of Chat Completions: each piece is compared with all calls.
const maxCalls = 1000

// chatCall adds a piece of a call to the last call with the same index and no other id, or begins a call with the piece.
// Some servers send no index, or the same one for every call.
func (s *stream) chatCall(piece fields) {
	index, _ := piece["index"].(json.Number)
	id := textOf(piece["id"])
	var call fields
	for _, c := range slices.Backward(s.parts) {
		if known := textOf(c["id"]); c["index"] == index && (id == "" || known == "" || known == id) {
			call = c
			break
		}
	}
	if call == nil {
		call = fields{"function": fields{}}
		s.parts = append(s.parts, call)
	}
	function, further := objectOf(call["function"]), objectOf(piece["function"])
	if textOf(further["name"]) == textOf(function["name"]) { // some servers repeat the name with every piece
		delete(further, "name")
	}
	appendTexts(function, further)
	id = cmp.Or(id, textOf(call["id"]))
	maps.Copy(call, piece) // the server wants its further fields back
	call["index"], call["id"], call["function"] = index, id, function
}

// chatFinish adds items for the reasoning, the message and the calls of the response.
func (s *stream) chatFinish() {
	thoughts := fields{}
	for _, key := range []string{"reasoning", "reasoning_content"} { // some servers have one, some the other
		if text := textOf(s.message[key]); text != "" {
			thoughts[key] = text
		}
	}
	if len(thoughts) > 0 {
		s.items = append(s.items, model.Item{Kind: model.Reasoning, Raw: s.raw(thoughts)})
	}
	if text := textOf(s.message["content"]) + textOf(s.message["refusal"]); text != "" {
		s.items = append(s.items, model.Text(model.AgentMessage, text))
	}
	for _, call := range s.parts {
		function := objectOf(call["function"])
		item := s.newCall(textOf(call["id"]), textOf(function["name"]), textOf(function["arguments"]))
		for _, key := range []string{"index", "id", "type", "function"} {
			delete(call, key)
		}
		if len(call) > 0 { // the server's further fields
			item.Raw = s.raw(call)
		}
		s.items = append(s.items, item)
	}
}
