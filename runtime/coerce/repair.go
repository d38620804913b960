package coerce

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/contract"
)

// Repair makes the declared repairs of a tool in its arguments, and returns a note of each, in declared order. An
// optional parameter that is null becomes absent, without a note. It reuses args.
func Repair(tool *contract.Tool, args Object) (Object, []string) {
	var r repairer
	args = r.object(&contract.Shape{Members: tool.Parameters}, args, "")
	return args, r.notes
}

type repairer struct{ notes []string }

func (r *repairer) note(words ...string) { r.notes = append(r.notes, strings.Join(words, "")) }

func (r *repairer) object(s *contract.Shape, o Object, path string) Object {
	members, ok := members(s, o)
	if !ok {
		return o
	}
	o = slices.DeleteFunc(o, func(f Field) bool {
		return f.Value == nil && !slices.ContainsFunc(members, func(p contract.Parameter) bool { return p.Name == f.Name && p.Nullable })
	})
	for i := range members {
		p := &members[i]
		v, given := o.Get(p.Name)
		if given && p.OneOrMany {
			v, given = oneOrMany(v)
		}
		if !given {
			o = o.without(p.Name)
			continue
		}
		o.set(p.Name, r.value(p, v, member(path, p.Name)))
	}
	return o
}

// value returns a value after the repairs of its parameter.
func (r *repairer) value(p *contract.Parameter, v any, path string) any {
	for _, declared := range p.Repairs {
		switch declared {
		case contract.FromString:
			v = r.fromString(p, v, path)
		case contract.FromInteger:
			v = r.fromInteger(p, v, path)
		case contract.FromScalar:
			v = r.fromScalar(p, v, path)
		case contract.ToBounds:
			v = r.toBounds(p, v, path)
		case contract.ToSpelling:
			v = r.toSpelling(p.Values(), v, path)
		}
	}
	return r.within(p, v, path)
}

// within makes the repairs inside a value.
func (r *repairer) within(p *contract.Parameter, v any, path string) any {
	switch v := v.(type) {
	case Object:
		if p.Shape != nil {
			return r.object(p.Shape, v, path)
		}
	case []any:
		for i := range v {
			if p.Items != nil {
				v[i] = r.within(p.Items, v[i], contract.Item(path, i))
			}
		}
	}
	return v
}

// fromString turns "5" into 5, "true" in any case into a boolean, and a string with a JSON array or object into that.
// Other text is left for another repair, or for validation, which has better messages than a JSON decoder.
func (r *repairer) fromString(p *contract.Parameter, v any, path string) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	trimmed := strings.TrimSpace(s)
	read := func(value any, shown string) any {
		r.note("Read ", path, "=", quote(s), " as the ", p.Type, " ", shown, ".")
		return value
	}
	switch p.Type {
	case "integer":
		if n, err := strconv.ParseInt(trimmed, 10, 64); err == nil && len(trimmed) <= 20 {
			shown := strconv.FormatInt(n, 10)
			return read(json.Number(shown), shown)
		}
	case "number":
		value, err := decode([]byte(trimmed))
		if n, ok := value.(json.Number); ok && err == nil && len(n) <= 40 {
			return read(n, n.String())
		}
	case "boolean":
		if lower := strings.ToLower(trimmed); lower == "true" || lower == "false" {
			return read(lower == "true", lower)
		}
	case "object", "array":
		value, err := decode([]byte(s))
		_, isObject := value.(Object)
		_, isArray := value.([]any)
		if err == nil && (isObject && p.Type == "object" || isArray && p.Type == "array") {
			r.note("Read ", path, " from a string as the JSON ", p.Type, " inside it.")
			return value
		}
	}
	return v
}

// fromInteger turns 17648402467 into "17648402467", for identifiers made of digits, also in an array.
func (r *repairer) fromInteger(p *contract.Parameter, v any, path string) any {
	switch is := v.(type) {
	case json.Number:
		if digits, ok := digits(is); ok && (p.Type == "string" || p.OneOrMany) {
			r.note("Read ", path, "=", digits, " as the string ", strconv.Quote(digits), ".")
			return digits
		}
	case []any:
		changed := false
		for i := range is {
			if digits, ok := digits(is[i]); ok && p.Type == "array" {
				is[i], changed = digits, true
			}
		}
		if changed {
			r.note("Read the integers in ", path, " as strings.")
		}
	}
	return v
}

func digits(v any) (string, bool) {
	n, ok := v.(json.Number)
	_, err := strconv.ParseInt(string(n), 10, 64)
	return string(n), ok && err == nil
}

// fromScalar turns "chat" into ["chat"]. The value is checked as an item later; for an array of strings only a string
// or a number is turned.
func (r *repairer) fromScalar(p *contract.Parameter, v any, path string) any {
	switch v.(type) {
	case nil, []any:
		return v
	case string, json.Number:
	default:
		if p.Items.Type == "string" {
			return v
		}
	}
	r.note("Read ", path, " as an array of one value.")
	return []any{v}
}

// toBounds moves an integer between two bounds.
func (r *repairer) toBounds(p *contract.Parameter, v any, path string) any {
	n, ok := Int(v)
	bounds := p.Clamp
	if bounds == nil {
		bounds = &[2]int64{math.MinInt64, int64(p.Range.Most)}
	}
	if !ok || bounds[0] <= n && n <= bounds[1] {
		return v
	}
	bound, is := bounds[1], " is over the maximum"
	if n < bounds[0] {
		bound, is = bounds[0], " is under the minimum"
	}
	shown := string(v.(json.Number))
	if len(shown) > 24 {
		shown = shown[:24] + "…"
	}
	limit := strconv.FormatInt(bound, 10)
	r.note(path, "=", shown, is, ": used ", limit, ".")
	return json.Number(limit)
}

// toSpelling gives a string, or the strings of an array, the spelling of the allowed values: case, and "-" or "_",
// are ignored.
func (r *repairer) toSpelling(allowed []string, v any, path string) any {
	switch v := v.(type) {
	case string:
		if word, changed := respell(v, allowed); changed {
			r.note("Read ", path, "=", strconv.Quote(v), " as ", strconv.Quote(word), ".")
			return word
		}
	case []any:
		for i := range v {
			s, ok := v[i].(string)
			if word, changed := respell(s, allowed); ok && changed {
				v[i] = word
				r.note("Read ", strconv.Quote(s), " in ", path, " as ", strconv.Quote(word), ".")
			}
		}
	}
	return v
}

func respell(s string, allowed []string) (string, bool) {
	if len(s) > 64 || slices.Contains(allowed, s) {
		return s, false
	}
	folded := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "_", "-")
	for _, word := range allowed {
		if folded == strings.ReplaceAll(strings.ToLower(word), "_", "-") {
			return word, true
		}
	}
	return s, false
}

// oneOrMany returns the value of a parameter that is one string or an array of strings: a string with a JSON array of
// strings becomes that array, and blank strings are removed. An empty result, or null, becomes absent. These are no
// repairs: the schema allows every string.
func oneOrMany(v any) (any, bool) {
	if s, ok := v.(string); ok {
		if Blank(s) || strings.TrimSpace(s) == "null" {
			return nil, false
		}
		inner, _ := decode([]byte(s))
		list, ok := inner.([]any)
		if !ok || slices.ContainsFunc(list, func(item any) bool { _, isText := item.(string); return !isText }) {
			return v, true // text that only looks like an array
		}
		v = list
	}
	list, ok := v.([]any)
	if !ok {
		return v, true
	}
	list = slices.DeleteFunc(list, func(item any) bool { s, isText := item.(string); return isText && Blank(s) })
	return list, len(list) > 0
}

// quote returns the beginning of a given string for a note. It may be mostly blanks.
func quote(s string) string {
	if len(s) > 40 {
		s = s[:36] + "…"
	}
	return strconv.Quote(s)
}
