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

func responsesInput(r request) []any {
	input := []any{}
	for _, e := range r.entries() {
		switch e.Kind {
		case model.UserMessage:
			input = append(input, fields{"type": "message", "role": "user", "content": responsesParts(e.Parts)})
		case model.AgentMessage:
			if e.raw != nil {
				input = append(input, e.raw)
			} else if text := e.Text(); text != "" {
				input = append(input, fields{"type": "message", "role": "assistant", "content": text})
			}
		case model.Reasoning:
			input = append(input, e.raw)
		case model.ToolCall:
			call := e.raw
			if call == nil {
				call = map[string]json.RawMessage{}
			}
			set(call, "type", "function_call")
			set(call, "call_id", e.CallID)
			set(call, "arguments", e.Arguments)
			set(call, "name", model.Flat(e.Name))
			delete(call, "namespace") // of sessions of earlier versions
			input = append(input, call)
		case model.ToolOutput:
			input = append(input, fields{"type": "function_call_output", "call_id": e.CallID, "output": e.Output})
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
	reply    reply
	unpaired bool // there was reasoning which cannot be sent again
}

func (d *responsesDecoder) response() reply { return d.reply }

func (d *responsesDecoder) event(data []byte) (bool, error) {
	var event struct {
		Type     string          `json:"type"`
		Delta    json.RawMessage `json:"delta"`
		Item     json.RawMessage `json:"item"`
		Response struct {
			Output            []json.RawMessage `json:"output"`
			Usage             *openAIUsage      `json:"usage"`
			Error             *providerError    `json:"error"`
			IncompleteDetails struct {
				Reason string `json:"reason"`
			} `json:"incomplete_details"`
		} `json:"response"`
		Error   *providerError `json:"error"`
		Code    any            `json:"code"`
		Message string         `json:"message"`
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
		d.delta(stringOf(event.Delta))
	case "response.output_item.done":
		return false, d.item(event.Item)
	case "response.completed", "response.incomplete":
		d.whole = true
		if len(d.reply.items) == 0 { // some servers send the items here alone
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
			return false, (providerError{Code: "server_error", Message: "the response failed"}).failure(0)
		}
		return false, event.Response.Error.failure(0)
	case "error":
		if event.Error == nil {
			event.Error = &providerError{Code: event.Code, Message: event.Message}
		}
		return false, event.Error.failure(0)
	}
	return false, nil
}

// withheld is the error for a response that the provider does not give.
func withheld() error {
	return &model.Error{Code: model.CodeRefused, Message: "the provider withholds the response, by its rules for content"}
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
	if err := json.Unmarshal(raw, &item); err != nil || item.Type == "" {
		return invalid("an item of the response is not the JSON of the Responses API")
	}
	decoded := model.Item{Kind: model.Reasoning, Raw: string(raw)}
	switch item.Type {
	case "message":
		text := ""
		for _, part := range item.Content {
			text += part.Text + part.Refusal
		}
		decoded.Kind, decoded.Parts = model.AgentMessage, []model.Part{{Text: text}}
	case "function_call":
		decoded.Kind, decoded.CallID, decoded.Arguments = model.ToolCall, item.CallID, item.Arguments
		decoded.Name, decoded.Wire = d.names.Canonical(item.Name), item.Name
	case "reasoning":
		if item.Encrypted == "" && len(item.Content) == 0 {
			d.unpaired = true
			return nil // it is on the server alone, which does not keep it
		}
	}
	if d.unpaired && decoded.Kind != model.Reasoning {
		decoded.Raw = withoutID(raw)
	}
	d.reply.items = append(d.reply.items, decoded)
	return nil
}

// withoutID returns an item without the id that pairs it with reasoning: sent again without that, it would be refused.
func withoutID(raw json.RawMessage) string {
	var item map[string]json.RawMessage
	if json.Unmarshal(raw, &item) != nil {
		return ""
	}
	delete(item, "id")
	encoded, err := model.JSON(item)
	if err != nil {
		return ""
	}
	return string(encoded)
}
