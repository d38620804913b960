package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

type fields = map[string]any

func sse(event string, data fields) string {
	encoded, err := json.Marshal(data)
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	if event == "" {
		return fmt.Sprintf("data: %s\n\n", encoded)
	}
	return fmt.Sprintf("event: %s\ndata: %s\n\n", event, encoded)
}

// chat is https://platform.openai.com/docs/api-reference/chat-streaming.
func chat(a Answer) []string {
	var events []string
	chunk := func(more fields) {
		all := fields{"id": "chatcmpl", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": []any{}}
		for key, value := range more {
			all[key] = value
		}
		events = append(events, sse("", all))
	}
	delta := func(delta fields, finish any) {
		chunk(fields{"choices": []any{fields{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	delta(fields{"role": "assistant", "content": ""}, nil)
	if a.Thinking != "" {
		delta(fields{"reasoning_content": a.Thinking}, nil)
	}
	for _, piece := range a.Pieces {
		delta(fields{"content": piece}, nil)
	}
	finish := "stop"
	for i, c := range a.Calls {
		finish = "tool_calls"
		delta(fields{"tool_calls": []any{fields{"index": i, "id": c.ID, "type": "function", "function": fields{"name": c.Name, "arguments": ""}}}}, nil)
		delta(fields{"tool_calls": []any{fields{"index": i, "function": fields{"arguments": c.Args}}}}, nil)
	}
	delta(fields{}, finish)
	chunk(fields{"usage": fields{
		"prompt_tokens": a.Usage.Input, "completion_tokens": a.Usage.Output, "total_tokens": a.Usage.Input + a.Usage.Output,
	}})
	return append(events, "data: [DONE]\n\n")
}

// responses is https://platform.openai.com/docs/api-reference/responses-streaming.
func responses(a Answer) []string {
	var events []string
	emit := func(kind string, data fields) {
		data["type"], data["sequence_number"] = kind, len(events)
		events = append(events, sse(kind, data))
	}
	output := []any{}
	response := func(status string) fields {
		return fields{"id": "resp", "object": "response", "created_at": 0, "status": status, "model": "m", "output": output}
	}
	emit("response.created", fields{"response": response("in_progress")})
	item := func(begun, whole fields, between func(at fields)) {
		index := len(output)
		id := fmt.Sprint("item_", index)
		begun["id"], whole["id"], begun["type"] = id, id, whole["type"]
		emit("response.output_item.added", fields{"output_index": index, "item": begun})
		between(fields{"item_id": id, "output_index": index, "content_index": 0})
		emit("response.output_item.done", fields{"output_index": index, "item": whole})
		output = append(output, whole)
	}
	if a.Thinking != "" {
		summary := []any{fields{"type": "summary_text", "text": a.Thinking}}
		item(fields{"summary": []any{}}, fields{"type": "reasoning", "summary": summary, "encrypted_content": "encrypted"}, func(fields) {})
	}
	if a.Pieces != nil {
		part := func(text string) fields { return fields{"type": "output_text", "text": text, "annotations": []any{}} }
		whole := fields{"type": "message", "role": "assistant", "status": "completed", "content": []any{part(strings.Join(a.Pieces, ""))}}
		item(fields{"role": "assistant", "status": "in_progress", "content": []any{}}, whole, func(at fields) {
			at["part"] = part("")
			emit("response.content_part.added", at)
			delete(at, "part")
			for _, piece := range a.Pieces {
				at["delta"] = piece
				emit("response.output_text.delta", at)
			}
		})
	}
	for _, c := range a.Calls {
		whole := fields{"type": "function_call", "status": "completed", "call_id": c.ID, "name": c.Name, "arguments": c.Args}
		if c.Namespace != "" {
			whole["namespace"] = c.Namespace
		}
		item(fields{"status": "in_progress", "call_id": c.ID, "name": c.Name, "arguments": ""}, whole, func(at fields) {
			at["delta"] = c.Args
			emit("response.function_call_arguments.delta", at)
		})
	}
	end := response("completed")
	end["usage"] = fields{
		"input_tokens": a.Usage.Input, "input_tokens_details": fields{"cached_tokens": 0},
		"output_tokens": a.Usage.Output, "output_tokens_details": fields{"reasoning_tokens": 0}, "total_tokens": a.Usage.Input + a.Usage.Output,
	}
	emit("response.completed", fields{"response": end})
	return events
}

// messages is https://docs.anthropic.com/en/docs/build-with-claude/streaming.
func messages(a Answer) []string {
	var events []string
	emit := func(kind string, data fields) {
		data["type"] = kind
		events = append(events, sse(kind, data))
	}
	blocks := 0
	block := func(begin fields, deltas ...fields) {
		emit("content_block_start", fields{"index": blocks, "content_block": begin})
		for _, delta := range deltas {
			emit("content_block_delta", fields{"index": blocks, "delta": delta})
		}
		emit("content_block_stop", fields{"index": blocks})
		blocks++
	}
	emit("message_start", fields{"message": fields{
		"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": fields{"input_tokens": a.Usage.Input, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 1},
	}})
	if a.Thinking != "" {
		block(fields{"type": "thinking", "thinking": "", "signature": ""},
			fields{"type": "thinking_delta", "thinking": a.Thinking}, fields{"type": "signature_delta", "signature": "signature"})
	}
	if a.Pieces != nil {
		var deltas []fields
		for _, piece := range a.Pieces {
			deltas = append(deltas, fields{"type": "text_delta", "text": piece})
		}
		block(fields{"type": "text", "text": ""}, deltas...)
	}
	stop := "end_turn"
	for _, c := range a.Calls {
		stop = "tool_use"
		block(fields{"type": "tool_use", "id": c.ID, "name": c.Name, "input": fields{}}, fields{"type": "input_json_delta", "partial_json": c.Args})
	}
	emit("message_delta", fields{
		"delta": fields{"stop_reason": stop, "stop_sequence": nil},
		"usage": fields{"output_tokens": a.Usage.Output},
	})
	emit("message_stop", fields{})
	return events
}
