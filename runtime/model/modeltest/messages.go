package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// messages is Anthropic's Messages API: https://docs.anthropic.com/en/api/messages.
type messages struct{}

func (messages) name() string { return "messages" }

func (messages) authorized(h http.Header) error {
	// The documentation has x-api-key; Anthropic's own clients send a bearer token since version 2026-10-21.
	if key := h.Get("x-api-key"); key != Key && (key != "" || bearer(h) != nil) {
		return &refusal{http.StatusUnauthorized, "authentication_error", "invalid x-api-key: " + key}
	}
	if version := h.Get("anthropic-version"); version != "2023-06-01" && version != "2026-10-21" {
		return illegal("anthropic-version: header is required")
	}
	return nil
}

func (messages) refuse(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}})
}

func (messages) read(s *Server, o object, e *Exchange) (err error) {
	if err := o.only("", "model", "messages", "system", "tools", "max_tokens", "stream", "cache_control",
		"temperature", "top_p", "thinking", "tool_choice", "metadata", "output_config", "stop_sequences"); err != nil {
		return err
	}
	if e.Model, err = o.text("model"); err != nil {
		return err
	}
	if err := o.number("max_tokens", 1); err != nil {
		return err
	}
	if !o.is("stream", "true") {
		return illegal("This server streams: stream has to be true.")
	}
	if o["system"] != nil {
		if e.Instructions, err = o.text("system"); err != nil {
			return err
		}
		if strings.TrimSpace(e.Instructions) == "" {
			return illegal("system: text content blocks must contain non-whitespace text")
		}
	}
	if o["cache_control"] != nil {
		control, err := o.child("cache_control")
		if err != nil || !control.is("type", `"ephemeral"`) {
			return illegal("cache_control: expected the type ephemeral")
		}
	}
	if o["tools"] != nil {
		tools, err := o.list("tools")
		if err != nil {
			return err
		}
		for _, tool := range tools {
			if err := messagesTool(tool, e); err != nil {
				return err
			}
		}
	}
	list, err := o.list("messages")
	if err != nil {
		return err
	}
	return s.messagesHistory(list, e)
}

func messagesTool(tool object, e *Exchange) error {
	name, err := tool.text("name")
	if err != nil {
		return err
	}
	if tool["type"] != nil {
		if !tool.is("type", `"web_search_20250305"`) || name != "web_search" {
			return illegal("tools: Input tag %s found using 'type' does not match any of the expected tags", tool["type"])
		}
		return e.offer(name)
	}
	if err := tool.only("tools.", "name", "description", "input_schema", "cache_control"); err != nil {
		return err
	}
	if err := legalName(name, 128); err != nil {
		return err
	}
	if err := schema(tool["input_schema"]); err != nil {
		return err
	}
	return e.offer(name)
}

func (s *Server) messagesHistory(list []object, e *Exchange) error {
	if len(list) == 0 {
		return illegal("messages: at least one message is required")
	}
	var open calls
	for i, message := range list {
		if err := message.only("messages.", "role", "content"); err != nil {
			return err
		}
		role, err := message.text("role")
		if err != nil {
			return err
		}
		if role != "user" && role != "assistant" {
			return illegal("messages: Unexpected role %q.", role)
		}
		if i == 0 && role != "user" {
			return illegal("messages: first message must use the \"user\" role")
		}
		if text, err := message.text("content"); err == nil {
			message["content"], _ = json.Marshal([]any{map[string]any{"type": "text", "text": text}})
		}
		blocks, err := message.list("content")
		if err != nil {
			return err
		}
		if len(blocks) == 0 {
			return illegal("messages.%d: all messages must have non-empty content", i)
		}
		if role == "user" {
			err = messagesUser(blocks, &open, e)
		} else {
			err = s.messagesAssistant(blocks, &open, e)
		}
		if err != nil {
			return err
		}
	}
	if err := open.answered(); err != nil {
		return unanswered(err)
	}
	last := list[len(list)-1]
	if last.is("role", `"assistant"`) {
		blocks, err := last.list("content")
		if err != nil || !blocks[len(blocks)-1].is("type", `"server_tool_use"`) {
			return illegal("This model does not support assistant message prefill. The conversation must end with a user message.")
		}
	}
	return nil
}

func unanswered(err error) error {
	return illegal("messages: `tool_use` ids were found without `tool_result` blocks immediately after. Each `tool_use` block must have a corresponding `tool_result` block in the next message. %s", err)
}

func messagesUser(blocks []object, open *calls, e *Exchange) error {
	results := true
	for _, block := range blocks {
		kind, err := block.text("type")
		if err != nil {
			return err
		}
		if kind != "tool_result" {
			results = false
			if err := open.answered(); err != nil {
				return unanswered(err)
			}
		}
		switch kind {
		case "text":
			text, err := messagesText(block)
			if err != nil {
				return err
			}
			e.Items = append(e.Items, Item{Kind: "user", Text: text})
		case "image":
			source, err := block.child("source")
			if err != nil {
				return err
			}
			switch {
			case source.is("type", `"base64"`):
				media, err := source.text("media_type")
				if err != nil || !strings.HasPrefix(media, "image/") {
					return illegal("messages: image.source.base64.media_type: Input should be an image")
				}
				if _, err := source.text("data"); err != nil {
					return err
				}
			case source.is("type", `"url"`):
				if _, err := source.text("url"); err != nil {
					return err
				}
			default:
				return illegal("messages: image.source: unknown type")
			}
			e.Items = append(e.Items, Item{Kind: "user", Text: "[image]"})
		case "tool_result":
			if err := block.only("messages.tool_result.", "type", "tool_use_id", "content", "is_error", "cache_control"); err != nil {
				return err
			}
			if !results {
				return illegal("messages: `tool_result` blocks have to come before all others in the content")
			}
			read := Item{Kind: "output"}
			if read.ID, err = block.text("tool_use_id"); err != nil {
				return err
			}
			if open.output(read.ID) != nil {
				return illegal("messages: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", read.ID)
			}
			if read.Text, err = block.optional("content"); err != nil {
				return err
			}
			if block.is("is_error", "true") && read.Text == "" {
				return illegal("messages: tool_result: content cannot be empty if `is_error` is true")
			}
			e.Items = append(e.Items, read)
		default:
			return illegal("messages: Input tag '%s' found using 'type' does not match any of the expected tags", kind)
		}
	}
	return nil
}

func messagesText(block object) (string, error) {
	if err := block.only("messages.text.", "type", "text", "citations", "cache_control"); err != nil {
		return "", err
	}
	text, err := block.text("text")
	if err == nil && strings.TrimSpace(text) == "" {
		err = illegal("messages: text content blocks must contain non-whitespace text")
	}
	return text, err
}

func (s *Server) messagesAssistant(blocks []object, open *calls, e *Exchange) error {
	if err := open.answered(); err != nil {
		return unanswered(err)
	}
	for i, block := range blocks {
		kind, err := block.text("type")
		if err != nil {
			return err
		}
		switch kind {
		case "text":
			text, err := messagesText(block)
			if err != nil {
				return err
			}
			e.Items = append(e.Items, Item{Kind: "assistant", Text: text})
		case "thinking":
			if err := block.only("messages.thinking.", "type", "thinking", "signature"); err != nil {
				return err
			}
			thinking, err := block.text("thinking")
			if err != nil {
				return err
			}
			signature, err := block.text("signature")
			if err != nil {
				return err
			}
			if !s.issued.signed[thinking+"\n"+signature] {
				return illegal("messages: Invalid `signature` in `thinking` block")
			}
			if i == len(blocks)-1 {
				return illegal("messages: The final block in an assistant message cannot be `thinking`.")
			}
			e.Items = append(e.Items, Item{Kind: kind})
		case "tool_use":
			if err := block.only("messages.tool_use.", "type", "id", "name", "input", "cache_control"); err != nil {
				return err
			}
			read := Item{Kind: "call"}
			if read.ID, err = block.text("id"); err != nil {
				return err
			}
			if err := legalName(read.ID, 128); err != nil {
				return err
			}
			if err := open.call(read.ID, 128); err != nil {
				return illegal("messages: `tool_use` ids must be unique: %s", err)
			}
			if read.Name, err = block.text("name"); err != nil {
				return err
			}
			if err := legalName(read.Name, 128); err != nil {
				return err
			}
			if _, err := block.child("input"); err != nil {
				return illegal("messages: tool_use.input: Input should be a valid dictionary")
			}
			read.Args = string(block["input"])
			e.Items = append(e.Items, read)
		case "server_tool_use":
			e.Items = append(e.Items, Item{Kind: kind})
		default:
			return illegal("messages: Input tag '%s' found using 'type' does not match any of the expected tags", kind)
		}
	}
	return nil
}

func (messages) piece(text string) string {
	return sse("content_block_delta", map[string]any{"type": "content_block_delta", "index": 0, "delta": map[string]any{"type": "text_delta", "text": text}})
}

func (messages) failure(kind, message string) string {
	return sse("error", map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}})
}

func (messages) events(s *Server, a Answer, e Exchange) []string {
	s.issued.n++
	n := s.issued.n
	var events []string
	emit := func(kind string, fields map[string]any) {
		fields["type"] = kind
		events = append(events, sse(kind, fields))
	}
	index := 0
	block := func(begin map[string]any, deltas ...map[string]any) {
		emit("content_block_start", map[string]any{"index": index, "content_block": begin})
		for _, delta := range deltas {
			emit("content_block_delta", map[string]any{"index": index, "delta": delta})
		}
		emit("content_block_stop", map[string]any{"index": index})
		index++
	}
	emit("message_start", map[string]any{"message": map[string]any{
		"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": e.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{
			"input_tokens": a.Usage.Input - a.Usage.Cached, "cache_read_input_tokens": a.Usage.Cached, "cache_creation_input_tokens": 0, "output_tokens": 1,
		},
	}})
	emit("ping", map[string]any{})
	if a.Thinking != "" {
		signature := fmt.Sprintf("signature-%d", n)
		s.issued.signed[a.Thinking+"\n"+signature] = true
		block(map[string]any{"type": "thinking", "thinking": "", "signature": ""},
			map[string]any{"type": "thinking_delta", "thinking": a.Thinking}, map[string]any{"type": "signature_delta", "signature": signature})
	}
	if a.Pieces != nil {
		var deltas []map[string]any
		for _, piece := range a.Pieces {
			deltas = append(deltas, map[string]any{"type": "text_delta", "text": piece})
		}
		block(map[string]any{"type": "text", "text": ""}, deltas...)
	}
	if a.Paused {
		block(map[string]any{"type": "server_tool_use", "id": fmt.Sprintf("srvtoolu_%d", n), "name": "web_search", "input": map[string]any{}},
			map[string]any{"type": "input_json_delta", "partial_json": `{"query":"news"}`})
	}
	for _, call := range a.Calls {
		_, name := offered(call, e)
		parts := halves(call.Args)
		block(map[string]any{"type": "tool_use", "id": call.ID, "name": name, "input": map[string]any{}},
			map[string]any{"type": "input_json_delta", "partial_json": ""},
			map[string]any{"type": "input_json_delta", "partial_json": parts[0]},
			map[string]any{"type": "input_json_delta", "partial_json": parts[1]})
	}
	stop := "end_turn"
	switch {
	case a.Withheld:
		stop = "refusal"
	case a.Truncated:
		stop = "max_tokens"
	case a.Paused:
		stop = "pause_turn"
	case len(a.Calls) > 0:
		stop = "tool_use"
	}
	emit("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": a.Usage.Output, "output_tokens_details": map[string]any{"thinking_tokens": a.Usage.Reasoning}},
	})
	emit("message_stop", map[string]any{})
	return events
}
