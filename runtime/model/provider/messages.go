package provider

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/model"
)

// messagesBody returns a request of Anthropic's Messages API.
func messagesBody(r request) fields {
	const defaultTokens = 32_000 // the API requires a limit
	body := fields{"model": r.model, "messages": messagesHistory(r), "stream": true, "max_tokens": int64(defaultTokens)}
	if r.Instructions != nil && strings.TrimSpace(*r.Instructions) != "" {
		body["system"] = *r.Instructions
	}
	if r.MaxOutputTokens > 0 {
		body["max_tokens"] = r.MaxOutputTokens
	}
	if r.CacheKey != "" {
		body["cache_control"] = fields{"type": "ephemeral"} // up to the end of the request
	}
	r.addTools(body, "input_schema", func(tool fields) fields { return tool }, fields{"type": "web_search_20250305", "name": webSearch})
	return body
}

// messagesHistory returns the messages of a request. One message has the outputs of all calls of a response.
func messagesHistory(r request) []fields {
	var history []fields
	for _, turn := range turns(r.entries()) {
		role := turn[0].role
		if role == "tool" {
			role = "user"
		}
		var blocks []any
		for _, e := range turn {
			blocks = append(blocks, messagesBlocks(e)...)
		}
		if len(blocks) > 0 {
			history = append(history, fields{"role": role, "content": blocks})
		}
	}
	return history
}

func messagesBlocks(e entry) []any {
	switch e.Kind {
	case model.ToolOutput:
		output := fields{"type": "tool_result", "tool_use_id": e.CallID, "content": e.Output}
		if e.Failed {
			output["is_error"] = true
			if e.Output == "" {
				output["content"] = "(no output)" // the API refuses an error without content
			}
		}
		return []any{output}
	case model.ToolCall:
		e.saved["type"], e.saved["id"], e.saved["name"], e.saved["input"] = "tool_use", e.CallID, e.Name, json.RawMessage(e.Arguments)
		return []any{e.saved}
	}
	if blocks, ok := e.saved["blocks"].([]any); ok {
		return blocks
	}
	parts := slices.DeleteFunc(slices.Clone(e.Parts), func(p model.Part) bool { // the API refuses blank texts
		return p.ImageURL == "" && strings.TrimSpace(p.Text) == ""
	})
	if len(parts) == 0 && e.Kind == model.UserMessage {
		parts = model.Parts{{Text: "(no text)"}}
	}
	return encode(parts, "text", messagesImage)
}

func messagesImage(url string) fields {
	source := fields{"type": "url", "url": url}
	if media, data, inline := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,"); inline {
		source = fields{"type": "base64", "media_type": media, "data": data}
	}
	return fields{"type": "image", "source": source}
}

func (s *stream) messagesEvent(data []byte) error {
	var event struct {
		Type    string
		Message struct{ Usage *usage }
		Index   int
		Block   fields `json:"content_block"`
		Delta   fields
		Usage   *usage
		Error   any
	}
	event.Usage, event.Message.Usage = &s.usage, &s.usage // the later event wins
	if err := parse(data, &event); err != nil {
		return err
	}
	switch event.Type {
	case "content_block_start":
		b := &block{fields: event.Block}
		if b.text("type") == "" || event.Index != len(s.blocks) {
			return invalid("a part of the response has no type, or is not the next")
		}
		s.blocks = append(s.blocks, b)
		if b.text("type") == "text" {
			s.delta(b.text("text"))
		}
	case "content_block_delta":
		if event.Index < 0 || event.Index >= len(s.blocks) {
			return invalid("a piece of the response belongs to no part of it")
		}
		s.messagesDelta(s.blocks[event.Index], event.Delta)
	case "message_delta":
		s.stop = cmp.Or(textOf(event.Delta["stop_reason"]), s.stop)
	case "message_stop":
		s.whole = true
		if s.stop == "refusal" {
			return withheld()
		}
		return io.EOF
	case "error":
		return reported(event.Error, 0)
	}
	return nil
}

func (s *stream) messagesDelta(b *block, delta fields) {
	b.add(delta)
	if citation := delta["citation"]; citation != nil {
		citations, _ := b.fields["citations"].([]any)
		b.fields["citations"] = append(citations, citation)
	}
	s.delta(textOf(delta["text"]))
}

// messagesFinish makes items of the blocks. Adjacent texts are one message: a text with citations has several blocks.
// Blank texts are left out, since the API refuses them.
func (s *stream) messagesFinish() {
	s.paused = s.stop == "pause_turn"
	var texts []fields // of the last item
	for _, b := range s.blocks {
		arguments, whole := b.text("partial_json"), wholeBlock(b)
		item := model.Item{Kind: model.Reasoning}
		switch text := b.text("text"); whole["type"] {
		case "text":
			if strings.TrimSpace(text) == "" {
				continue
			}
			if texts == nil {
				s.items = append(s.items, model.Text(model.AgentMessage, ""))
			}
			texts = append(texts, whole)
			message := &s.items[len(s.items)-1]
			message.Parts[0].Text += text
			message.Raw = s.raw(fields{"blocks": texts})
			continue
		case "tool_use":
			if input, ok := whole["input"]; ok && arguments == "" {
				encoded, _ := model.JSON(input) // it was decoded from JSON
				arguments = string(encoded)
			}
			delete(whole, "input")
			item = s.call(textOf(whole["id"]), textOf(whole["name"]), arguments)
			item.Raw = s.raw(whole)
		default:
			item.Raw = s.raw(fields{"blocks": []fields{whole}})
		}
		texts = nil
		s.items = append(s.items, item)
	}
}

// wholeBlock returns a block as the next request has it.
func wholeBlock(b *block) fields {
	whole := maps.Clone(b.fields)
	for key := range b.pieces {
		whole[key] = b.text(key)
	}
	if arguments := b.text("partial_json"); arguments != "" {
		whole["input"] = json.RawMessage(object(arguments))
	}
	delete(whole, "partial_json")
	return whole
}
