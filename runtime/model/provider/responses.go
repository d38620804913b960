package provider

import (
	"io"
	"strings"

	"github.com/convtools/convtools/runtime/model"
)

// responsesBody returns a request of OpenAI's Responses API. The server keeps nothing: each request has the whole
// history, with encrypted reasoning.
func responsesBody(r request) fields {
	body := fields{"model": r.model, "input": responsesInput(r), "stream": true, "store": false}
	body["include"] = []string{"reasoning.encrypted_content"}
	if r.Instructions != nil {
		body["instructions"] = *r.Instructions
	}
	r.addTools(body, "parameters", func(tool fields) fields {
		tool["type"], tool["strict"] = "function", false
		return tool
	}, fields{"type": "web_search"})
	if r.MaxOutputTokens > 0 {
		body["max_output_tokens"] = max(r.MaxOutputTokens, 16) // the API's minimum
	}
	if r.CacheKey != "" {
		body["prompt_cache_key"] = r.CacheKey
	}
	return body
}

// responsesInput returns the history of a request as items of the API.
func responsesInput(r request) []fields {
	input := []fields{}
	for _, t := range r.turns() {
		for _, e := range t.items {
			if item := responsesItem(e); len(item) > 0 {
				input = append(input, item)
			}
		}
	}
	return input
}

// responsesItem returns an item of a history in the API's form. An empty message of another model becomes empty fields.
func responsesItem(e entry) fields {
	item := e.saved // the API's form if the model of this request wrote the item; otherwise empty
	switch text := e.Text(); {
	case e.Kind == model.UserMessage:
		return fields{"type": "message", "role": "user", "content": encodeParts(e.Parts, "input_text", func(url string) fields {
			return fields{"type": "input_image", "image_url": url, "detail": "auto"}
		})}
	case e.Kind == model.ToolOutput:
		return fields{"type": "function_call_output", "call_id": e.CallID, "output": e.Output}
	case e.Kind == model.ToolCall:
		item["type"], item["call_id"], item["name"], item["arguments"] = "function_call", e.CallID, e.Name, e.Arguments
		delete(item, "namespace") // of sessions of earlier versions
	case len(item) == 0 && text != "": // another model wrote this message
		return fields{"type": "message", "role": "assistant", "content": text}
	}
	return item // what the model of this request wrote, or a call
}

// responsesEvent reads an event: a piece of text, a whole item or the end of the response.
func (s *stream) responsesEvent(event fields) error {
	response := objectOf(event["response"])
	switch event["type"] {
	case "response.output_text.delta", "response.refusal.delta":
		s.delta(textOf(event["delta"]))
	case "response.output_item.done":
		s.parts = append(s.parts, objectOf(event["item"]))
	case "response.completed", "response.incomplete":
		s.complete = true
		if s.parts == nil { // some servers send the items here alone
			s.parts = objectsOf(response["output"])
		}
		if objectOf(response["incomplete_details"])["reason"] == "content_filter" {
			return withheldError()
		}
		return io.EOF
	case "response.failed":
		if response["error"] == nil {
			return reportedError(fields{"code": "server_error", "message": "the response failed"}, 0)
		}
		return reportedError(response["error"], 0)
	}
	return nil
}

// responsesFinish adds an item for each item of the API in the response, except for reasoning that cannot be sent again.
func (s *stream) responsesFinish() {
	isReasoningMissing := false // an earlier item was reasoning that is left out
	for _, item := range s.parts {
		decoded := model.Item{Kind: model.Reasoning} // for reasoning, and any type not below: it has Raw alone
		content := objectsOf(item["content"])
		switch item["type"] {
		case "message":
			var text strings.Builder
			for _, part := range content {
				text.WriteString(textOf(part["text"]) + textOf(part["refusal"]))
			}
			decoded = model.Text(model.AgentMessage, text.String())
		case "function_call":
			decoded = s.newCall(textOf(item["call_id"]), textOf(item["name"]), textOf(item["arguments"]))
		case "reasoning":
			if textOf(item["encrypted_content"]) == "" && len(content) == 0 {
				isReasoningMissing = true
				continue // neither this item nor the server has the reasoning
			}
		}
		if isReasoningMissing && decoded.Kind != model.Reasoning {
			delete(item, "id") // the API refuses the id of a message or call if the reasoning before it is missing
		}
		decoded.Raw = s.raw(item)
		s.items = append(s.items, decoded)
	}
}
