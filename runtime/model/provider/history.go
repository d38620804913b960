package provider

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/model"
)

// fields is a JSON object.
type fields = map[string]any

// request is a request to one model.
type request struct {
	model.Request
	model string
	from  string // the API and the model: marks the items of this model in [saved]
}

// saved is the JSON of [model.Item.Raw]: an item in the provider's form.
type saved struct {
	From string `json:"from"`
	Item fields `json:"item"`
}

// raw returns a text for [model.Item.Raw]: an item in the provider's form, and r.from, which names API and model.
func (r request) raw(item fields) string {
	text, _ := model.JSON(saved{r.from, item}) // cannot fail: item was decoded from JSON
	return string(text)
}

// turn is a run of items of one role: user, assistant or tool.
type turn struct {
	role  string
	items []entry
}

// entry is an item of a history with an id, a name and arguments that every provider accepts.
type entry struct {
	model.Item
	saved fields // the provider's form; empty if another model wrote the item
}

// turns returns the history of a request in turns of one role. It leaves out the reasoning of other models, which
// providers refuse, and reasoning before a user's message or an output: what the model wrote after it is missing.
// A call whose id is not allowed or is that of an earlier call gets a new id, and its output gets the new id, too.
func (r request) turns() []turn {
	var turns []turn
	newIDs := map[string]string{} // the ids that the latest calls have in the request, by their ids in the history
	used := map[string]bool{}     // the ids of calls in the request
	for i, item := range r.Items {
		role, e := "assistant", entry{item, fields{}}
		var s saved
		if parse([]byte(item.Raw), &s) == nil && s.From == r.from && s.Item != nil {
			e.saved = s.Item // this model has written the item
		}
		switch item.Kind {
		case model.UserMessage:
			role = "user"
		case model.ToolOutput:
			role = "tool"
			e.CallID = cmp.Or(newIDs[item.CallID], item.CallID)
		case model.ToolCall:
			isAllowed := len(item.CallID) <= 40 && model.Flat(item.CallID) == item.CallID // 40 for Chat Completions, 64 for Responses
			if !isAllowed || used[item.CallID] {
				e.CallID = "history_" + strconv.Itoa(i) // i is the same in the next request, and so is the id
			}
			newIDs[item.CallID], used[e.CallID] = e.CallID, true
			e.Name = model.Flat(item.Name)
			e.Arguments = argumentsObject(item.Arguments)
		case model.Reasoning:
			next := slices.IndexFunc(r.Items[i:], func(item model.Item) bool { return item.Kind != model.Reasoning })
			inputFollows := next >= 0 && r.Items[i+next].IsInput()
			if ofOtherModel := len(e.saved) == 0; ofOtherModel || inputFollows {
				continue
			}
		}
		if len(turns) == 0 || turns[len(turns)-1].role != role {
			turns = append(turns, turn{role: role})
		}
		last := &turns[len(turns)-1]
		last.items = append(last.items, e)
	}
	return turns
}

// argumentsObject returns the arguments of a call as a JSON object: providers refuse anything else. Other arguments
// become the value of INVALID_JSON in an object, as Anthropic's documentation proposes.
func argumentsObject(arguments string) string {
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

// encodeParts returns the parts of a message in a provider's form. image returns an image in that form.
func encodeParts(parts []model.Part, textType string, image func(url string) fields) []any {
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

// addTools adds the tools of a request to its body. schema is the name of the field for the parameters of a tool, and
// form returns the tool in the provider's form. search is the provider's own search; nil if it has none.
func (r request) addTools(body fields, schema string, form func(fields) fields, search fields) {
	var tools []fields
	for _, t := range r.Tools {
		tools = append(tools, form(fields{"name": model.Flat(t.Name), "description": t.Description, schema: t.Parameters}))
	}
	if r.WebSearch && search != nil {
		tools = append(tools, search)
	}
	if len(tools) > 0 {
		body["tools"] = tools
	}
}

// growing is a text to which pieces are appended.
type growing struct{ strings.Builder }

// MarshalText implements [encoding.TextMarshaler].
func (g *growing) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// appendTexts appends each text in a piece, except its type, to the field of the same name in a part of a response.
func appendTexts(part, piece fields) {
	for key, value := range piece {
		addition, isText := value.(string)
		if !isText || key == "type" {
			continue
		}
		text, isGrowing := part[key].(*growing)
		if !isGrowing {
			text = &growing{}
			text.WriteString(textOf(part[key]))
			part[key] = text
		}
		text.WriteString(addition)
	}
}

// objectOf returns a JSON object, or nil for any other value.
func objectOf(value any) fields {
	object, _ := value.(fields)
	return object
}

// objectsOf returns the elements of a JSON array, each as objectOf does, or nil for any other value.
func objectsOf(value any) []fields {
	var objects []fields
	array, _ := value.([]any)
	for _, element := range array {
		objects = append(objects, objectOf(element))
	}
	return objects
}

// textOf returns a JSON string or a growing text, or an empty text for any other value.
func textOf(value any) string {
	if text, ok := value.(*growing); ok {
		return text.String()
	}
	text, _ := value.(string)
	return text
}
