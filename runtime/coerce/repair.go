package coerce

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/contract"
)

// Repair returns the arguments of a tool after its declared repairs, and a note of each repair that changed something,
// in declared order. A null that the parameter does not allow is removed, without a note. Repair reuses args.
func Repair(tool *contract.Tool, args Object) (Object, []string) {
	var r repairer
	args = r.repairObject(&contract.Shape{Members: tool.Parameters}, args, "")
	return args, r.notes
}

type repairer struct{ notes []string }

func (r *repairer) note(words ...string) { r.notes = append(r.notes, strings.Join(words, "")) }

// repairObject returns an object of shape s after the repairs of its members, or as it is if it has none of the forms.
func (r *repairer) repairObject(s *contract.Shape, o Object, path string) Object {
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
			v, given = oneOrManyValue(v)
		}
		if !given {
			o = o.without(p.Name)
			continue
		}
		o.set(p.Name, r.repairValue(p, v, member(path, p.Name)))
	}
	return o
}

// repairValue returns a value after the repairs of its parameter, and of what is in it.
func (r *repairer) repairValue(p *contract.Parameter, v any, path string) any {
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
	return r.repairInside(p, v, path)
}

// repairInside returns a value after the repairs of the members of objects in it.
func (r *repairer) repairInside(p *contract.Parameter, v any, path string) any {
	switch v := v.(type) {
	case Object:
		if p.Shape != nil {
			return r.repairObject(p.Shape, v, path)
		}
	case []any:
		for i := range v {
			if p.Items != nil {
				v[i] = r.repairInside(p.Items, v[i], contract.Item(path, i))
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
	withNote := func(value any, shown string) any {
		r.note("Read ", path, "=", quote(s), " as the ", p.Type, " ", shown, ".")
		return value
	}
	switch p.Type {
	case "integer":
		if n, err := strconv.ParseInt(trimmed, 10, 64); err == nil && len(trimmed) <= 20 {
			shown := strconv.FormatInt(n, 10)
			return withNote(json.Number(shown), shown)
		}
	case "number":
		value, err := decode([]byte(trimmed))
		if n, ok := value.(json.Number); ok && err == nil && len(n) <= 40 {
			return withNote(n, n.String())
		}
	case "boolean":
		if lower := strings.ToLower(trimmed); lower == "true" || lower == "false" {
			return withNote(lower == "true", lower)
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
	switch value := v.(type) {
	case json.Number:
		if digits, ok := digits(value); ok && (p.Type == "string" || p.OneOrMany) {
			r.note("Read ", path, "=", digits, " as the string ", strconv.Quote(digits), ".")
			return digits
		}
	case []any:
		changed := false
		for i := range value {
			if digits, ok := digits(value[i]); ok && p.Type == "array" {
				value[i], changed = digits, true
			}
		}
		if changed {
			r.note("Read the integers in ", path, " as strings.")
		}
	}
	return v
}

// digits returns the text of an integer in int64; false for any other value.
func digits(v any) (string, bool) {
	n, ok := v.(json.Number)
	_, err := strconv.ParseInt(string(n), 10, 64)
	return string(n), ok && err == nil
}

// fromScalar turns "chat" into ["chat"]. Whether the value is a valid item is checked later, but for an array of
// strings only a string or a number becomes an item.
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

// toBounds returns an integer outside of the bounds as the nearest bound, and any other value as it is.
func (r *repairer) toBounds(p *contract.Parameter, v any, path string) any {
	n, ok := Int(v)
	bounds := p.Clamp
	if bounds == nil {
		bounds = &[2]int64{math.MinInt64, int64(p.Range.Most)}
	}
	if !ok || bounds[0] <= n && n <= bounds[1] {
		return v
	}
	bound, problem := bounds[1], " is over the maximum"
	if n < bounds[0] {
		bound, problem = bounds[0], " is under the minimum"
	}
	shown := string(v.(json.Number))
	if len(shown) > 24 {
		shown = shown[:24] + "…"
	}
	limit := strconv.FormatInt(bound, 10)
	r.note(path, "=", shown, problem, ": used ", limit, ".")
	return json.Number(limit)
}

// toSpelling returns a string, or an array with each of its strings, in the spelling of the allowed values. Case, the
// difference between "-" and "_" and white space around a string are ignored.
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

// respell returns the allowed value that s spells in another way and true, or s and false.
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

// oneOrManyValue returns the value of a parameter that is one string or an array of strings, and false if nothing is
// left of it. A string with a JSON array of strings becomes that array; blank strings, and the string null, are
// removed. It makes no notes: these are no repairs, because the schema allows every string.
func oneOrManyValue(v any) (any, bool) {
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

// quote returns the beginning of a string, in quotes, for a note.
func quote(s string) string {
	if len(s) > 40 {
		s = s[:36] + "…"
	}
	return strconv.Quote(s)
}
