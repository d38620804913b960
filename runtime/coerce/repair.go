package coerce

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/contract"
)

// Repair is one change made to a caller's arguments.
type Repair struct {
	Path string // the parameter; empty for the arguments as a whole
	Note string // one sentence for the caller
}

// Args is a call's arguments while repairs are made to them.
type Args struct {
	Object  Object
	Repairs []Repair

	above string // path of the object, where it stands within the arguments
}

// path is where a member of the object stands.
func (a *Args) path(name string) string { return a.above + name }

// read puts a value in the place of a member; as is how it was read, behind its path.
func (a *Args) read(name string, value any, as string) {
	a.Object.set(name, value)
	a.note(name, "Read "+a.path(name)+as)
}

func (a *Args) note(name, note string) {
	a.Repairs = append(a.Repairs, Repair{Path: a.path(name), Note: note})
}

// within makes repairs to the object in a member, or to every object in an array there.
func (a *Args) within(name string, shape *Shape) {
	if v, ok := a.Object.Get(name); ok {
		a.Object.set(name, a.repaired(v, a.path(name), shape))
	}
}

func (a *Args) repaired(v any, path string, shape *Shape) any {
	switch v := v.(type) {
	case Object:
		inner := Args{Object: v, above: path + "."}
		shape.Repair(&inner)
		a.Repairs = append(a.Repairs, inner.Repairs...)
		return inner.Object
	case []any:
		for i := range v {
			v[i] = a.repaired(v[i], contract.Item(path, i), shape)
		}
	}
	return v
}

// DropNulls removes members that are null, except for those named: an optional
// parameter given as null counts as not given, which is how its absence is
// documented. It is no repair.
func (a *Args) DropNulls(nullable ...string) {
	kept := a.Object[:0]
	for _, f := range a.Object {
		if f.Value != nil || slices.Contains(nullable, f.Name) {
			kept = append(kept, f)
		}
	}
	a.Object = kept
}

// IntegerFromString reads "5" as 5.
func (a *Args) IntegerFromString(name string) {
	s, ok := a.str(name)
	if !ok {
		return
	}
	trimmed := strings.TrimSpace(s)
	if n, err := strconv.ParseInt(trimmed, 10, 64); err == nil && len(trimmed) <= 20 {
		a.read(name, json.Number(strconv.FormatInt(n, 10)), "="+quote(s)+" as the integer "+strconv.FormatInt(n, 10)+".")
	}
}

// NumberFromString reads "0.5" as 0.5.
func (a *Args) NumberFromString(name string) {
	s, ok := a.str(name)
	if !ok {
		return
	}
	value, err := decode([]byte(strings.TrimSpace(s)))
	if n, ok := value.(json.Number); ok && err == nil && len(n) <= 40 {
		a.read(name, n, "="+quote(s)+" as the number "+n.String()+".")
	}
}

// ObjectFromString reads a string that holds a JSON object as that object.
func (a *Args) ObjectFromString(name string) {
	if object, ok := a.inside(name, "{").(Object); ok {
		a.read(name, object, " from a string as the JSON object inside it.")
	}
}

// inside returns the JSON value in a string that begins with a bracket; nil where there is
// none.
func (a *Args) inside(name, bracket string) any {
	s, ok := a.str(name)
	if !ok || !strings.HasPrefix(strings.TrimSpace(s), bracket) {
		return nil
	}
	value, err := decode([]byte(s))
	if err != nil {
		return nil
	}
	return value
}

// BooleanFromString reads "true" and "false", in any case, as booleans.
func (a *Args) BooleanFromString(name string) {
	s, ok := a.str(name)
	if !ok {
		return
	}
	switch trimmed := strings.ToLower(strings.TrimSpace(s)); trimmed {
	case "true", "false":
		a.read(name, trimmed == "true", "="+quote(s)+" as the boolean "+trimmed+".")
	}
}

// StringFromInteger reads 17648402467 as "17648402467", for identifiers that
// consist of digits.
func (a *Args) StringFromInteger(name string) {
	v, _ := a.Object.Get(name)
	if n, ok := v.(json.Number); ok {
		if _, err := strconv.ParseInt(string(n), 10, 64); err == nil {
			a.read(name, string(n), "="+string(n)+" as the string "+strconv.Quote(string(n))+".")
		}
	}
}

// ClampMaximum lowers an integer over the maximum to the maximum.
func (a *Args) ClampMaximum(name string, maximum int64) { a.Clamp(name, math.MinInt64, maximum) }

// Clamp puts an integer between two bounds.
func (a *Args) Clamp(name string, minimum, maximum int64) {
	v, _ := a.Object.Get(name)
	n, ok := Int(v)
	bound, is := maximum, " is over the maximum"
	if n < minimum {
		bound, is = minimum, " is under the minimum"
	}
	if !ok || minimum <= n && n <= maximum {
		return
	}
	limit := strconv.FormatInt(bound, 10)
	a.Object.set(name, json.Number(limit))
	shown := string(v.(json.Number))
	if len(shown) > 24 {
		shown = shown[:24] + "…"
	}
	a.note(name, a.path(name)+"="+shown+is+": used "+limit+".")
}

// ArrayFromString reads a string that holds a JSON array as that array. Text
// that does not begin with "[" is left for [Args.ArrayFromScalar] or for
// validation, whose message is more use than one about JSON.
func (a *Args) ArrayFromString(name string) {
	if list, ok := a.inside(name, "[").([]any); ok {
		a.read(name, list, " from a string as the JSON array inside it.")
	}
}

// ArrayFromScalar reads "chat" as ["chat"].
func (a *Args) ArrayFromScalar(name string) {
	v, _ := a.Object.Get(name)
	switch v.(type) {
	case string, json.Number:
		a.read(name, []any{v}, " as an array of one value.")
	}
}

// ArrayFromItem reads one value of any kind but an array as an array of it. Whether the
// value is right is left to the check of the items.
func (a *Args) ArrayFromItem(name string) {
	switch v, _ := a.Object.Get(name); v.(type) {
	case nil, []any:
	default:
		a.read(name, []any{v}, " as an array of one value.")
	}
}

// OneOrMany reads what may be one string or an array of strings: a string that
// holds a JSON array of strings is read as that array, and blank strings are
// dropped. What is then empty counts as not given, as does the word null. None
// of it is a repair: the schema takes every string.
func (a *Args) OneOrMany(name string) {
	v, _ := a.Object.Get(name)
	if s, ok := v.(string); ok {
		if Blank(s) || strings.TrimSpace(s) == "null" {
			a.Object = a.Object.without(name)
			return
		}
		// An array of anything else is text that only looks like one.
		if inner, err := decode([]byte(s)); err == nil {
			if _, ok := Strings(inner); ok {
				v = inner
			}
		}
	}
	list, ok := v.([]any)
	if !ok {
		return
	}
	kept := make([]any, 0, len(list))
	for _, item := range list {
		if s, ok := item.(string); !ok || !Blank(s) {
			kept = append(kept, item)
		}
	}
	if len(kept) == 0 {
		a.Object = a.Object.without(name)
		return
	}
	a.Object.set(name, kept)
}

// ItemsFromIntegers reads the integers in an array as strings of digits.
func (a *Args) ItemsFromIntegers(name string) {
	v, _ := a.Object.Get(name)
	list, ok := v.([]any)
	if !ok {
		return
	}
	changed := false
	for i := range list {
		if n, ok := list[i].(json.Number); ok {
			if _, err := strconv.ParseInt(string(n), 10, 64); err == nil {
				list[i], changed = string(n), true
			}
		}
	}
	if changed {
		a.note(name, "Read the integers in "+a.path(name)+" as strings.")
	}
}

// Spelling puts a string, or the strings of an array, into the spelling the
// allowed values have: case and the choice between "-" and "_" do not matter.
func (a *Args) Spelling(name string, allowed ...string) {
	v, _ := a.Object.Get(name)
	switch v := v.(type) {
	case string:
		if word, changed := respell(v, allowed); changed {
			a.read(name, word, "="+strconv.Quote(v)+" as "+strconv.Quote(word)+".")
		}
	case []any:
		for i := range v {
			s, ok := v[i].(string)
			if !ok {
				continue
			}
			if word, changed := respell(s, allowed); changed {
				v[i] = word
				a.note(name, "Read "+strconv.Quote(s)+" in "+a.path(name)+" as "+strconv.Quote(word)+".")
			}
		}
	}
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

// quote shows what was given, shortened: it is the caller's own, and may be
// mostly blanks.
func quote(s string) string {
	if len(s) > 40 {
		s = s[:36] + "…"
	}
	return strconv.Quote(s)
}

func (a *Args) str(name string) (string, bool) {
	v, _ := a.Object.Get(name)
	s, ok := v.(string)
	return s, ok && len(s) <= MaxBytes
}
