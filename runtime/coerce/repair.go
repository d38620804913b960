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

// repairObject returns an object of shape s after the repairs of its members. It removes a member that is null if the
// member may not be null. It removes an empty list or a blank string if the member takes one string or a list of
// strings. If s has several forms and the object has none of these, repairObject returns the object as it is.
func (r *repairer) repairObject(s *contract.Shape, o Object, path string) Object {
	declared, hasForm := declaredMembers(s, o)
	if !hasForm {
		return o
	}
	var nullable []string
	for i := range declared {
		if declared[i].Nullable {
			nullable = append(nullable, declared[i].Name)
		}
	}
	o = slices.DeleteFunc(o, func(f Field) bool { return f.Value == nil && !slices.Contains(nullable, f.Name) })
	for i := range declared {
		p := &declared[i]
		v, given := o.Get(p.Name)
		if given && p.OneOrMany {
			v, given = oneOrManyValue(v) // an empty value counts as not given
		}
		if given {
			o.set(p.Name, r.repairValue(p, v, member(path, p.Name)))
		} else {
			o = o.without(p.Name)
		}
	}
	return o
}

// repairValue returns a value after the repairs that its parameter declares, and those of the objects in the value.
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

// fromString returns the value that a string stands for: 5 for "5", a boolean for "true" or "false" in any case, the
// array or object for a string with its JSON. The type of the parameter says which of these is looked for. Any other
// value is returned as it is: validation has better messages than a JSON decoder.
func (r *repairer) fromString(p *contract.Parameter, v any, path string) any {
	const mostInteger, mostNumber = 20, 40 // characters; a longer text is no number that somebody meant
	s, ok := v.(string)
	if !ok {
		return v
	}
	trimmed := strings.TrimSpace(s)
	note := func(shown string) { r.note("Read ", path, "=", quote(s), " as the ", p.Type, " ", shown, ".") }
	switch p.Type {
	case "integer":
		if n, err := strconv.ParseInt(trimmed, 10, 64); err == nil && len(trimmed) <= mostInteger {
			digits := strconv.FormatInt(n, 10)
			note(digits)
			return json.Number(digits)
		}
	case "number":
		value, err := decode([]byte(trimmed))
		if n, ok := value.(json.Number); ok && err == nil && len(n) <= mostNumber {
			note(n.String())
			return n
		}
	case "boolean":
		if lower := strings.ToLower(trimmed); lower == "true" || lower == "false" {
			note(lower)
			return lower == "true"
		}
	case "object", "array":
		value, err := decode([]byte(s))
		_, isObject := value.(Object)
		_, isArray := value.([]any)
		isDeclared := isObject && p.Type == "object" || isArray && p.Type == "array"
		if err == nil && isDeclared {
			r.note("Read ", path, " from a string as the JSON ", p.Type, " inside it.")
			return value
		}
	}
	return v
}

// fromInteger returns an integer as a string if the parameter takes strings: identifiers may be made of digits, such as
// 17648402467. In an array it does the same with each item, in place. It returns any other value as it is.
func (r *repairer) fromInteger(p *contract.Parameter, v any, path string) any {
	switch value := v.(type) {
	case json.Number:
		takesString := p.Type == "string" || p.OneOrMany
		if digits, ok := integerDigits(value); ok && takesString {
			r.note("Read ", path, "=", digits, " as the string ", strconv.Quote(digits), ".")
			return digits
		}
	case []any:
		changed := false
		for i := range value {
			if digits, ok := integerDigits(value[i]); ok && p.Type == "array" {
				value[i], changed = digits, true
			}
		}
		if changed {
			r.note("Read the integers in ", path, " as strings.")
		}
	}
	return v
}

// integerDigits returns the text of an integer in int64; false for any other value.
func integerDigits(v any) (string, bool) {
	n, ok := v.(json.Number)
	_, err := strconv.ParseInt(string(n), 10, 64)
	return string(n), ok && err == nil
}

// fromScalar returns an array with the value: ["chat"] for "chat". Null and an array stay as they are, and so does a
// boolean or an object if the items have to be strings. Whether the value is a valid item is checked later.
func (r *repairer) fromScalar(p *contract.Parameter, v any, path string) any {
	switch v.(type) {
	case nil, []any:
		return v
	case bool, Object:
		if p.Items.Type == "string" {
			return v
		}
	}
	r.note("Read ", path, " as an array of one value.")
	return []any{v}
}

// toBounds returns an integer outside of the parameter's bounds as the nearest bound, and any other value as it is.
func (r *repairer) toBounds(p *contract.Parameter, v any, path string) any {
	const mostShown = 24 // characters of the integer in the note
	n, isInteger := Int(v)
	if !isInteger {
		return v
	}
	var least, most int64
	if p.Clamp != nil {
		least, most = p.Clamp[0], p.Clamp[1]
	} else { // only the maximum is a bound
		least, most = math.MinInt64, int64(p.Range.Most)
	}
	if least <= n && n <= most {
		return v
	}
	bound, problem := most, " is over the maximum"
	if n < least {
		bound, problem = least, " is under the minimum"
	}
	shown := string(v.(json.Number))
	if len(shown) > mostShown {
		shown = shown[:mostShown] + "…"
	}
	limit := strconv.FormatInt(bound, 10)
	r.note(path, "=", shown, problem, ": used ", limit, ".")
	return json.Number(limit)
}

// toSpelling returns a string in the spelling of the allowed value that it means, or an array with all its strings in
// that spelling. It returns any other value as it is.
func (r *repairer) toSpelling(allowed []string, v any, path string) any {
	switch v := v.(type) {
	case string:
		if word, changed := respell(v, allowed); changed {
			r.note("Read ", path, "=", strconv.Quote(v), " as ", strconv.Quote(word), ".")
			return word
		}
	case []any:
		for i := range v {
			s, isString := v[i].(string)
			if word, changed := respell(s, allowed); isString && changed {
				v[i] = word
				r.note("Read ", strconv.Quote(s), " in ", path, " as ", strconv.Quote(word), ".")
			}
		}
	}
	return v
}

// respell returns the allowed value that differs from s only in case, in "_" for "-" or in white space around s. changed
// is false if there is none, if s is an allowed value itself, or if s is too long for a value that somebody meant.
func respell(s string, allowed []string) (spelled string, changed bool) {
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

// oneOrManyValue returns the value of a parameter that takes one string or an array of strings, and false if the value
// is empty. A string with a JSON array of strings becomes that array. Blank strings in an array are removed; a blank
// string and the string null are empty. There are no notes of these repairs: the schema allows any string.
func oneOrManyValue(v any) (any, bool) {
	isBlank := func(item any) bool { s, isString := item.(string); return isString && Blank(s) }
	if s, ok := v.(string); ok {
		if Blank(s) || strings.TrimSpace(s) == "null" {
			return nil, false
		}
		inner, _ := decode([]byte(s))
		list, isArray := inner.([]any)
		isNoString := func(item any) bool { _, isString := item.(string); return !isString }
		if hasOnlyStrings := isArray && !slices.ContainsFunc(list, isNoString); !hasOnlyStrings {
			return s, true
		}
		v = list
	}
	list, isArray := v.([]any)
	if !isArray {
		return v, true
	}
	list = slices.DeleteFunc(list, isBlank)
	return list, len(list) > 0
}

// quote returns the beginning of a string, in quotes, for a note.
func quote(s string) string {
	if len(s) > 40 {
		s = s[:36] + "…"
	}
	return strconv.Quote(s)
}
