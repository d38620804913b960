package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// chatCompletions is OpenAI's Chat Completions API, as far as opencode uses it.
// https://platform.openai.com/docs/api-reference/chat
func chatCompletions() protocol {
	return protocol{path: "/chat/completions", parse: parseChat, stream: streamChat}
}

func parseChat(body []byte) (exchange, error) {
	var request struct {
		Tools []struct {
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		Messages []struct {
			Role       string          `json:"role"`
			ToolCallID string          `json:"tool_call_id"`
			Content    json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	var e exchange
	if err := json.Unmarshal(body, &request); err != nil {
		return e, fmt.Errorf("reading a request for a completion: %w", err)
	}
	for _, tool := range request.Tools {
		f := tool.Function
		e.Tools = append(e.Tools, offer{Name: f.Name, Description: f.Description, Parameters: f.Parameters})
	}
	for _, message := range request.Messages {
		if message.Role != "system" && message.Role != "tool" {
			continue
		}
		text, err := contentText(message.Content)
		if err != nil {
			return e, err
		}
		if message.Role == "system" {
			e.System += text
		} else {
			e.Results = append(e.Results, result{CallID: message.ToolCallID, Text: text})
		}
	}
	return e, nil
}

func streamChat(w io.Writer, r reply) error {
	delta, finish := map[string]any{"role": "assistant", "content": r.text}, "stop"
	if r.callID != "" {
		finish = "tool_calls"
		delta = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
			"index": 0, "id": r.callID, "type": "function",
			"function": map[string]any{"name": r.tool.Name, "arguments": r.arguments},
		}}}
	}
	chunk := func(delta map[string]any, finish any) map[string]any {
		return map[string]any{
			"id": "chatcmpl_1", "object": "chat.completion.chunk", "created": 0, "model": "scripted",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
			"usage":   map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
		}
	}
	for _, event := range []map[string]any{chunk(delta, nil), chunk(map[string]any{}, finish)} {
		data, err := json.Marshal(event)
		if err != nil {
			return fmt.Errorf("writing a chunk: %w", err)
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
			return fmt.Errorf("writing a chunk: %w", err)
		}
	}
	if _, err := io.WriteString(w, "data: [DONE]\n\n"); err != nil {
		return fmt.Errorf("ending the stream: %w", err)
	}
	return nil
}
