package provider

import (
	"io"

	"github.com/convtools/convtools/runtime/model"
)

// responsesBody returns a request of OpenAI's Responses API. The server keeps nothing: each request has the whole
// history, with encrypted reasoning.
func responsesBody(r request) fields {
	body := fields{
		"model": r.model, "input": responsesInput(r), "stream": true, "store": false,
		"include": []string{"reasoning.encrypted_content"},
	}
	if r.Instructions != nil {
		body["instructions"] = *r.Instructions
	}
	r.addTools(body, "parameters", func(tool fields) fields {
		tool["type"], tool["strict"] = "function", false
		return tool
	}, fields{"type": webSearch})
	if r.MaxOutputTokens > 0 {
		body["max_output_tokens"] = max(r.MaxOutputTokens, 16) // the API's minimum
	}
	if r.CacheKey != "" {
		body["prompt_cache_key"] = r.CacheKey
	}
	return body
}

func responsesInput(r request) []fields {
	input := []fields{}
	for _, e := range r.entries() {
		item := e.saved
		switch text := e.Text(); {
		case e.Kind == model.UserMessage:
			item = fields{"type": "message", "role": "user", "content": encode(e.Parts, "input_text", responsesImage)}
		case e.Kind == model.ToolOutput:
			item = fields{"type": "function_call_output", "call_id": e.CallID, "output": e.Output}
		case e.Kind == model.ToolCall:
			item["type"], item["call_id"], item["name"], item["arguments"] = "function_call", e.CallID, e.Name, e.Arguments
			delete(item, "namespace") // of sessions of earlier versions
		case len(item) == 0 && text != "":
			item = fields{"type": "message", "role": "assistant", "content": text}
		}
		if len(item) > 0 {
			input = append(input, item)
		}
	}
	return input
}

func responsesImage(url string) fields {
	return fields{"type": "input_image", "image_url": url, "detail": "auto"}
}

func (s *stream) responsesEvent(data []byte) error {
	if string(data) == done {
		return io.EOF
	}
	var event struct {
		Type     string
		Delta    any
		Item     fields
		Response struct {
			Output     []fields
			Usage      *usage
			Error      any
			Incomplete struct{ Reason string } `json:"incomplete_details"`
		}
		Error any
	}
	response := &event.Response
	response.Usage = &s.usage
	if err := parse(data, &event); err != nil {
		return err
	}
	switch event.Type {
	case "response.output_text.delta", "response.refusal.delta":
		s.delta(textOf(event.Delta))
	case "response.output_item.done":
		s.output = append(s.output, event.Item)
	case "response.completed", "response.incomplete":
		s.whole = true
		if s.output == nil { // some servers send the items here alone
			s.output = response.Output
		}
		if response.Incomplete.Reason == "content_filter" {
			return withheld()
		}
		return io.EOF
	case "response.failed":
		if response.Error == nil {
			response.Error = fields{"code": "server_error", "message": "the response failed"}
		}
		return reported(response.Error, 0)
	case "error":
		if event.Error == nil { // some servers send its fields in the event
			_ = parse(data, &event.Error) // as above
		}
		return reported(event.Error, 0)
	}
	return nil
}

func (s *stream) responsesFinish() {
	unpaired := false // a reasoning item cannot be sent again
	for _, item := range s.output {
		decoded := model.Item{Kind: model.Reasoning}
		content, _ := item["content"].([]any)
		switch item["type"] {
		case "message":
			text := ""
			for _, value := range content {
				part, _ := value.(fields)
				text += textOf(part["text"]) + textOf(part["refusal"])
			}
			decoded = model.Text(model.AgentMessage, text)
		case "function_call":
			decoded = s.call(textOf(item["call_id"]), textOf(item["name"]), textOf(item["arguments"]))
		case "reasoning":
			if textOf(item["encrypted_content"]) == "" && len(content) == 0 {
				unpaired = true
				continue // the server does not keep its content
			}
		}
		if unpaired && decoded.Kind != model.Reasoning {
			delete(item, "id") // the API refuses this id without its reasoning
		}
		decoded.Raw = s.raw(item)
		s.items = append(s.items, decoded)
	}
}
