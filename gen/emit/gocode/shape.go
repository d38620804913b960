package gocode

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// shape emits the table of what the arguments may be, and the functions that make the
// repairs it declares and find every problem.
func (t *toolCode) shape() []code {
	name, coerce, validate := "shape"+t.tool.GoName, "Coerce"+t.tool.GoName, "Validate"+t.tool.GoName
	table := code{"var " + name + " " + pkgCoerce + "Shape"}
	if len(t.tool.Params) > 0 {
		table = append(code{"var " + name + " = " + pkgCoerce + "Shape{Members: []" + pkgCoerce + "Value{"}, t.members(t.tool.GoName, t.tool.Params, true)...)
		if len(t.tool.Rules) > 0 {
			table = append(append(table, "}, Rules: []"+pkgCoerce+"Rule{"), t.rules()...)
		}
		table = append(table, "}}")
	}
	return []code{
		documented(table, name+" is what the arguments of "+t.tool.Name+" may be."),
		documented(
			shortFunc("func "+coerce+"(args *"+pkgCoerce+"Args)", name+".Repair(args)"),
			coerce+" makes the repairs that "+t.tool.Name+" declares, and notes each of them.",
		),
		documented(
			shortFunc("func "+validate+"(args "+pkgCoerce+"Object) []"+pkgContract+"Problem", "return "+name+".Problems(args)"),
			validate+" returns everything wrong with the arguments of "+t.tool.Name+": parameters in the order they are declared, then names it does not have, then rules. It allocates nothing where nothing is wrong.",
		),
	}
}

// members emits rows of the table, for parameters or members. owner begins the Go names
// that are made for them.
func (t *toolCode) members(owner string, params []ir.Param, top bool) code {
	var rows code
	for i := range params {
		p, fix := &params[i], ""
		if top {
			fix = fixFor(t.tool, p)
		}
		rows = append(rows, t.value(owner+p.GoName, p, fix)...)
	}
	return rows
}

// wide is how many characters of a row stand on one line.
const wide = 160

// value emits what a value may be, in braces: on one line where it is short. fix is JSON
// of what would do in its place.
func (t *toolCode) value(name string, p *ir.Param, fix string) code {
	var is, may row
	is.text("Name", p.Name)
	is.text("Type", string(p.Kind))
	is.flag("Required", p.Required && p.Name != "")
	is.flag("Nullable", p.Nullable)
	is.flag("OneOrMany", p.OneOrMany)
	is.text("Wants", wants(p))
	is.text("Fix", fix)
	t.limits(&may, name, p)
	if len(p.Repairs) > 0 {
		may = append(may, "Repairs: []"+pkgCoerce+"Declared{"+quoted(p.Repairs)+"}")
	}
	if p.Clamp != nil {
		may = append(may, fmt.Sprintf("Clamp: &[2]int64{%d, %d}", p.Clamp[0], p.Clamp[1]))
	}
	var inner code
	switch p.Kind {
	case ir.Array:
		inner = t.value(name, p.Item(), "")
		inner[0] = "Items: &" + pkgCoerce + "Value" + inner[0]
	case ir.Object:
		inner = t.inner(p)
	}
	// A single field among them stands with what is before it: gofmt would align two
	// that are alone on their lines.
	if len(inner) == 1 && (len(may) < 2 || width(strings.Join(slices.Concat(is, may, row(inner)), ", ")) < wide) {
		may, inner = append(may, strings.TrimSuffix(inner[0], ",")), nil
	}
	if line := "{" + strings.Join(slices.Concat(is, may), ", ") + "},"; len(inner) == 0 && width(line) <= wide {
		return code{line}
	}
	rows := code{"{", strings.Join(is, ", ") + ","}
	if len(may) > 0 {
		rows = append(rows, strings.Join(may, ", ")+",")
	}
	return append(append(rows, inner...), "},")
}

// inner emits what an object may hold, or each of its forms.
func (t *toolCode) inner(p *ir.Param) code {
	head := "Shape: &" + pkgCoerce + "Shape{"
	holds := func(begin, typeName string, params []ir.Param) code {
		if len(params) == 0 {
			return code{strings.TrimSuffix(begin, ", ") + "},"}
		}
		return append(append(code{begin + "Members: []" + pkgCoerce + "Value{"}, t.members(typeName, params, false)...), "}},")
	}
	if p.Key == "" {
		return holds(head, p.TypeName, p.Members)
	}
	rows := code{head + "Key: " + strconv.Quote(p.Key) + ", Forms: []" + pkgCoerce + "Form{"}
	for i := range p.Variants {
		v := &p.Variants[i]
		rows = append(rows, holds("{Value: "+strconv.Quote(v.Value)+", ", v.TypeName, v.Members)...)
	}
	return append(rows, "}},")
}

// limits adds the fields that narrow a value.
func (t *toolCode) limits(to *row, name string, p *ir.Param) {
	c := &p.Constraints
	var low, high *float64
	matches := ""
	for _, constraint := range ir.ConstraintTable() {
		switch {
		case constraint.Of(c) == nil:
		case constraint.Form == ir.Least:
			low = constraint.Bound(c)
		case constraint.Form == ir.Most:
			high = constraint.Bound(c)
		case constraint.Form == ir.Flag:
			to.flag(camel(constraint.Key), true)
		case constraint.Key == "enum":
			*to = append(*to, "Enum: "+words(c.Enum))
		case constraint.Key == "pattern":
			matches = t.matcher(name, c.Pattern)
		case constraint.Key == "format":
			format, _ := ir.FormatNamed(c.Format)
			matches = pkgFormats + format.Func
		}
	}
	if matches != "" {
		*to = append(*to, "Matches: "+matches)
		to.text("Says", says(c))
	}
	if low == nil && high == nil {
		return
	}
	var bounds row
	bounds.bound("Least", low, "-", p.Kind)
	bounds.bound("Most", high, "", p.Kind)
	switch p.Kind {
	case ir.String:
		bounds.text("Wants", counted(low, high, "character")+" long")
	case ir.Array:
		bounds.text("Wants", "an array of "+counted(low, high, string(p.Item().Kind)))
	}
	*to = append(*to, "Range: &"+pkgCoerce+"Range{"+strings.Join(bounds, ", ")+"}")
}

// row is fields of a literal.
type row []string

// text adds a field that is left out where it is empty.
func (r *row) text(name, value string) {
	if value != "" {
		*r = append(*r, name+": "+strconv.Quote(value))
	}
}

// flag adds a field that is left out where it is false.
func (r *row) flag(name string, value bool) {
	if value {
		*r = append(*r, name+": true")
	}
}

// bound adds a bound of a value. Nothing that is counted is below zero.
func (r *row) bound(name string, bound *float64, sign string, kind ir.Kind) {
	switch {
	case bound != nil && kind == ir.Number:
		*r = append(*r, name+": "+float(*bound))
	case bound != nil:
		*r = append(*r, name+": "+lower.Number(*bound))
	case sign == "" || kind == ir.Integer || kind == ir.Number:
		*r = append(*r, name+": "+sign+pkgCoerce+"Unbounded")
	}
}

// rules emits rows for the relations between parameters. What is missing is reported at
// the first parameter that would do.
func (t *toolCode) rules() code {
	var rows code
	add := func(fixed string, fields ...string) {
		r := row(fields)
		r.text("Fix", fixInExample(t.tool, fixed))
		rows = append(rows, "{"+strings.Join(r, ", ")+"},")
	}
	for _, r := range t.tool.Rules {
		if names := slices.Concat(r.Exclusive, r.ExactlyOne); len(names) > 1 {
			add("", "Exclusive: "+words(names))
		}
		if names := slices.Concat(r.AtLeastOne, r.ExactlyOne); len(names) > 1 {
			add(names[0], "AnyOf: "+words(names))
		}
		for _, name := range r.Requires {
			add(name, "Given: "+strconv.Quote(r.Given), "Requires: "+strconv.Quote(name))
		}
	}
	return rows
}
