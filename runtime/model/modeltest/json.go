package modeltest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// object is a JSON object of a request.
type object map[string]json.RawMessage

// only checks that an object has no other keys than these.
func (o object) only(what string, keys ...string) error {
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(keys, key) {
			return illegal("Unknown parameter: '%s%s'.", what, key)
		}
	}
	return nil
}

// text returns a string; it has to be there.
func (o object) text(key string) (string, error) {
	var s *string
	if err := json.Unmarshal(o[key], &s); err != nil || s == nil {
		return "", illegal("Invalid type for '%s': expected a string.", key)
	}
	return *s, nil
}

// optional returns a string, or an empty one where there is none.
func (o object) optional(key string) (string, error) {
	if o[key] == nil {
		return "", nil
	}
	return o.text(key)
}

// is reports whether a value is the JSON text given.
func (o object) is(key, text string) bool { return string(o[key]) == text }

// list returns an array of objects.
func (o object) list(key string) ([]object, error) {
	var list []object
	if err := json.Unmarshal(o[key], &list); err != nil || list == nil {
		return nil, illegal("Invalid type for '%s': expected an array of objects.", key)
	}
	return list, nil
}

// child returns an object in an object.
func (o object) child(key string) (object, error) {
	var child object
	if err := json.Unmarshal(o[key], &child); err != nil || child == nil {
		return nil, illegal("Invalid type for '%s': expected an object.", key)
	}
	return child, nil
}

func (o object) number(key string, least int64) error {
	var n int64
	if err := json.Unmarshal(o[key], &n); err != nil || n < least {
		return illegal("Invalid '%s': integer below minimum value. Expected a value >= %d.", key, least)
	}
	return nil
}

// legalName checks the name of a function: ^[a-zA-Z0-9_-]{1,most}$.
func legalName(name string, most int) error {
	legal := name != "" && len(name) <= most && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
	if !legal {
		return illegal("Invalid name %q: string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$', of at most %d characters.", name, most)
	}
	return nil
}

// schema checks the schema of a function's parameters.
func schema(raw json.RawMessage) error {
	var s struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &s); err != nil || s.Type != "object" {
		return illegal("Invalid schema for function: schema must be a JSON Schema of 'type: \"object\"'.")
	}
	return nil
}

// isObject reports whether a text is a JSON object.
func isObject(text string) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal([]byte(text), &o) == nil && o != nil
}

// image checks the address of an image.
func image(address string) error {
	for _, prefix := range []string{"https://", "http://", "data:image/"} {
		if strings.HasPrefix(address, prefix) {
			return nil
		}
	}
	return illegal("Invalid image_url: expected a valid URL.")
}

// calls keeps the calls of a history that have no output yet.
type calls struct {
	open []string
	seen map[string]bool
}

func (c *calls) call(id string, most int) error {
	if id == "" || len(id) > most {
		return illegal("Invalid call id %q: expected a string of 1 to %d characters.", id, most)
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	if c.seen[id] {
		return illegal("Duplicate call id %q.", id)
	}
	c.seen[id] = true
	c.open = append(c.open, id)
	return nil
}

func (c *calls) output(id string) error {
	i := slices.Index(c.open, id)
	if i < 0 {
		return illegal("No tool call found for function call output with call_id %s.", id)
	}
	c.open = slices.Delete(c.open, i, i+1)
	return nil
}

func (c *calls) answered() error {
	if len(c.open) > 0 {
		return illegal("No tool output found for function call %s.", c.open[0])
	}
	return nil
}

// halves cuts a text in two, between characters.
func halves(s string) [2]string {
	half := len(s) / 2
	for half > 0 && !utf8.RuneStart(s[half]) {
		half--
	}
	return [2]string{s[:half], s[half:]}
}
