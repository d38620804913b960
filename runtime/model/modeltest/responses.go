package modeltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// responses is OpenAI's Responses API: https://platform.openai.com/docs/api-reference/responses.
type responses struct{}

func (responses) name() string { return "responses" }

func (responses) authorized(h http.Header) error { return bearer(h) }

func (responses) refuse(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, openAIError(kind, message))
}

func (responses) read(s *Server, o object, e *Exchange) (err error) {
	if err := o.only("", "model", "input", "instructions", "tools", "stream", "store", "include", "max_output_tokens", "prompt_cache_key",
		"temperature", "top_p", "reasoning", "text", "parallel_tool_calls", "tool_choice", "metadata", "service_tier", "truncation"); err != nil {
		return err
	}
	if e.Model, err = o.text("model"); err != nil {
		return err
	}
	if e.Instructions, err = o.optional("instructions"); err != nil {
		return err
	}
	if !o.is("stream", "true") || !o.is("store", "false") {
		return illegal("This server streams, and stores nothing: stream has to be true and store false.")
	}
	var include []string
	if o["include"] != nil && json.Unmarshal(o["include"], &include) != nil || len(include) > 1 || len(include) == 1 && include[0] != "reasoning.encrypted_content" {
		return illegal("Invalid value for 'include'.")
	}
	if o["max_output_tokens"] != nil {
		if err := o.number("max_output_tokens", 16); err != nil {
			return err
		}
	}
	if o["tools"] != nil {
		tools, err := o.list("tools")
		if err != nil {
			return err
		}
		if err := s.responsesTools(tools, "", e); err != nil {
			return err
		}
	}
	input, err := o.list("input")
	if err != nil {
		return err
	}
	if len(input) == 0 {
		return illegal("One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided.")
	}
	return s.responsesInput(input, e)
}

func (s *Server) responsesTools(tools []object, namespace string, e *Exchange) error {
	for _, tool := range tools {
		kind, err := tool.text("type")
		if err != nil {
			return err
		}
		switch {
		case kind == "function":
			if err := tool.only("tools.", "type", "name", "description", "parameters", "strict"); err != nil {
				return err
			}
			name, err := tool.text("name")
			if err != nil {
				return err
			}
			if err := legalName(name, 64); err != nil {
				return err
			}
			if err := schema(tool["parameters"]); err != nil {
				return err
			}
			if namespace != "" {
				name = namespace + "." + name
			}
			if err := e.offer(name); err != nil {
				return err
			}
		case kind == "namespace" && namespace == "" && !s.NoNamespaces:
			if err := tool.only("tools.", "type", "name", "description", "tools"); err != nil {
				return err
			}
			name, err := tool.text("name")
			if err != nil {
				return err
			}
			if err := legalName(name, 64); err != nil {
				return err
			}
			if _, err := tool.text("description"); err != nil {
				return err
			}
			members, err := tool.list("tools")
			if err != nil || len(members) == 0 {
				return illegal("Invalid 'tools': empty array.")
			}
			if err := s.responsesTools(members, name, e); err != nil {
				return err
			}
		case kind == "web_search" && namespace == "":
			if err := e.offer(kind); err != nil {
				return err
			}
		default:
			return illegal("Invalid value: '%s'. Supported values are: 'function' and 'web_search'.", kind)
		}
	}
	return nil
}

func (e *Exchange) offer(name string) error {
	for _, other := range e.Tools {
		if other == name {
			return illegal("Duplicate tool name: %s.", name)
		}
	}
	e.Tools = append(e.Tools, name)
	return nil
}

func (s *Server) responsesInput(input []object, e *Exchange) error {
	var open calls
	var reasoning string // the id of reasoning that nothing has followed yet
	reasoned := map[string]bool{}
	for _, item := range input {
		kind, err := item.optional("type")
		if err != nil {
			return err
		}
		if reasoning != "" && kind != "reasoning" && (kind == "function_call_output" || item.is("role", `"user"`)) {
			return illegal("Item '%s' of type 'reasoning' was provided without its required following item.", reasoning)
		}
		if id, _ := item.optional("id"); kind != "reasoning" && s.issued.reasoning[id] != "" && !reasoned[s.issued.reasoning[id]] {
			return illegal("Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", id, kind, s.issued.reasoning[id])
		}
		switch kind {
		case "", "message":
			read, err := responsesMessage(item)
			if err != nil {
				return err
			}
			if read.Kind == "user" {
				if err := open.answered(); err != nil {
					return err
				}
			}
			e.Items = append(e.Items, read)
		case "reasoning":
			if err := item.only("input.", "type", "id", "summary", "encrypted_content", "content", "status"); err != nil {
				return err
			}
			encrypted, err := item.text("encrypted_content")
			if err != nil || !s.issued.encrypted[encrypted] {
				return illegal("The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed.")
			}
			if reasoning, err = item.text("id"); err != nil {
				return err
			}
			reasoned[reasoning] = true
			e.Items = append(e.Items, Item{Kind: kind})
			continue
		case "function_call":
			if err := item.only("input.", "type", "id", "call_id", "name", "namespace", "arguments", "status"); err != nil {
				return err
			}
			read := Item{Kind: "call"}
			if read.ID, err = item.text("call_id"); err != nil {
				return err
			}
			if err := open.call(read.ID, 64); err != nil {
				return err
			}
			if read.Args, err = item.text("arguments"); err != nil {
				return err
			}
			if !isObject(read.Args) {
				return illegal("Invalid 'arguments': expected the JSON of an object.")
			}
			if read.Name, err = item.text("name"); err != nil {
				return err
			}
			if err := legalName(read.Name, 64); err != nil {
				return err
			}
			if item["namespace"] != nil {
				namespace, err := item.text("namespace")
				if err != nil || s.NoNamespaces || legalName(namespace, 64) != nil {
					return illegal("Unknown parameter: 'input.namespace'.")
				}
				read.Name = namespace + "." + read.Name
			}
			e.Items = append(e.Items, read)
		case "function_call_output":
			if err := item.only("input.", "type", "id", "call_id", "output", "status"); err != nil {
				return err
			}
			read := Item{Kind: "output"}
			if read.ID, err = item.text("call_id"); err != nil {
				return err
			}
			if err := open.output(read.ID); err != nil {
				return err
			}
			if read.Text, err = item.text("output"); err != nil {
				return err
			}
			e.Items = append(e.Items, read)
		default:
			return illegal("Invalid value: '%s'.", kind)
		}
		reasoning = ""
	}
	if reasoning != "" {
		return illegal("Item '%s' of type 'reasoning' was provided without its required following item.", reasoning)
	}
	return open.answered()
}

func responsesMessage(item object) (Item, error) {
	if err := item.only("input.", "type", "id", "role", "content", "status", "phase"); err != nil {
		return Item{}, err
	}
	role, err := item.text("role")
	if err != nil {
		return Item{}, err
	}
	read := Item{Kind: role}
	kinds := map[string]string{"user": "input_text", "system": "input_text", "developer": "input_text", "assistant": "output_text"}
	if kinds[role] == "" {
		return Item{}, illegal("Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", role)
	}
	if read.Text, err = item.text("content"); err == nil {
		return read, nil
	}
	parts, err := item.list("content")
	if err != nil {
		return Item{}, err
	}
	if len(parts) == 0 {
		return Item{}, illegal("Invalid 'content': empty array.")
	}
	for _, part := range parts {
		kind, err := part.text("type")
		if err != nil {
			return Item{}, err
		}
		switch {
		case kind == kinds[role]:
			text, err := part.text("text")
			if err != nil {
				return Item{}, err
			}
			read.Text += text
		case kind == "refusal" && role == "assistant":
		case kind == "input_image" && role != "assistant":
			address, err := part.text("image_url")
			if err != nil {
				return Item{}, err
			}
			if err := image(address); err != nil {
				return Item{}, err
			}
			read.Text += "[image]"
		default:
			return Item{}, illegal("Invalid value: '%s'.", kind)
		}
	}
	return read, nil
}

func (responses) piece(text string) string {
	return sse("response.output_text.delta", map[string]any{
		"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": text, "sequence_number": 1, "logprobs": []any{},
	})
}

func (responses) failure(kind, message string) string {
	return sse("response.failed", map[string]any{"type": "response.failed", "sequence_number": 1, "response": map[string]any{
		"id": "resp_1", "object": "response", "status": "failed", "output": []any{}, "error": map[string]any{"code": kind, "message": message},
	}})
}

func (responses) events(s *Server, a Answer, e Exchange) []string {
	s.issued.n++
	n := s.issued.n
	var events []string
	sequence := 0
	emit := func(kind string, fields map[string]any) {
		fields["type"], fields["sequence_number"] = kind, sequence
		sequence++
		events = append(events, sse(kind, fields))
	}
	response := func(status string, output []any) map[string]any {
		r := map[string]any{
			"id": fmt.Sprintf("resp_%d", n), "object": "response", "created_at": 0, "status": status, "model": e.Model, "output": output,
			"error": nil, "incomplete_details": nil, "instructions": nil, "metadata": map[string]any{}, "tools": []any{}, "tool_choice": "auto",
			"parallel_tool_calls": true, "temperature": 1, "top_p": 1, "usage": nil,
		}
		if status != "in_progress" {
			r["usage"] = map[string]any{
				"input_tokens": a.Usage.Input, "input_tokens_details": map[string]any{"cached_tokens": a.Usage.Cached},
				"output_tokens": a.Usage.Output, "output_tokens_details": map[string]any{"reasoning_tokens": a.Usage.Reasoning},
				"total_tokens": a.Usage.Input + a.Usage.Output,
			}
		}
		return r
	}
	emit("response.created", map[string]any{"response": response("in_progress", []any{})})
	emit("response.in_progress", map[string]any{"response": response("in_progress", []any{})})
	output := []any{}
	thought := ""
	item := func(id string, fields map[string]any, between func(index int)) {
		fields["id"] = id
		if thought != "" {
			s.issued.reasoning[id] = thought
		}
		begun := maps.Clone(fields)
		for key, empty := range map[string]any{"content": []any{}, "summary": []any{}, "arguments": "", "status": "in_progress"} {
			if _, ok := begun[key]; ok {
				begun[key] = empty
			}
		}
		emit("response.output_item.added", map[string]any{"output_index": len(output), "item": begun})
		if between != nil {
			between(len(output))
		}
		emit("response.output_item.done", map[string]any{"output_index": len(output), "item": fields})
		output = append(output, fields)
	}
	status := "completed"
	if a.Truncated {
		status = "incomplete"
	}
	if a.Thinking != "" {
		id, encrypted := fmt.Sprintf("rs_%d", n), fmt.Sprintf("encrypted-%d", n)
		s.issued.encrypted[encrypted] = true
		item(id, map[string]any{"type": "reasoning", "summary": []any{map[string]any{"type": "summary_text", "text": a.Thinking}}, "encrypted_content": encrypted}, nil)
		thought = id
	}
	if a.Pieces != nil {
		id, text := fmt.Sprintf("msg_%d", n), strings.Join(a.Pieces, "")
		part := map[string]any{"type": "output_text", "text": text, "annotations": []any{}}
		item(id, map[string]any{"type": "message", "role": "assistant", "status": status, "content": []any{part}}, func(index int) {
			at := func(fields map[string]any) map[string]any {
				fields["item_id"], fields["output_index"], fields["content_index"] = id, index, 0
				return fields
			}
			emit("response.content_part.added", at(map[string]any{"part": map[string]any{"type": "output_text", "text": "", "annotations": []any{}}}))
			for _, piece := range a.Pieces {
				emit("response.output_text.delta", at(map[string]any{"delta": piece, "logprobs": []any{}}))
			}
			emit("response.output_text.done", at(map[string]any{"text": text, "logprobs": []any{}}))
			emit("response.content_part.done", at(map[string]any{"part": part}))
		})
	}
	for i, c := range a.Calls {
		id := fmt.Sprintf("fc_%d_%d", n, i)
		namespace, name := offered(c, e)
		call := map[string]any{"type": "function_call", "status": "completed", "call_id": c.ID, "name": name, "arguments": c.Args}
		if namespace != "" {
			call["namespace"] = namespace
		}
		item(id, call, func(index int) {
			emit("response.function_call_arguments.delta", map[string]any{"item_id": id, "output_index": index, "delta": c.Args})
			emit("response.function_call_arguments.done", map[string]any{"item_id": id, "output_index": index, "name": name, "arguments": c.Args})
		})
	}
	end := response(status, output)
	switch {
	case a.Withheld:
		end["status"], end["incomplete_details"] = "incomplete", map[string]any{"reason": "content_filter"}
	case a.Truncated:
		end["incomplete_details"] = map[string]any{"reason": "max_output_tokens"}
	}
	emit("response."+end["status"].(string), map[string]any{"response": end})
	return events
}
