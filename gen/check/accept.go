package check

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
)

// accepted reports whether all defaults and examples of a tool are certainly valid, as
// nearly all are: compiling a schema to find that out takes longer than all else that
// is checked. Where it is not certain, the schema decides, and words what is wrong.
func accepted(t *ir.Tool, s *spec.Tool) bool {
	for i := range t.Params {
		if p := &t.Params[i]; p.Default != nil && !accepts(p, p.Default) {
			return false
		}
	}
	for _, e := range s.Examples {
		for name, value := range e.Arguments.Value {
			if p := t.Param(name); p == nil || !accepts(p, value) {
				return false
			}
		}
	}
	return true
}

// accepts reports whether a value, of a spec or of the model, is certainly one of p.
func accepts(p *ir.Param, v any) bool {
	switch p.Kind {
	case ir.Boolean:
		_, ok := v.(bool)
		return ok
	case ir.Integer, ir.Number:
		return acceptsNumber(p, v)
	case ir.String:
		s, ok := v.(string)
		return ok && acceptsText(p, s)
	case ir.Array:
		list, ok := list(v)
		if !ok || p.MinItems != nil && int64(len(list)) < *p.MinItems || p.MaxItems != nil && int64(len(list)) > *p.MaxItems {
			return false
		}
		for _, item := range list {
			if !accepts(p.Item(), item) {
				return false
			}
		}
		return true
	case ir.Object:
		m, ok := v.(map[string]any)
		return ok && p.Key == "" && acceptsMembers(p.Members, m)
	}
	return false
}

func acceptsMembers(members []ir.Param, given map[string]any) bool {
	known := 0
	for i := range members {
		value, ok := given[members[i].Name]
		switch {
		case ok && !accepts(&members[i], value), !ok && members[i].Required:
			return false
		case ok:
			known++
		}
	}
	return known == len(given)
}

func acceptsNumber(p *ir.Param, v any) bool {
	var n float64
	switch v := v.(type) {
	case int64:
		n = float64(v)
	case float64:
		if n = v; p.Kind == ir.Integer {
			return false
		}
	default:
		return false
	}
	const exact = 1 << 53 // whole numbers beyond are not those that float64 has
	return math.Abs(n) < exact && (p.Minimum == nil || n >= *p.Minimum) && (p.Maximum == nil || n <= *p.Maximum)
}

func acceptsText(p *ir.Param, s string) bool {
	n := int64(utf8.RuneCountInString(s))
	switch {
	case !utf8.ValidString(s), p.Format != "",
		p.MinLength != nil && n < *p.MinLength, p.MaxLength != nil && n > *p.MaxLength,
		p.NotBlank && strings.Trim(s, "\t\n\v\f\r ") == "",
		p.SingleLine && strings.ContainsAny(s, "\n\r\x00"):
		return false
	}
	if len(p.Enum) > 0 && !slices.Contains(p.Enum, s) {
		return false
	}
	if p.Pattern == "" {
		return true
	}
	pattern, err := regexp.Compile(p.Pattern)
	return err == nil && pattern.MatchString(s)
}

// list is a value that is an array, in any of the forms that arrays have.
func list(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case []string:
		return anyOf(v), true
	case []map[string]any:
		return anyOf(v), true
	}
	return nil, false
}

func anyOf[T any](list []T) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}
