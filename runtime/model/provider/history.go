package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/model"
)

// webSearch is what the providers call their own search.
const webSearch = "web_search"

// entry is an item of a history as it is sent. Its id is one that every provider takes.
type entry struct {
	model.Item
	raw map[string]json.RawMessage // the own form of the model that is asked; nil where another one wrote the item
}

// marked is an item in the form of a provider, with what marks the model that wrote it.
type marked struct {
	From string          `json:"from"`
	Item json.RawMessage `json:"item"`
}

// mark returns a [model.Item]'s Raw for a provider's own form of it, which is a JSON object.
func mark(from, raw string) string {
	text, err := model.JSON(marked{from, json.RawMessage(raw)})
	if err != nil {
		return "" // it is no JSON, and is not replayed
	}
	return string(text)
}

func unmark(from, raw string) map[string]json.RawMessage {
	var m marked
	var fields map[string]json.RawMessage
	if raw == "" || json.Unmarshal([]byte(raw), &m) != nil || m.From != from || json.Unmarshal(m.Item, &fields) != nil {
		return nil
	}
	return fields
}

// entries returns the history of a request. Reasoning of other models is left out, and so is reasoning that no message
// or call follows, which providers refuse.
func (r request) entries() []entry {
	entries := make([]entry, 0, len(r.Items))
	ids := newIDs()
	for i, item := range r.Items {
		e := entry{Item: item, raw: unmark(r.from, item.Raw)}
		switch item.Kind {
		case model.ToolCall:
			e.CallID = ids.call(item.CallID)
			e.Arguments = object(item.Arguments)
		case model.ToolOutput:
			e.CallID = ids.output(item.CallID)
		case model.Reasoning:
			if e.raw == nil || !answered(r.Items[i:]) {
				continue
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// answered reports whether a message or a call of the model follows reasoning, or else the response is not whole yet.
func answered(items []model.Item) bool {
	for _, item := range items {
		if item.Kind != model.Reasoning {
			return item.Kind == model.AgentMessage || item.Kind == model.ToolCall
		}
	}
	return true
}

// ids renames calls whose ids a provider would not take: it is the model's own id only where it is short, of few
// characters, and not that of an earlier call. A history has the same ids each time it is sent.
type ids struct {
	used map[string]bool
	open map[string]string // the ids of calls that have no output yet, by those of the history
	n    int
}

// maxID is the length of the longest id that is sent. Chat Completions allows 40 characters, Responses 64.
const maxID = 40

func newIDs() *ids { return &ids{used: map[string]bool{}, open: map[string]string{}} }

func (s *ids) call(id string) string {
	s.n++
	sent := id
	if id == "" || len(id) > maxID || s.used[id] || model.Flat(id) != id {
		sum := sha256.Sum256([]byte(strconv.Itoa(s.n) + " " + id))
		sent = "call_" + hex.EncodeToString(sum[:12])
	}
	s.used[sent] = true
	s.open[id] = sent
	return sent
}

func (s *ids) output(id string) string {
	if sent, ok := s.open[id]; ok {
		return sent
	}
	return id
}

// object returns the arguments of a call as a JSON object, which providers want. The form for what is none is that of
// Anthropic's documentation of tool use.
func object(arguments string) string {
	if strings.TrimSpace(arguments) == "" {
		return "{}"
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &fields) == nil && fields != nil {
		return arguments
	}
	wrapped, err := model.JSON(map[string]string{"INVALID_JSON": arguments})
	if err != nil {
		return "{}"
	}
	return string(wrapped)
}

// offer adds the tools of a request to its body, in the form of an interface, and its own search. schema is what that calls the
// schema of a tool's arguments.
func (r request) offer(body fields, schema string, form func(fields) fields, search fields) {
	var tools []fields
	for _, t := range r.Tools {
		if len(t.Parameters) == 0 {
			t.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		tools = append(tools, form(fields{"name": model.Flat(t.Name), "description": t.Description, schema: t.Parameters}))
	}
	if r.WebSearch && search != nil {
		tools = append(tools, search)
	}
	if len(tools) > 0 {
		body["tools"] = tools
	}
}

// stringOf returns what is a JSON string, and an empty text for anything else.
func stringOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// set puts a value into a JSON object.
func set(fields map[string]json.RawMessage, key string, value any) {
	if encoded, err := model.JSON(value); err == nil {
		fields[key] = encoded
	}
}
