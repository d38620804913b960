package gocode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/convtools/convtools/gen/ir"
)

// wants is what a parameter wants, as it completes "x must be …".
func wants(p *ir.Param) string {
	switch p.Kind {
	case ir.Integer:
		if words := between(p.Minimum, p.Maximum); words != "" {
			return "an integer " + words
		}
		return "an integer"
	case ir.Boolean:
		return "true or false"
	case ir.Array:
		if p.OneOrMany {
			return wantsOneOrMany(p)
		}
		return wantsArray(p)
	default:
		return wantsString(&p.Constraints)
	}
}

// wantsArray is the same for an array.
func wantsArray(p *ir.Param) string {
	words := "an array of " + counted(p.MinItems, p.MaxItems, "string")
	if p.Items != nil && constrained(p.Items) {
		words += ", each " + wantsString(p.Items)
	}
	return words
}

// wantsOneOrMany is the same for one string or an array of them.
func wantsOneOrMany(p *ir.Param) string {
	if p.Items == nil || !constrained(p.Items) {
		return "a string or " + wantsArray(p)
	}
	return wantsString(p.Items) + ", or an array of " + counted(p.MinItems, p.MaxItems, "such string")
}

// wantsString is the same for one string.
func wantsString(c *ir.Constraints) string {
	if len(c.Enum) > 0 {
		return "one of " + strings.Join(c.Enum, ", ")
	}
	words := "a string"
	if length := counted(c.MinLength, c.MaxLength, "character"); length != "characters" {
		words += " of " + length
	}
	if c.SingleLine {
		words += " on one line"
	}
	if c.NotBlank {
		words += " that is not blank"
	}
	if c.Pattern != "" {
		words += " that must " + says(c)
	}
	return words
}

func constrained(c *ir.Constraints) bool {
	return len(c.Enum) > 0 || c.MinLength != nil || c.MaxLength != nil || c.Pattern != "" || c.NotBlank || c.SingleLine
}

// says is what a pattern asks for, as it completes "x must …".
func says(c *ir.Constraints) string {
	if c.PatternSays != "" {
		return oneLine(c.PatternSays)
	}
	return "match the regular expression " + c.Pattern
}

// between is a range of numbers: "from 1 to 200".
func between(low, high *int64) string {
	switch {
	case low == nil && high == nil:
		return ""
	case low == nil:
		return "of at most " + strconv.FormatInt(*high, 10)
	case high == nil:
		return "of at least " + strconv.FormatInt(*low, 10)
	default:
		return fmt.Sprintf("from %d to %d", *low, *high)
	}
}

// counted is a range of counts: "1 to 20 strings", or "strings" for any number.
func counted(low, high *int64, unit string) string {
	switch {
	case low == nil && high == nil:
		return unit + "s"
	case low == nil:
		return "at most " + plural(*high, unit)
	case high == nil:
		return "at least " + plural(*low, unit)
	case *low == *high:
		return plural(*low, unit)
	default:
		return strconv.FormatInt(*low, 10) + " to " + plural(*high, unit)
	}
}

func plural(n int64, unit string) string {
	if n != 1 {
		unit += "s"
	}
	return strconv.FormatInt(n, 10) + " " + unit
}

// fixFor is the JSON text that would do at a parameter where the caller's own
// value cannot be used: its default, or for a required one the value it has in
// an example. It is empty where leaving the parameter out is best.
func fixFor(tool *ir.Tool, p *ir.Param) (string, error) {
	if p.Default != nil {
		return jsonText(p.Default)
	}
	if !p.Required {
		return "", nil
	}
	for _, example := range tool.Examples {
		var arguments map[string]json.RawMessage
		if err := json.Unmarshal([]byte(example.Arguments), &arguments); err != nil {
			return "", fmt.Errorf("%s: reading the arguments of an example: %w", tool.Name, err)
		}
		if value, ok := arguments[p.Name]; ok {
			var b bytes.Buffer
			if err := json.Compact(&b, value); err != nil {
				return "", fmt.Errorf("%s: reading the example's %s: %w", tool.Name, p.Name, err)
			}
			return b.String(), nil
		}
	}
	return "", nil
}

// exampleFor is the arguments of a call that works: those of the first example,
// or none where none are required. It is empty where no such call is known.
func exampleFor(tool *ir.Tool) string {
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

func jsonText(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("writing %v as JSON: %w", v, err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
