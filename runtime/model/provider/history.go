package provider

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/model"
)

// webSearch is the providers' name for their own search.
const webSearch = "web_search"

// fields is a JSON object.
type fields = map[string]any

// request is a request to one model.
type request struct {
	model.Request
	model string
	from  string // marks the items of this model
	names model.Names
}

// saved is the JSON of [model.Item.Raw]: an item in the provider's form.
type saved struct {
	From string `json:"from"`
	Item fields `json:"item"`
}

// raw returns the Raw of an item in the provider's form.
func (r request) raw(item fields) string {
	text, _ := model.JSON(saved{r.from, item}) // it was decoded from JSON
	return string(text)
}

// call returns a call with the name as the model wrote it.
func (r request) call(id, name, arguments string) model.Item {
	return model.Item{Kind: model.ToolCall, CallID: id, Name: r.names.Canonical(name), Wire: name, Arguments: arguments}
}

// entry is an item of a history with an id, a name and arguments that every provider accepts.
type entry struct {
	model.Item
	role  string // user, assistant or tool
	saved fields // the provider's form; empty if another model wrote the item
}

// entries returns the history of a request. It leaves out the reasoning of other models, which providers refuse, and
// reasoning without a message or call after it.
func (r request) entries() []entry {
	var entries []entry
	ids := map[string]string{} // in the request, by the latest call's own
	used := map[string]bool{}
	for i, item := range r.Items {
		e := entry{Item: item, role: "assistant", saved: fields{}}
		var s saved
		if parse([]byte(item.Raw), &s) == nil && s.From == r.from && s.Item != nil {
			e.saved = s.Item
		}
		switch item.Kind {
		case model.UserMessage:
			e.role = "user"
		case model.ToolOutput:
			e.role = "tool"
			e.CallID = cmp.Or(ids[item.CallID], item.CallID)
		case model.ToolCall:
			// Chat Completions allows 40 characters, Responses 64. The same history has the same ids each time.
			if id := item.CallID; used[id] || len(id) > 40 || model.Flat(id) != id {
				e.CallID = "history_" + strconv.Itoa(i)
			}
			ids[item.CallID], used[e.CallID] = e.CallID, true
			e.Name = model.Flat(item.Name)
			e.Arguments = object(item.Arguments)
		case model.Reasoning:
			next := slices.IndexFunc(r.Items[i:], func(item model.Item) bool { return item.Kind != model.Reasoning })
			if len(e.saved) == 0 || next >= 0 && r.Items[i+next].IsInput() {
				continue
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// object returns the arguments of a call as a JSON object. Providers refuse anything else. Anthropic's documentation has
// this form for invalid arguments.
func object(arguments string) string {
	var object map[string]json.RawMessage
	switch {
	case strings.TrimSpace(arguments) == "":
		return "{}"
	case json.Unmarshal([]byte(arguments), &object) == nil && object != nil:
		return arguments
	}
	wrapped, _ := model.JSON(map[string]string{"INVALID_JSON": arguments}) // a map of texts cannot fail
	return string(wrapped)
}

// turns returns the runs of entries with one role.
func turns(entries []entry) [][]entry {
	var all [][]entry
	for i, e := range entries {
		if i == 0 || e.role != entries[i-1].role {
			all = append(all, nil)
		}
		last := len(all) - 1
		all[last] = append(all[last], e)
	}
	return all
}

// encode returns the parts of a message. image returns an image in the provider's form.
func encode(parts []model.Part, textType string, image func(url string) fields) []any {
	encoded := []any{}
	for _, p := range parts {
		if p.ImageURL != "" {
			encoded = append(encoded, image(p.ImageURL))
		} else {
			encoded = append(encoded, fields{"type": textType, "text": p.Text})
		}
	}
	return encoded
}

// addTools adds the tools of a request to its body. form returns a tool in the provider's form; schema is the field for
// its parameters. search is the provider's own search, or nil.
func (r request) addTools(body fields, schema string, form func(fields) fields, search fields) {
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

// block is a part of a response that arrives in pieces.
type block struct {
	fields fields            // the first piece
	pieces map[string][]byte // texts to append to fields
}

// add appends the texts of a further piece.
func (b *block) add(piece fields) {
	if b.pieces == nil {
		b.pieces = map[string][]byte{}
	}
	for key, value := range piece {
		if text, ok := value.(string); ok && key != "type" {
			b.pieces[key] = append(b.pieces[key], text...)
		}
	}
}

// text returns the text of a field with all its pieces.
func (b *block) text(key string) string {
	return textOf(b.fields[key]) + string(b.pieces[key])
}

// textOf returns a JSON string, or an empty text for any other value.
func textOf(value any) string {
	text, _ := value.(string)
	return text
}
