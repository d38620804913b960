package provider

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/model"
)

// webSearch is what the providers call their own search.
const webSearch = "web_search"

// fields is a JSON object.
type fields = map[string]any

// parse decodes JSON, with numbers as they are written.
func parse(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(to)
}

// request is what a request is encoded from.
type request struct {
	model.Request
	model string
	from  string // what marks an item's Raw as this model's own
	names model.Names
}

// entry is an item of a history as it is sent. Its id is one that every provider takes.
type entry struct {
	model.Item
	raw fields // the own form of the model that is asked; nil where another one wrote the item
}

// call returns the own form of a call, for the interface to set what it knows.
func (e entry) call() fields {
	if e.raw == nil {
		return fields{}
	}
	return e.raw
}

// marked is an item in the form of a provider, with what marks the model that wrote it.
type marked struct {
	From string `json:"from"`
	Item fields `json:"item"`
}

// own returns a [model.Item]'s Raw for a provider's own form of it.
func (s *stream) own(item fields) string {
	text, _ := model.JSON(marked{s.from, item}) // it has come as JSON
	return string(text)
}

// entries returns the history of a request. Reasoning of other models is left out, and so is reasoning that no message
// or call follows, which providers refuse.
func (r request) entries() []entry {
	var entries []entry
	used, open := map[string]bool{}, map[string]string{} // the ids that are sent, and those of the calls without an output, by their own
	for i, item := range r.Items {
		e := entry{Item: item}
		var m marked
		if item.Raw != "" && parse([]byte(item.Raw), &m) == nil && m.From == r.from {
			e.raw = m.Item
		}
		switch item.Kind {
		case model.ToolCall:
			e.CallID = idFor(item.CallID, used)
			open[item.CallID] = e.CallID
			e.Arguments = object(item.Arguments)
		case model.ToolOutput:
			if sent, ok := open[item.CallID]; ok {
				e.CallID = sent
			}
		case model.Reasoning:
			if e.raw == nil || !answered(r.Items[i:]) {
				continue
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// answered reports whether a message or a call of the model follows reasoning. It reports true if nothing follows: the
// response is not complete yet.
func answered(items []model.Item) bool {
	for _, item := range items {
		if item.Kind != model.Reasoning {
			return item.Kind == model.AgentMessage || item.Kind == model.ToolCall
		}
	}
	return true
}

// idFor returns the id that a call is sent with, which is the model's own only where every provider takes it: Chat
// Completions allows 40 characters, Responses 64. A history has the same ids each time it is sent.
func idFor(id string, used map[string]bool) string {
	const most = 40
	sent := id
	if id == "" || len(id) > most || used[id] || model.Flat(id) != id {
		sum := sha256.Sum256([]byte(strconv.Itoa(len(used)+1) + " " + id))
		sent = "call_" + hex.EncodeToString(sum[:12])
	}
	used[sent] = true
	return sent
}

// object returns the arguments of a call as a JSON object, which providers want. The form for what is none is that of
// Anthropic's documentation of tool use.
func object(arguments string) string {
	var object map[string]json.RawMessage
	switch {
	case strings.TrimSpace(arguments) == "":
		return "{}"
	case json.Unmarshal([]byte(arguments), &object) == nil && object != nil:
		return arguments
	}
	wrapped, _ := model.JSON(map[string]string{"INVALID_JSON": arguments}) // a text always has a form
	return string(wrapped)
}

// runs yields the entries that become one message, with the index of the first: those of the user, those of tools, and
// those of the model.
func runs(entries []entry) func(yield func(int, []entry) bool) {
	side := func(e entry) model.Kind {
		if e.Kind == model.Reasoning || e.Kind == model.ToolCall {
			return model.AgentMessage
		}
		return e.Kind
	}
	return func(yield func(int, []entry) bool) {
		for start := 0; start < len(entries); {
			end := start + 1
			for end < len(entries) && side(entries[end]) == side(entries[start]) {
				end++
			}
			if !yield(start, entries[start:end]) {
				return
			}
			start = end
		}
	}
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
