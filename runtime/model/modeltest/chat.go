package modeltest

import (
	"fmt"
	"maps"
	"net/http"
)

// chat is OpenAI's Chat Completions API: https://platform.openai.com/docs/api-reference/chat.
type chat struct{}

func (chat) name() string { return "chat" }

func (chat) authorized(h http.Header) error { return bearer(h) }

func (chat) refuse(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, openAIError(kind, message))
}

func (chat) read(_ *Server, o object, e *Exchange) (err error) {
	if err := o.only("", "model", "messages", "tools", "stream", "stream_options", "max_completion_tokens", "max_tokens",
		"temperature", "top_p", "reasoning_effort", "parallel_tool_calls", "tool_choice", "seed", "stop"); err != nil {
		return err
	}
	if e.Model, err = o.text("model"); err != nil {
		return err
	}
	if !o.is("stream", "true") {
		return illegal("This server streams: stream has to be true.")
	}
	if o["stream_options"] != nil {
		options, err := o.child("stream_options")
		if err != nil {
			return err
		}
		if err := options.only("stream_options.", "include_usage", "include_obfuscation"); err != nil {
			return err
		}
	}
	if o["max_completion_tokens"] != nil {
		if err := o.number("max_completion_tokens", 1); err != nil {
			return err
		}
	}
	if o["tools"] != nil {
		tools, err := o.list("tools")
		if err != nil {
			return err
		}
		if len(tools) == 0 || len(tools) > 128 {
			return illegal("Invalid 'tools': expected an array with 1 to 128 elements.")
		}
		for _, tool := range tools {
			if err := chatTool(tool, e); err != nil {
				return err
			}
		}
	}
	messages, err := o.list("messages")
	if err != nil {
		return err
	}
	if len(messages) == 0 {
		return illegal("Invalid 'messages': empty array. Expected an array with minimum length 1.")
	}
	return chatMessages(messages, e)
}

func chatTool(tool object, e *Exchange) error {
	if err := tool.only("tools.", "type", "function"); err != nil {
		return err
	}
	if !tool.is("type", `"function"`) {
		return illegal("Invalid value for 'type': expected 'function'.")
	}
	function, err := tool.child("function")
	if err != nil {
		return err
	}
	if err := function.only("tools.function.", "name", "description", "parameters", "strict"); err != nil {
		return err
	}
	name, err := function.text("name")
	if err != nil {
		return err
	}
	if err := legalName(name, 64); err != nil {
		return err
	}
	if err := schema(function["parameters"]); err != nil {
		return err
	}
	return e.offer(name)
}

func chatMessages(messages []object, e *Exchange) error {
	var open calls
	for i, message := range messages {
		role, err := message.text("role")
		if err != nil {
			return err
		}
		if role != "tool" {
			if err := open.answered(); err != nil {
				return illegal("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': %s", err)
			}
		}
		switch role {
		case "system":
			if err := message.only("messages.", "role", "content"); err != nil {
				return err
			}
			text, err := message.text("content")
			if err != nil {
				return err
			}
			e.Instructions += text
		case "user":
			if err := message.only("messages.", "role", "content"); err != nil {
				return err
			}
			read := Item{Kind: role}
			if read.Text, err = chatContent(message); err != nil {
				return err
			}
			e.Items = append(e.Items, read)
		case "assistant":
			if err := chatAssistant(message, &open, e); err != nil {
				return err
			}
		case "tool":
			if err := message.only("messages.", "role", "content", "tool_call_id"); err != nil {
				return err
			}
			read := Item{Kind: "output"}
			if read.ID, err = message.text("tool_call_id"); err != nil {
				return err
			}
			if i == 0 || open.output(read.ID) != nil {
				return illegal("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
			}
			if read.Text, err = message.text("content"); err != nil {
				return err
			}
			e.Items = append(e.Items, read)
		default:
			return illegal("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', and 'tool'.", role)
		}
	}
	return open.answered()
}

func chatAssistant(message object, open *calls, e *Exchange) error {
	if err := message.only("messages.", "role", "content", "tool_calls", "reasoning_content"); err != nil {
		return err
	}
	switch {
	case !message.is("content", "null") && message["content"] != nil:
		text, err := message.text("content")
		if err != nil {
			return err
		}
		e.Items = append(e.Items, Item{Kind: "assistant", Text: text})
	case message["tool_calls"] == nil:
		return illegal("Invalid value for 'content': expected a string, got null.")
	}
	if message["tool_calls"] == nil {
		return nil
	}
	list, err := message.list("tool_calls")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return illegal("Invalid 'tool_calls': empty array. Expected an array with minimum length 1.")
	}
	for _, call := range list {
		if err := call.only("messages.tool_calls.", "id", "type", "function"); err != nil {
			return err
		}
		if !call.is("type", `"function"`) {
			return illegal("Invalid value for 'type': expected 'function'.")
		}
		read := Item{Kind: "call"}
		if read.ID, err = call.text("id"); err != nil {
			return err
		}
		if err := open.call(read.ID, 40); err != nil {
			return err
		}
		function, err := call.child("function")
		if err != nil {
			return err
		}
		if err := function.only("messages.tool_calls.function.", "name", "arguments"); err != nil {
			return err
		}
		if read.Name, err = function.text("name"); err != nil {
			return err
		}
		if err := legalName(read.Name, 64); err != nil {
			return err
		}
		if read.Args, err = function.text("arguments"); err != nil {
			return err
		}
		if !isObject(read.Args) { // OpenAI does not look; the templates of local servers fail
			return illegal("Invalid 'arguments': expected the JSON of an object.")
		}
		e.Items = append(e.Items, read)
	}
	return nil
}

func chatContent(message object) (string, error) {
	if text, err := message.text("content"); err == nil {
		return text, nil
	}
	parts, err := message.list("content")
	if err != nil {
		return "", err
	}
	if len(parts) == 0 {
		return "", illegal("Invalid 'content': empty array.")
	}
	text := ""
	for _, part := range parts {
		switch {
		case part.is("type", `"text"`):
			piece, err := part.text("text")
			if err != nil {
				return "", err
			}
			text += piece
		case part.is("type", `"image_url"`):
			source, err := part.child("image_url")
			if err != nil {
				return "", err
			}
			address, err := source.text("url")
			if err != nil {
				return "", err
			}
			if err := image(address); err != nil {
				return "", err
			}
			text += "[image]"
		default:
			return "", illegal("Invalid value for 'type': %s.", part["type"])
		}
	}
	return text, nil
}

func (chat) chunk(fields map[string]any) string {
	chunk := map[string]any{"id": "chatcmpl_1", "object": "chat.completion.chunk", "created": 0, "model": "test"}
	maps.Copy(chunk, fields)
	return sse("", chunk)
}

func (c chat) delta(delta map[string]any, finish any) string {
	return c.chunk(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": nil}}, "usage": nil})
}

func (c chat) piece(text string) string { return c.delta(map[string]any{"content": text}, nil) }

func (c chat) failure(kind, message string) string { return sse("", openAIError(kind, message)) }

func (c chat) events(s *Server, a Answer, e Exchange) []string {
	s.issued.n++
	events := []string{c.delta(map[string]any{"role": "assistant", "content": ""}, nil)}
	if a.Thinking != "" {
		events = append(events, c.delta(map[string]any{"reasoning_content": a.Thinking}, nil))
	}
	for _, piece := range a.Pieces {
		events = append(events, c.piece(piece))
	}
	for i, call := range a.Calls {
		_, name := offered(call, e)
		piece := func(fields map[string]any) string {
			fields["index"] = i
			return c.delta(map[string]any{"tool_calls": []any{fields}}, nil)
		}
		events = append(events, piece(map[string]any{"id": call.ID, "type": "function", "function": map[string]any{"name": name, "arguments": ""}}))
		for _, part := range halves(call.Args) {
			events = append(events, piece(map[string]any{"function": map[string]any{"arguments": part}}))
		}
	}
	finish := "stop"
	switch {
	case a.Withheld:
		finish = "content_filter"
	case a.Truncated:
		finish = "length"
	case len(a.Calls) > 0:
		finish = "tool_calls"
	}
	events = append(events, c.delta(map[string]any{}, finish))
	events = append(events, c.chunk(map[string]any{"choices": []any{}, "usage": map[string]any{
		"prompt_tokens": a.Usage.Input, "prompt_tokens_details": map[string]any{"cached_tokens": a.Usage.Cached},
		"completion_tokens": a.Usage.Output, "completion_tokens_details": map[string]any{"reasoning_tokens": a.Usage.Reasoning},
		"total_tokens": a.Usage.Input + a.Usage.Output,
	}}))
	return append(events, fmt.Sprintf("data: %s\n\n", "[DONE]"))
}
