package provider

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/model"
)

// messagesBody returns a request of Anthropic's Messages API.
func messagesBody(r request) fields {
	body := fields{"model": r.model, "messages": messagesHistory(r), "stream": true}
	body["max_tokens"] = cmp.Or(r.MaxOutputTokens, 32_000) // the API requires a limit
	if r.Instructions != nil && strings.TrimSpace(*r.Instructions) != "" {
		body["system"] = *r.Instructions
	}
	if r.CacheKey != "" {
		body["cache_control"] = fields{"type": "ephemeral"} // caches the whole prompt
	}
	r.addTools(body, "input_schema", func(tool fields) fields { return tool }, fields{"type": "web_search_20250305", "name": "web_search"})
	return body
}

// messagesHistory returns the messages of a request. One message has the outputs of all calls of a response.
func messagesHistory(r request) []fields {
	var history []fields
	for _, t := range r.turns() {
		if t.role == "tool" {
			t.role = "user"
		}
		var blocks []any
		for _, e := range t.items {
			blocks = append(blocks, messagesBlocks(e)...)
		}
		if len(blocks) > 0 {
			history = append(history, fields{"role": t.role, "content": blocks})
		}
	}
	return history
}

// messagesBlocks returns the blocks of content that stand for an item of a history in a request.
func messagesBlocks(e entry) []any {
	switch e.Kind {
	case model.ToolOutput:
		output := fields{"type": "tool_result", "tool_use_id": e.CallID, "content": e.Output}
		if e.Failed {
			output["is_error"] = true
			if e.Output == "" {
				output["content"] = "(no output)" // the API refuses an error without content
			}
		}
		return []any{output}
	case model.ToolCall: // e.saved is the block that this model wrote, or empty if another model made the call
		e.saved["type"], e.saved["id"], e.saved["name"], e.saved["input"] = "tool_use", e.CallID, e.Name, json.RawMessage(e.Arguments)
		return []any{e.saved}
	}
	if blocks, ok := e.saved["blocks"].([]any); ok { // of the response in which this model wrote the item
		return blocks
	}
	parts := slices.DeleteFunc(slices.Clone(e.Parts), func(p model.Part) bool { // the API refuses blank texts
		return p.ImageURL == "" && strings.TrimSpace(p.Text) == ""
	})
	if len(parts) == 0 && e.Kind == model.UserMessage {
		parts = model.Parts{{Text: "(no text)"}}
	}
	return encodeParts(parts, "text", messagesImage)
}

// messagesImage returns the block of an image.
func messagesImage(url string) fields {
	source := fields{"type": "url", "url": url}
	if media, data, inline := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,"); inline {
		source = fields{"type": "base64", "media_type": media, "data": data}
	}
	return fields{"type": "image", "source": source}
}

// messagesEvent reads an event: the beginning or a piece of a block, or the end of the message.
func (s *stream) messagesEvent(event fields) error {
	number, _ := event["index"].(json.Number)
	index, _ := strconv.Atoi(number.String())
	delta := objectOf(event["delta"])
	switch event["type"] {
	case "content_block_start":
		block := objectOf(event["content_block"])
		if textOf(block["type"]) == "" || index != len(s.parts) {
			return &model.Error{Code: model.CodeInvalidResponse, Message: "a part of the response has no type, or is not the next"}
		}
		s.parts = append(s.parts, block)
		s.delta(textOf(block["text"]))
	case "content_block_delta":
		if index < 0 || index >= len(s.parts) {
			return &model.Error{Code: model.CodeInvalidResponse, Message: "a piece of the response belongs to no part of it"}
		}
		block := s.parts[index]
		appendTexts(block, delta)
		if citation := delta["citation"]; citation != nil {
			citations, _ := block["citations"].([]any)
			block["citations"] = append(citations, citation)
		}
		s.delta(textOf(delta["text"]))
	case "message_delta":
		s.stopReason = cmp.Or(textOf(delta["stop_reason"]), s.stopReason)
	case "message_stop":
		s.complete = true
		if s.stopReason == "refusal" {
			return withheldError()
		}
		return io.EOF
	}
	return nil
}

// messagesFinish adds items for the blocks of the response. Adjacent blocks of text become one message: a text with
// citations has several blocks. Blank texts are left out, since the API refuses them.
func (s *stream) messagesFinish() {
	s.paused = s.stopReason == "pause_turn"
	var texts []fields // adjacent blocks of text that are not yet in items
	for _, block := range s.parts {
		arguments := textOf(block["partial_json"]) // the joined pieces of the arguments of a call
		delete(block, "partial_json")
		if arguments != "" {
			block["input"] = json.RawMessage(argumentsObject(arguments))
		}
		if block["type"] == "text" {
			if strings.TrimSpace(textOf(block["text"])) != "" {
				texts = append(texts, block)
			}
			continue
		}
		s.addMessage(texts)
		texts = nil
		item := model.Item{Kind: model.Reasoning, Raw: s.raw(fields{"blocks": []fields{block}})}
		if block["type"] == "tool_use" {
			item = s.messagesCall(block, arguments)
		}
		s.items = append(s.items, item)
	}
	s.addMessage(texts)
}

// messagesCall returns the item of a block with a call. If arguments is empty, the first event of the block had them all.
func (s *stream) messagesCall(block fields, arguments string) model.Item {
	if input, ok := block["input"]; ok && arguments == "" {
		encoded, _ := model.JSON(input) // cannot fail: input was decoded from JSON
		arguments = string(encoded)
	}
	delete(block, "input")
	item := s.newCall(textOf(block["id"]), textOf(block["name"]), arguments)
	item.Raw = s.raw(block)
	return item
}

// addMessage adds an item for blocks of text, if there are any.
func (s *stream) addMessage(blocks []fields) {
	if len(blocks) == 0 {
		return
	}
	var text strings.Builder
	for _, block := range blocks {
		text.WriteString(textOf(block["text"]))
	}
	item := model.Text(model.AgentMessage, text.String())
	item.Raw = s.raw(fields{"blocks": blocks})
	s.items = append(s.items, item)
}
