package provider

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/model"
)

// messagesTokens is the limit of a response where the configuration has none: the interface wants one.
const messagesTokens = 32_000

func messagesKey(h http.Header, key string) {
	// The version that compatible servers know as well. 2026-10-21 takes the same requests, but for temperature, top_p
	// and top_k, which a configuration may have.
	h.Set("anthropic-version", "2023-06-01")
	if key != "" {
		h.Set("x-api-key", key)
	}
}

// messagesBody returns a request of Anthropic's Messages API.
func messagesBody(r request) fields {
	body := fields{"model": r.model, "messages": messagesHistory(r), "stream": true, "max_tokens": int64(messagesTokens)}
	if r.Instructions != nil && strings.TrimSpace(*r.Instructions) != "" {
		body["system"] = *r.Instructions
	}
	if r.MaxOutputTokens > 0 {
		body["max_tokens"] = r.MaxOutputTokens
	}
	if r.CacheKey != "" {
		body["cache_control"] = fields{"type": "ephemeral"} // up to the end of the request
	}
	r.offer(body, "input_schema", func(tool fields) fields { return tool }, fields{"type": "web_search_20250305", "name": webSearch})
	return body
}

// messagesHistory returns the messages of a request. The outputs of all calls of a response are the message after it.
func messagesHistory(r request) []fields {
	var history []fields
	for _, run := range runs(r.entries()) {
		var blocks []any
		role := "user"
		for _, e := range run {
			switch e.Kind {
			case model.UserMessage:
				blocks = append(blocks, messagesParts(e.Parts)...)
			case model.ToolOutput:
				blocks = append(blocks, messagesOutput(e))
			default:
				role = "assistant"
				blocks = append(blocks, messagesBlocks(e)...)
			}
		}
		if len(blocks) > 0 {
			history = append(history, fields{"role": role, "content": blocks})
		}
	}
	return history
}

func messagesParts(parts []model.Part) []any {
	var blocks []any
	for _, p := range parts {
		media, data, inline := strings.Cut(strings.TrimPrefix(p.ImageURL, "data:"), ";base64,")
		switch {
		case p.ImageURL != "" && inline:
			blocks = append(blocks, fields{"type": "image", "source": fields{"type": "base64", "media_type": media, "data": data}})
		case p.ImageURL != "":
			blocks = append(blocks, fields{"type": "image", "source": fields{"type": "url", "url": p.ImageURL}})
		case strings.TrimSpace(p.Text) != "": // the interface takes no others
			blocks = append(blocks, fields{"type": "text", "text": p.Text})
		}
	}
	if blocks == nil {
		blocks = append(blocks, fields{"type": "text", "text": "(no text)"})
	}
	return blocks
}

func messagesOutput(e entry) fields {
	output := fields{"type": "tool_result", "tool_use_id": e.CallID, "content": e.Output}
	if e.Failed {
		output["is_error"] = true
		if e.Output == "" {
			output["content"] = "(no output)" // an error without content is refused
		}
	}
	return output
}

// messagesBlocks returns the blocks of an item of the model.
func messagesBlocks(e entry) []any {
	if e.Kind == model.ToolCall {
		call := e.raw
		if call == nil {
			call = map[string]json.RawMessage{}
		}
		set(call, "type", "tool_use")
		set(call, "id", e.CallID)
		set(call, "name", model.Flat(e.Name))
		call["input"] = json.RawMessage(e.Arguments)
		return []any{call}
	}
	if e.raw != nil {
		var blocks []any
		if json.Unmarshal(e.raw["blocks"], &blocks) == nil {
			return blocks
		}
	}
	if text := e.Text(); strings.TrimSpace(text) != "" {
		return []any{fields{"type": "text", "text": text}}
	}
	return nil
}

type messagesDecoder struct {
	*stream
	blocks []*messagesBlock
	tokens messagesUsage
	stop   string
}

// messagesBlock is a block in the making.
type messagesBlock struct {
	kind      string
	fields    map[string]json.RawMessage // as the block began
	text      strings.Builder            // of a text, of thinking, or the input of a call
	signature strings.Builder
	citations []json.RawMessage
	stopped   bool
}

func (d *messagesDecoder) event(data []byte) (bool, error) {
	var event struct {
		Type    string `json:"type"`
		Message struct {
			Usage *messagesUsage `json:"usage"`
		} `json:"message"`
		Index int                        `json:"index"`
		Block map[string]json.RawMessage `json:"content_block"`
		Delta struct {
			Type      string          `json:"type"`
			Text      string          `json:"text"`
			JSON      string          `json:"partial_json"`
			Thinking  string          `json:"thinking"`
			Signature string          `json:"signature"`
			Citation  json.RawMessage `json:"citation"`
			Stop      string          `json:"stop_reason"`
		} `json:"delta"`
		Usage *messagesUsage `json:"usage"`
		Error providerError  `json:"error"`
	}
	event.Usage, event.Message.Usage = &d.tokens, &d.tokens
	if err := json.Unmarshal(data, &event); err != nil {
		return false, invalid("an event of the response is not the JSON of the Messages API")
	}
	switch event.Type {
	case "content_block_start":
		if event.Index != len(d.blocks) {
			return false, invalid("the parts of the response are not in order")
		}
		b := &messagesBlock{kind: stringOf(event.Block["type"]), fields: event.Block}
		if b.kind == "" {
			return false, invalid("a part of the response has no type")
		}
		d.blocks = append(d.blocks, b)
		if b.kind == "text" {
			b.text.WriteString(stringOf(b.fields["text"]))
			d.delta(b.text.String())
		}
	case "content_block_delta":
		if event.Index < 0 || event.Index >= len(d.blocks) || d.blocks[event.Index].stopped {
			return false, invalid("a piece of the response belongs to no part of it")
		}
		b := d.blocks[event.Index]
		b.text.WriteString(event.Delta.Text + event.Delta.JSON + event.Delta.Thinking)
		b.signature.WriteString(event.Delta.Signature)
		if event.Delta.Citation != nil {
			b.citations = append(b.citations, event.Delta.Citation)
		}
		d.delta(event.Delta.Text)
	case "content_block_stop":
		if event.Index >= 0 && event.Index < len(d.blocks) {
			d.blocks[event.Index].stopped = true
		}
	case "message_delta":
		if event.Delta.Stop != "" {
			d.stop = event.Delta.Stop
		}
	case "message_stop":
		d.whole = true
		if d.stop == "refusal" {
			return false, withheld()
		}
		return true, nil
	case "error":
		return false, event.Error.failure(0)
	}
	return false, nil
}

func (d *messagesDecoder) response() reply {
	r := reply{paused: d.stop == "pause_turn"}
	d.usage = d.tokens.usage()
	for i := 0; i < len(d.blocks); i++ {
		b := d.blocks[i]
		if b.kind == "text" {
			end := i + 1
			for end < len(d.blocks) && d.blocks[end].kind == "text" {
				end++
			}
			if item, ok := messageOf(d.blocks[i:end]); ok {
				r.items = append(r.items, item)
			}
			i = end - 1
			continue
		}
		item := model.Item{Kind: model.Reasoning}
		if b.kind == "tool_use" {
			item = model.Item{Kind: model.ToolCall, CallID: stringOf(b.fields["id"]), Wire: stringOf(b.fields["name"]), Arguments: b.text.String()}
			item.Name = d.names.Canonical(item.Wire)
			if item.Arguments == "" {
				item.Arguments = "{}"
				if input := string(b.fields["input"]); input != "" {
					item.Arguments = input
				}
			}
			delete(b.fields, "input")
			if raw, err := model.JSON(b.fields); err == nil {
				item.Raw = string(raw)
			}
		} else {
			item.Raw = rawBlocks(b)
		}
		r.items = append(r.items, item)
	}
	return r
}

// messageOf returns the message that adjacent blocks of text are: a text with citations comes in several. Empty blocks
// are refused when they are sent again.
func messageOf(blocks []*messagesBlock) (model.Item, bool) {
	text := ""
	blocks = slices.DeleteFunc(slices.Clone(blocks), func(b *messagesBlock) bool { return strings.TrimSpace(b.text.String()) == "" })
	for _, b := range blocks {
		text += b.text.String()
	}
	item := model.Text(model.AgentMessage, text)
	item.Raw = rawBlocks(blocks...)
	return item, len(blocks) > 0
}

// rawBlocks returns the own form of blocks, as they are sent again.
func rawBlocks(blocks ...*messagesBlock) string {
	var whole []map[string]json.RawMessage
	for _, b := range blocks {
		switch b.kind {
		case "text":
			set(b.fields, "text", b.text.String())
			if len(b.citations) > 0 {
				set(b.fields, "citations", b.citations)
			}
		case "thinking":
			set(b.fields, "thinking", stringOf(b.fields["thinking"])+b.text.String())
			set(b.fields, "signature", stringOf(b.fields["signature"])+b.signature.String())
		case "server_tool_use":
			if b.text.Len() > 0 {
				b.fields["input"] = json.RawMessage(object(b.text.String()))
			}
		}
		whole = append(whole, b.fields)
	}
	raw, err := model.JSON(map[string]any{"blocks": whole})
	if err != nil {
		return ""
	}
	return string(raw)
}

// messagesUsage is usage as far as it is known; what comes later replaces what came before.
type messagesUsage struct {
	Input   int64 `json:"input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

func (u messagesUsage) usage() model.Usage {
	return model.Usage{InputTokens: max(u.Input, 0) + max(u.Read, 0) + max(u.Written, 0), OutputTokens: max(u.Output, 0)}
}
