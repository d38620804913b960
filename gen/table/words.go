package table

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
	"github.com/convtools/convtools/runtime/base/text"
)

// Wants describes the values of p in words that complete "x must be …": the type of p, and the constraints in the words
// that targets use.
func Wants(p *ir.Param) string {
	words := kind(p)
	phrases := lower.Constraints(p) // all but enumerations
	each := "each "
	for item := p.Items; item != nil; item = item.Items { // in an array of arrays, items have items
		if len(item.Enum) > 0 {
			phrases = append(phrases, each+kind(item))
		}
		each = "each item of " + each
	}
	if len(phrases) > 0 {
		words += " (" + oneLine(strings.Join(phrases, "; ")) + ")"
	}
	if p.Nullable {
		words += ", or null"
	}
	return words
}

// kind describes the values of p by their type with its article, or by the values that are allowed.
func kind(p *ir.Param) string {
	switch {
	case len(p.Enum) > 0:
		return "one of " + strings.Join(p.Enum, ", ")
	case p.Kind == ir.Boolean:
		return "true or false"
	case p.Key != "":
		var values []string
		for i := range p.Variants {
			values = append(values, p.Variants[i].Value)
		}
		return "an object whose " + p.Key + " is one of " + strings.Join(values, ", ")
	case p.OneOrMany:
		return "a string, or an array of strings"
	case p.Kind == ir.Integer, p.Kind == ir.Array, p.Kind == ir.Object:
		return "an " + lower.Kind(p)
	}
	return "a " + lower.Kind(p)
}

// oneLine returns text of a spec on one line with all characters visible, for a message.
func oneLine(s string) string { return strings.Join(strings.Fields(text.Visible(s)), " ") }

// fixInExample returns the JSON text of the named argument in the first example that has it, or "" if none has it.
func fixInExample(tool *ir.Tool, name string) string {
	for _, example := range tool.Examples {
		var arguments map[string]json.RawMessage
		_ = json.Unmarshal([]byte(example.Arguments), &arguments) // package check verified that they are JSON
		var b bytes.Buffer
		if value, ok := arguments[name]; ok && json.Compact(&b, value) == nil {
			return b.String()
		}
	}
	return ""
}

// example returns the arguments of a call that works: those of the first example, or {} if no parameter is required.
// It returns "" if no such call is known.
func example(tool *ir.Tool) string {
	if len(tool.Examples) > 0 {
		return tool.Examples[0].Arguments
	}
	if slices.ContainsFunc(tool.Params, func(p ir.Param) bool { return p.Required }) {
		return ""
	}
	return "{}"
}
