// Package table converts a tool of the model to the values that the runtime uses: its description for hosts, and the
// constraints on its arguments. Generated code has the same values as literals.
package table

import (
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
	"github.com/convtools/convtools/runtime/contract"
)

// Tool returns the runtime's description of a tool. schema is the JSON Schema of its arguments.
func Tool(t *ir.Tool, schema string) contract.Tool {
	return contract.Tool{
		Name: t.Name, Title: t.Title(), Aliases: t.OtherNames(), Summary: t.Summary, Description: description(t), Effect: string(t.Effect),
		InputSchema: schema, Example: example(t), MaxChars: t.MaxChars, Plain: t.Result.Plain, Structured: t.Structured,
		OpenWorld:  t.OpenWorld || t.Effect == ir.Write,
		Keywords:   t.Keywords,
		Parameters: parameters(t, t.Params), Rules: rules(t),
	}
}

// Arguments returns a tool with only parameters and rules, for checking arguments.
func Arguments(t *ir.Tool) *contract.Tool {
	return &contract.Tool{Parameters: parameters(nil, t.Params), Rules: rules(t)}
}

// description returns a tool's description, which follows its summary. It includes the rules between parameters,
// because no schema that every model provider takes can express them.
func description(tool *ir.Tool) string {
	paragraphs := lower.Paragraphs(tool.Description)
	var rules []string
	for _, r := range tool.Rules {
		rules = append(rules, lower.RuleSentence(r))
	}
	if len(rules) > 0 {
		paragraphs = append(paragraphs, strings.Join(rules, " "))
	}
	return strings.Join(paragraphs, "\n\n")
}

// parameters returns the runtime's descriptions of params. They are the parameters of t or, if t is nil, members of an
// object. A required parameter of t has the value of an example as its Fix.
func parameters(t *ir.Tool, params []ir.Param) []contract.Parameter {
	var list []contract.Parameter
	for i := range params {
		p := parameter(&params[i])
		if t != nil && p.Required {
			p.Fix = fixInExample(t, p.Name)
		}
		list = append(list, p)
	}
	return list
}

// parameter returns the runtime's description of a parameter, a member of an object or an item of an array. An item has
// no name and is never required.
func parameter(p *ir.Param) contract.Parameter {
	v := contract.Parameter{
		Name: p.Name, Type: string(p.Kind), Required: p.Required && p.Name != "", Nullable: p.Nullable, Wants: Wants(p),
		Enum: p.Enum, Range: bounds(p), Pattern: p.Pattern, Format: p.Format, NotBlank: p.NotBlank, SingleLine: p.SingleLine,
		OneOrMany: p.OneOrMany, Repairs: p.Repairs, Clamp: p.Clamp,
	}
	if p.Default != nil {
		v.Default = ir.JSON(p.Default)
	}
	if p.Pattern != "" || p.Format != "" {
		v.Says = oneLine(lower.Says(&p.Constraints))
	}
	switch p.Kind {
	case ir.Array:
		item := parameter(p.Item())
		v.Items = &item
	case ir.Object:
		v.Shape = &contract.Shape{Members: parameters(nil, p.Members), Key: p.Key}
		for i := range p.Variants {
			v.Shape.Forms = append(v.Shape.Forms, contract.Form{Value: p.Variants[i].Value, Members: parameters(nil, p.Variants[i].Members)})
		}
	}
	return v
}

// bounds returns the bounds of a number, of the length of a string or of the number of items of an array, or nil if p
// has none. Lengths and numbers of items are at least zero.
func bounds(p *ir.Param) *contract.Range {
	var low, high *float64
	for _, row := range ir.ConstraintTable() {
		if bound := row.Bound(&p.Constraints); bound != nil && row.Form == ir.Least {
			low = bound
		} else if bound != nil {
			high = bound
		}
	}
	if low == nil && high == nil {
		return nil
	}
	r := &contract.Range{Most: contract.Unbounded}
	if high != nil {
		r.Most = *high
	}
	switch {
	case low != nil:
		r.Least = *low
	case p.Kind == ir.Integer || p.Kind == ir.Number:
		r.Least = -contract.Unbounded
	}
	switch p.Kind {
	case ir.String:
		r.Wants = lower.Span(low, high, "character") + " long"
	case ir.Array:
		r.Wants = "an array of " + lower.Span(low, high, string(p.Item().Kind))
	}
	return r
}

// rules returns the relations between parameters of a tool. Some rules demand a parameter; the Fix of such a rule is an
// example's value for the first parameter that would satisfy the rule.
func rules(t *ir.Tool) []contract.Rule {
	var list []contract.Rule
	for _, r := range t.Rules {
		if names := slices.Concat(r.Exclusive, r.ExactlyOne); len(names) > 1 {
			list = append(list, contract.Rule{Exclusive: names})
		}
		if names := slices.Concat(r.AtLeastOne, r.ExactlyOne); len(names) > 1 {
			list = append(list, contract.Rule{AnyOf: names, Fix: fixInExample(t, names[0])})
		}
		for _, name := range r.Requires {
			list = append(list, contract.Rule{Given: r.Given, Requires: name, Fix: fixInExample(t, name)})
		}
	}
	return list
}
