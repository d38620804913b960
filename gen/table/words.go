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

// Wants is what a value has to be, as it completes "x must be …".
func Wants(p *ir.Param) string {
	words := wantsValue(p)
	if p.Nullable {
		words += ", or null"
	}
	return words
}

func wantsValue(p *ir.Param) string {
	switch p.Kind {
	case ir.Integer, ir.Number:
		words := "a number"
		if p.Kind == ir.Integer {
			words = "an integer"
		}
		if limits := between(p.Minimum, p.Maximum); limits != "" {
			words += " " + limits
		}
		return words
	case ir.Boolean:
		return "true or false"
	case ir.Object:
		if p.Key == "" {
			return "an object"
		}
		return "an object whose " + p.Key + " is one of " + strings.Join(variantValues(p), ", ")
	case ir.Array:
		if p.OneOrMany {
			return wantsOneOrMany(p)
		}
		return wantsArray(p)
	default:
		return wantsString(&p.Constraints)
	}
}

// variantValues is what the key of an object with variants may be.
func variantValues(p *ir.Param) []string {
	values := make([]string, len(p.Variants))
	for i := range p.Variants {
		values[i] = p.Variants[i].Value
	}
	return values
}

// wantsArray is the same for an array.
func wantsArray(p *ir.Param) string {
	words := "an array of " + items(p, string(p.Item().Kind))
	if item := p.Item(); item.Kind == ir.Array || item.Nullable || constrained(item) {
		words += ", each " + Wants(item)
	}
	return words
}

// items is how many items of a kind an array has.
func items(p *ir.Param, unit string) string {
	table := ir.ConstraintTable()
	for i, row := range table {
		if row.Form == ir.Least && row.Unit == "item" {
			return counted(row.Bound(&p.Constraints), table[i+1].Bound(&p.Constraints), unit)
		}
	}
	return unit + "s"
}

// wantsOneOrMany is the same for one string or an array of them.
func wantsOneOrMany(p *ir.Param) string {
	if !constrained(p.Item()) {
		return "a string or " + wantsArray(p)
	}
	return wantsString(&p.Item().Constraints) + ", or an array of " + items(p, "such string")
}

// wantsString is the same for one string.
func wantsString(c *ir.Constraints) string {
	if len(c.Enum) > 0 {
		return "one of " + strings.Join(c.Enum, ", ")
	}
	words := "a string"
	table := ir.ConstraintTable()
	for i, row := range table {
		if row.Form == ir.Least && row.Unit == "character" {
			if length := counted(row.Bound(c), table[i+1].Bound(c), row.Unit); length != "characters" {
				words += " of " + length
			}
		}
	}
	for _, row := range slices.Backward(table) { // the shorter words come first
		switch {
		case row.Of(c) == nil:
		case row.Form == ir.Flag:
			words += " " + row.Wants
		case row.Form == ir.Text:
			words += " that must " + says(c)
		}
	}
	return words
}

func constrained(p *ir.Param) bool {
	for _, row := range ir.ConstraintTable() {
		if row.Of(&p.Constraints) != nil {
			return true
		}
	}
	return false
}

// says is what a pattern or a format asks for, as it completes "x must …".
func says(c *ir.Constraints) string {
	return strings.Join(strings.Fields(text.Visible(lower.Says(c))), " ")
}

// between is a range of numbers: "from 1 to 200".
func between(low, high *float64) string {
	switch {
	case low == nil && high == nil:
		return ""
	case low == nil || high == nil:
		return "of " + lower.Span(low, high, "")
	default:
		return "from " + lower.Number(*low) + " to " + lower.Number(*high)
	}
}

// counted is a range of counts: "1 to 20 strings", or "strings" for any number.
func counted(low, high *float64, unit string) string {
	if low == nil && high == nil {
		return unit + "s"
	}
	return strings.TrimPrefix(lower.Span(low, high, unit), "exactly ")
}

// fixInExample is the JSON text of a parameter in the first example that has it, or
// nothing.
func fixInExample(tool *ir.Tool, name string) string {
	for _, example := range tool.Examples {
		var arguments map[string]json.RawMessage
		if err := json.Unmarshal([]byte(example.Arguments), &arguments); err != nil {
			continue
		}
		var b bytes.Buffer
		if value, ok := arguments[name]; ok && json.Compact(&b, value) == nil {
			return b.String()
		}
	}
	return ""
}

// example is the arguments of a call that works: those of the first example,
// or none where none are required. It is empty where no such call is known.
func example(tool *ir.Tool) string {
	if len(tool.Examples) > 0 {
		return tool.Examples[0].Arguments
	}
	for i := range tool.Params {
		if tool.Params[i].Required {
			return ""
		}
	}
	return "{}"
}
