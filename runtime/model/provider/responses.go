package provider

import (
	"encoding/json"

	"github.com/convtools/convtools/runtime/model"
)

// responsesBody returns a request of OpenAI's Responses API, without state on the server: it has the whole history,
// reasoning in the encrypted form that came with the response.
func responsesBody(r request) fields {
	body := fields{
		"model": r.model, "input": responsesInput(r), "stream": true, "store": false,
		"include": []string{"reasoning.encrypted_content"},
	}
	if r.Instructions != nil {
		body["instructions"] = *r.Instructions
	}
	r.offer(body, "parameters", func(tool fields) fields {
		tool["type"], tool["strict"] = "function", false
		return tool
	}, fields{"type": webSearch})
	if r.MaxOutputTokens > 0 {
		body["max_output_tokens"] = max(r.MaxOutputTokens, 16) // the interface takes no less
	}
	if r.CacheKey != "" {
		body["prompt_cache_key"] = r.CacheKey
	}
	return body
}

func responsesInput(r request) []fields {
	input := []fields{}
	for _, e := range r.entries() {
		switch text := e.Text(); {
		case e.Kind == model.UserMessage:
			input = append(input, fields{"type": "message", "role": "user", "content": responsesParts(e.Parts)})
		case e.Kind == model.ToolOutput:
			input = append(input, fields{"type": "function_call_output", "call_id": e.CallID, "output": e.Output})
		case e.Kind == model.ToolCall:
			call := e.call()
			call["type"], call["call_id"], call["name"], call["arguments"] = "function_call", e.CallID, model.Flat(e.Name), e.Arguments
			delete(call, "namespace") // of sessions of earlier versions
			input = append(input, call)
		case e.raw != nil:
			input = append(input, e.raw)
		case text != "":
			input = append(input, fields{"type": "message", "role": "assistant", "content": text})
		}
	}
	return input
}

func responsesParts(parts []model.Part) []fields {
	encoded := []fields{}
	for _, p := range parts {
		if p.ImageURL != "" {
			encoded = append(encoded, fields{"type": "input_image", "image_url": p.ImageURL, "detail": "auto"})
		} else {
			encoded = append(encoded, fields{"type": "input_text", "text": p.Text})
		}
	}
	return encoded
}

type responsesDecoder struct {
	*stream
	unpaired bool // there was reasoning which cannot be sent again
}

func (d *responsesDecoder) finish() {}

func (d *responsesDecoder) event(data []byte) (bool, error) {
	var event struct {
		Type     string          `json:"type"`
		Delta    any             `json:"delta"`
		Item     json.RawMessage `json:"item"`
		Response struct {
			Output            []json.RawMessage `json:"output"`
			Usage             *openAIUsage      `json:"usage"`
			Error             *providerError    `json:"error"`
			IncompleteDetails struct {
				Reason string `json:"reason"`
			} `json:"incomplete_details"`
		} `json:"response"`
		Error *providerError `json:"error"`
	}
	if string(data) == done {
		return d.whole, nil
	}
	if err := json.Unmarshal(data, &event); err != nil {
		return false, invalid("an event of the response is not the JSON of the Responses API")
	}
	if usage := event.Response.Usage; usage != nil {
		d.usage = usage.usage()
	}
	switch event.Type {
	case "response.output_text.delta", "response.refusal.delta":
		text, _ := event.Delta.(string)
		d.delta(text)
	case "response.output_item.done":
		return false, d.item(event.Item)
	case "response.completed", "response.incomplete":
		d.whole = true
		if len(d.items) == 0 { // some servers send the items here alone
			for _, item := range event.Response.Output {
				if err := d.item(item); err != nil {
					return false, err
				}
			}
		}
		if event.Response.IncompleteDetails.Reason == "content_filter" {
			return false, withheld()
		}
		return true, nil
	case "response.failed":
		if event.Response.Error == nil {
			event.Response.Error = &providerError{Code: "server_error", Message: "the response failed"}
		}
		return false, event.Response.Error.failure(0)
	case "error":
		if event.Error == nil { // it is the event
			event.Error = &providerError{}
			_ = json.Unmarshal(data, event.Error) // as above; what has other types is left out
		}
		return false, event.Error.failure(0)
	}
	return false, nil
}

// openAIUsage is the usage of a response. The second name of each is that of Chat Completions.
type openAIUsage struct {
	Input      int64 `json:"input_tokens"`
	Prompt     int64 `json:"prompt_tokens"`
	Output     int64 `json:"output_tokens"`
	Completion int64 `json:"completion_tokens"`
}

func (u openAIUsage) usage() model.Usage {
	return model.Usage{InputTokens: max(u.Input, u.Prompt, 0), OutputTokens: max(u.Output, u.Completion, 0)}
}

func (d *responsesDecoder) item(raw json.RawMessage) error {
	var item struct {
		Type      string `json:"type"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
		Encrypted string `json:"encrypted_content"`
		Content   []struct {
			Text    string `json:"text"`
			Refusal string `json:"refusal"`
		} `json:"content"`
	}
	var own fields
	if json.Unmarshal(raw, &item) != nil || parse(raw, &own) != nil || item.Type == "" {
		return invalid("an item of the response is not the JSON of the Responses API")
	}
	decoded := model.Item{Kind: model.Reasoning}
	switch item.Type {
	case "message":
		text := ""
		for _, part := range item.Content {
			text += part.Text + part.Refusal
		}
		decoded = model.Text(model.AgentMessage, text)
	case "function_call":
		decoded = d.call(item.CallID, item.Name, item.Arguments)
	case "reasoning":
		if item.Encrypted == "" && len(item.Content) == 0 {
			d.unpaired = true
			return nil // it is on the server alone, which does not keep it
		}
	}
	if d.unpaired && decoded.Kind != model.Reasoning {
		delete(own, "id") // which pairs it with reasoning: sent again without that, it would be refused
	}
	decoded.Raw = d.own(own)
	d.items = append(d.items, decoded)
	return nil
}

// call returns the call of a tool that the model wrote.
func (s *stream) call(id, name, arguments string) model.Item {
	return model.Item{Kind: model.ToolCall, CallID: id, Name: s.names.Canonical(name), Wire: name, Arguments: arguments}
}
