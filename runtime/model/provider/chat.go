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
	body := fields{"model": r.model, "messages": chatMessages(r), "stream": true, "stream_options": fields{"include_usage": true}}
	wrapped := func(tool fields) fields { return fields{"type": "function", "function": tool} }
	r.addTools(body, "parameters", wrapped, nil)
	if r.MaxOutputTokens > 0 {
		body["max_completion_tokens"] = r.MaxOutputTokens
	}
	return body
}

// chatMessages returns the messages of a request: one for each turn, which has all adjacent items of one role, since
// the templates of many models want user and assistant to alternate. Each output of a tool is a message of its own.
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
			userFollows := slices.ContainsFunc(turns[i:], func(t turn) bool { return t.role == "user" })
			if message := chatMessage(t.items, !userFollows); message != nil { // with reasoning only if no user's message follows
				messages = append(messages, message)
			}
		}
	}
	return messages
}

// chatContent returns the content of a user's message: a list of parts if the message has an image, otherwise the texts
// as one text, because some servers take no list.
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

// chatMessage returns a message of the model, or nil if the items have neither text nor calls. If withReasoning is
// true, the message also has the reasoning as the server sent it: beyond the API, some servers want that back.
func chatMessage(items []entry, withReasoning bool) fields {
	message := fields{"role": "assistant", "content": nil}
	var texts []string
	var calls []fields
	for _, e := range items {
		switch text := e.Text(); {
		case e.Kind == model.Reasoning && withReasoning:
			maps.Copy(message, e.saved)
		case e.Kind == model.ToolCall: // e.saved is a copy for this request, and may have more fields of the server's
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
		s.chatCall(piece)
	}
	if len(s.parts) > maxCalls {
		return &model.Error{Code: model.CodeInvalidResponse, Message: "the response has too many calls"}
	}
	reason := textOf(choices[0]["finish_reason"])
	s.complete = s.complete || reason != ""
	if reason == "content_filter" {
		return withheldError()
	}
	return nil
}

// chatCall adds a piece to the call that has its index and id. If there is no such call, the piece begins a new one.
func (s *stream) chatCall(piece fields) {
	index, _ := piece["index"].(json.Number)
	id := textOf(piece["id"])
	call := s.latestCall(index, id)
	if call == nil {
		call = fields{"function": fields{}}
		s.parts = append(s.parts, call)
	}
	function, addition := objectOf(call["function"]), objectOf(piece["function"])
	if textOf(addition["name"]) == textOf(function["name"]) { // some servers repeat the name with every piece
		delete(addition, "name")
	}
	appendTexts(function, addition)
	id = cmp.Or(id, textOf(call["id"]))
	maps.Copy(call, piece)                                            // the server wants back all fields, also unknown ones
	call["index"], call["id"], call["function"] = index, id, function // fields that Copy may have overwritten
}

// latestCall returns the latest call with an index and with the given id or no id, or nil. If id is empty, the ids of
// calls do not count. The index alone is not enough: some servers send none, or the same index for every call.
func (s *stream) latestCall(index json.Number, id string) fields {
	for _, call := range slices.Backward(s.parts) {
		known := textOf(call["id"])
		isSameID := id == "" || known == "" || known == id
		if call["index"] == index && isSameID {
			return call
		}
	}
	return nil
}

// chatFinish adds items for the reasoning, the message and the calls of the response.
func (s *stream) chatFinish() {
	thoughts := fields{}
	for _, key := range []string{"reasoning", "reasoning_content"} { // each has one of these names on some servers
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
