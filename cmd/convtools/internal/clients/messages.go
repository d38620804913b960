package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// messages is Anthropic's Messages API, as far as Claude Code uses it.
// https://docs.anthropic.com/en/api/messages
func messages() protocol {
	return protocol{path: "/messages", parse: parseMessages, stream: streamMessages}
}

func parseMessages(body []byte) (exchange, error) {
	type block struct {
		Type      string          `json:"type"`
		ToolUseID string          `json:"tool_use_id"`
		Content   json.RawMessage `json:"content"`
	}
	var request struct {
		System json.RawMessage `json:"system"`
		Tools  []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	var e exchange
	if err := json.Unmarshal(body, &request); err != nil {
		return e, fmt.Errorf("reading a request for a message: %w", err)
	}
	if len(request.System) > 0 {
		system, err := contentText(request.System)
		if err != nil {
			return e, err
		}
		e.System = system
	}
	for _, tool := range request.Tools {
		e.Tools = append(e.Tools, offer{Name: tool.Name, Description: tool.Description, Parameters: tool.InputSchema})
	}
	for _, message := range request.Messages {
		var blocks []block
		if json.Unmarshal(message.Content, &blocks) != nil {
			continue // it is a string
		}
		for _, b := range blocks {
			if b.Type != "tool_result" {
				continue
			}
			text, err := contentText(b.Content)
			if err != nil {
				return e, err
			}
			e.Results = append(e.Results, result{CallID: b.ToolUseID, Text: text})
		}
	}
	return e, nil
}

func streamMessages(w io.Writer, r reply) error {
	begin, delta, stop := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": r.text}, "end_turn"
	if r.callID != "" {
		begin = map[string]any{"type": "tool_use", "id": r.callID, "name": r.tool.Name, "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": r.arguments}
		stop = "tool_use"
	}
	for _, event := range []map[string]any{
		{"type": "message_start", "message": map[string]any{
			"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []any{},
			"stop_reason": nil, "stop_sequence": nil, "usage": map[string]any{"input_tokens": 1, "output_tokens": 1},
		}},
		{"type": "content_block_start", "index": 0, "content_block": begin},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 1}},
		{"type": "message_stop"},
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
