package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// responses is OpenAI's Responses API, as far as Codex uses it.
// https://platform.openai.com/docs/api-reference/responses
func responses() protocol {
	return protocol{path: "/responses", parse: parseResponses, stream: streamResponses}
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Tools       []responsesTool `json:"tools"` // of a namespace
}

func parseResponses(body []byte) (exchange, error) {
	var request struct {
		Tools []responsesTool `json:"tools"`
		Input []struct {
			Type   string          `json:"type"`
			CallID string          `json:"call_id"`
			Output json.RawMessage `json:"output"`
		} `json:"input"`
	}
	var e exchange
	if err := json.Unmarshal(body, &request); err != nil {
		return e, fmt.Errorf("reading a request for a response: %w", err)
	}
	for _, tool := range request.Tools {
		switch tool.Type {
		case "function":
			e.Tools = append(e.Tools, offer{Name: tool.Name, Description: tool.Description, Parameters: tool.Parameters})
		case "namespace":
			for _, inner := range tool.Tools {
				e.Tools = append(e.Tools, offer{
					Name: inner.Name, Namespace: tool.Name, NamespaceText: tool.Description,
					Description: inner.Description, Parameters: inner.Parameters,
				})
			}
		}
	}
	for _, item := range request.Input {
		if item.Type != "function_call_output" {
			continue
		}
		text, err := contentText(item.Output)
		if err != nil {
			return e, err
		}
		e.Results = append(e.Results, result{CallID: item.CallID, Text: text})
	}
	return e, nil
}

// contentText reads content that is a string or a list of blocks with text.
func contentText(content json.RawMessage) (string, error) {
	var text string
	if err := json.Unmarshal(content, &text); err == nil {
		return text, nil
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(content, &blocks); err != nil {
		return "", fmt.Errorf("reading content: %w", err)
	}
	texts := make([]string, len(blocks))
	for i, block := range blocks {
		texts[i] = block.Text
	}
	return strings.Join(texts, "\n"), nil
}

func streamResponses(w io.Writer, r reply) error {
	item := map[string]any{
		"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": r.text, "annotations": []any{}}},
	}
	if r.callID != "" {
		item = map[string]any{
			"type": "function_call", "id": "fc_" + r.callID, "status": "completed",
			"call_id": r.callID, "name": r.tool.Name, "arguments": r.arguments,
		}
		if r.tool.Namespace != "" {
			item["namespace"] = r.tool.Namespace
		}
	}
	usage := map[string]any{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
	for _, event := range []map[string]any{
		{"type": "response.created", "response": map[string]any{"id": "resp_1", "status": "in_progress", "output": []any{}}},
		{"type": "response.output_item.added", "output_index": 0, "item": item},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": map[string]any{"id": "resp_1", "status": "completed", "output": []any{item}, "usage": usage}},
	} {
		data, err := json.Marshal(event)
		if err != nil {
			return fmt.Errorf("writing an event: %w", err)
		}
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], data); err != nil {
			return fmt.Errorf("writing an event: %w", err)
		}
	}
	return nil
}
