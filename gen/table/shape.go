package table

import (
	"slices"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/runtime/coerce"
)

// Shape returns what the arguments of a tool may be. With defaults, it has those too,
// for a tool that nothing else fills them in for.
func Shape(t *ir.Tool, defaults bool) coerce.Shape {
	b := builder{t, defaults}
	return coerce.Shape{Members: b.members(t.Params, true), Rules: b.rules()}
}

type builder struct {
	tool     *ir.Tool
	defaults bool
}

func (b builder) members(params []ir.Param, top bool) []coerce.Value {
	var values []coerce.Value
	for i := range params {
		v := b.value(&params[i])
		if top {
			v.Fix = fixFor(b.tool, &params[i])
		}
		if b.defaults && params[i].Default != nil {
			v.Default = ir.JSON(params[i].Default)
		}
		values = append(values, v)
	}
	return values
}

func (b builder) value(p *ir.Param) coerce.Value {
	v := coerce.Value{
		Name: p.Name, Type: string(p.Kind), Required: p.Required && p.Name != "", Nullable: p.Nullable, OneOrMany: p.OneOrMany,
		Wants: Wants(p), Enum: p.Enum, NotBlank: p.NotBlank, SingleLine: p.SingleLine, Format: p.Format,
		Range: limits(p), Clamp: p.Clamp,
	}
	if p.Pattern != "" {
		v.Pattern = &coerce.Pattern{Source: p.Pattern}
	}
	if p.Pattern != "" || p.Format != "" {
		v.Says = says(&p.Constraints)
	}
	for _, repair := range p.Repairs {
		v.Repairs = append(v.Repairs, coerce.Declared(repair))
	}
	switch p.Kind {
	case ir.Array:
		item := b.value(p.Item())
		v.Items = &item
	case ir.Object:
		v.Shape = &coerce.Shape{Key: p.Key, Members: b.members(p.Members, false)}
		for i := range p.Variants {
			v.Shape.Forms = append(v.Shape.Forms, coerce.Form{Value: p.Variants[i].Value, Members: b.members(p.Variants[i].Members, false)})
		}
	case ir.String, ir.Integer, ir.Number, ir.Boolean:
	}
	return v
}

// limits are the least and the most of a number, or of what is counted of a value, which
// is never below zero.
func limits(p *ir.Param) *coerce.Range {
	var low, high *float64
	for _, constraint := range ir.ConstraintTable() {
		switch bound := constraint.Bound(&p.Constraints); {
		case bound == nil:
		case constraint.Form == ir.Least:
			low = bound
		default:
			high = bound
		}
	}
	if low == nil && high == nil {
		return nil
	}
	r := &coerce.Range{Least: -coerce.Unbounded, Most: coerce.Unbounded}
	switch p.Kind {
	case ir.String:
		r.Least, r.Wants = 0, counted(low, high, "character")+" long"
	case ir.Array:
		r.Least, r.Wants = 0, "an array of "+counted(low, high, string(p.Item().Kind))
	case ir.Integer, ir.Number, ir.Boolean, ir.Object:
	}
	if low != nil {
		r.Least = *low
	}
	if high != nil {
		r.Most = *high
	}
	return r
}

// rules are the relations between parameters. What is missing is reported at the first
// parameter that would do.
func (b builder) rules() []coerce.Rule {
	var rules []coerce.Rule
	for _, r := range b.tool.Rules {
		if names := slices.Concat(r.Exclusive, r.ExactlyOne); len(names) > 1 {
			rules = append(rules, coerce.Rule{Exclusive: names})
		}
		if names := slices.Concat(r.AtLeastOne, r.ExactlyOne); len(names) > 1 {
			rules = append(rules, coerce.Rule{AnyOf: names, Fix: fixInExample(b.tool, names[0])})
		}
		for _, name := range r.Requires {
			rules = append(rules, coerce.Rule{Given: r.Given, Requires: name, Fix: fixInExample(b.tool, name)})
		}
	}
	return rules
}
