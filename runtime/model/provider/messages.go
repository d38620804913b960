package provider

import (
	"encoding/json"
	"net/http"
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
		call := e.call()
		call["type"], call["id"], call["name"], call["input"] = "tool_use", e.CallID, model.Flat(e.Name), json.RawMessage(e.Arguments)
		return []any{call}
	}
	if blocks, ok := e.raw["blocks"].([]any); ok {
		return blocks
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
	fields    fields                      // as the block began
	pieces    map[string]*strings.Builder // what is added to texts among these, and to the input of a call
	citations []any
}

// text returns a text of a block.
func (b *messagesBlock) text(key string) string {
	begun, _ := b.fields[key].(string)
	if b.pieces[key] != nil {
		begun += b.pieces[key].String()
	}
	return begun
}

// add adds what an event has for a block.
func (b *messagesBlock) add(delta fields) {
	for key, value := range delta {
		piece, ok := value.(string)
		switch {
		case key == "citation":
			b.citations = append(b.citations, value)
			continue
		case key == "type" || !ok:
			continue
		case key == "partial_json":
			key = "input"
		}
		if b.pieces[key] == nil {
			b.pieces[key] = &strings.Builder{}
		}
		b.pieces[key].WriteString(piece)
	}
}

// own returns a block as it is sent again.
func (b *messagesBlock) own() fields {
	for key := range b.pieces {
		b.fields[key] = b.text(key)
	}
	if written := b.pieces["input"]; written != nil {
		b.fields["input"] = json.RawMessage(object(written.String()))
	}
	if len(b.citations) > 0 {
		b.fields["citations"] = b.citations
	}
	return b.fields
}

func (d *messagesDecoder) event(data []byte) (bool, error) {
	var event struct {
		Type    string `json:"type"`
		Message struct {
			Usage *messagesUsage `json:"usage"`
		} `json:"message"`
		Index int            `json:"index"`
		Block fields         `json:"content_block"`
		Delta fields         `json:"delta"`
		Usage *messagesUsage `json:"usage"`
		Error providerError  `json:"error"`
	}
	event.Usage, event.Message.Usage = &d.tokens, &d.tokens
	if err := parse(data, &event); err != nil {
		return false, invalid("an event of the response is not the JSON of the Messages API")
	}
	switch event.Type {
	case "content_block_start":
		b := &messagesBlock{fields: event.Block, pieces: map[string]*strings.Builder{}}
		if b.kind, _ = event.Block["type"].(string); b.kind == "" || event.Index != len(d.blocks) {
			return false, invalid("a part of the response has no type, or is not the next")
		}
		d.blocks = append(d.blocks, b)
		if b.kind == "text" {
			d.delta(b.text("text"))
		}
	case "content_block_delta":
		if event.Index < 0 || event.Index >= len(d.blocks) {
			return false, invalid("a piece of the response belongs to no part of it")
		}
		d.blocks[event.Index].add(event.Delta)
		text, _ := event.Delta["text"].(string)
		d.delta(text)
	case "message_delta":
		if reason, ok := event.Delta["stop_reason"].(string); ok {
			d.stop = reason
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

// finish makes items of the blocks. Adjacent blocks of text are one message: a text with citations comes in several.
// Empty ones are refused when they are sent again.
func (d *messagesDecoder) finish() {
	d.paused = d.stop == "pause_turn"
	d.usage = d.tokens.usage()
	var message *model.Item
	var texts []fields
	for _, b := range d.blocks {
		text := b.text("text")
		if b.kind != "text" {
			message, texts = nil, nil
			d.items = append(d.items, d.item(b))
		} else if strings.TrimSpace(text) != "" {
			if message == nil {
				d.items = append(d.items, model.Text(model.AgentMessage, ""))
				message = &d.items[len(d.items)-1]
			}
			texts = append(texts, b.own())
			message.Parts[0].Text += text
			message.Raw = d.own(fields{"blocks": texts})
		}
	}
}

// item returns what a block is that is no text.
func (d *messagesDecoder) item(b *messagesBlock) model.Item {
	if b.kind != "tool_use" {
		return model.Item{Kind: model.Reasoning, Raw: d.own(fields{"blocks": []fields{b.own()}})}
	}
	arguments := "{}"
	if written := b.pieces["input"]; written != nil && written.Len() > 0 {
		arguments = written.String()
	} else if begun, err := model.JSON(b.fields["input"]); err == nil && b.fields["input"] != nil {
		arguments = string(begun)
	}
	item := d.call(b.text("id"), b.text("name"), arguments)
	delete(b.fields, "input")
	item.Raw = d.own(b.fields)
	return item
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
