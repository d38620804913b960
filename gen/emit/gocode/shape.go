package gocode

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// shape emits the table of what the arguments may be, and the functions that make the
// repairs it declares and find every problem.
func (t *toolCode) shape() ([]code, error) {
	name, coerce, validate := "shape"+t.tool.GoName, "Coerce"+t.tool.GoName, "Validate"+t.tool.GoName
	members, err := t.members(t.tool.GoName, t.tool.Params, true)
	if err != nil {
		return nil, err
	}
	rules, err := t.rules()
	if err != nil {
		return nil, err
	}
	table := code{"var " + name + " " + pkgCoerce + "Shape"}
	if len(members) > 0 {
		table = append(code{"var " + name + " = " + pkgCoerce + "Shape{Members: []" + pkgCoerce + "Value{"}, members...)
		if len(rules) > 0 {
			table = append(append(table, "}, Rules: []"+pkgCoerce+"Rule{"), rules...)
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
	}, nil
}

// members emits rows of the table, for parameters or members. owner begins the Go names
// that are made for them.
func (t *toolCode) members(owner string, params []ir.Param, top bool) (code, error) {
	var rows code
	for i := range params {
		p := &params[i]
		fix := ""
		var err error
		if top {
			if fix, err = fixFor(t.tool, p); err != nil {
				return nil, err
			}
		}
		value, err := t.value(owner+p.GoName, p, fix)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t.tool.Name, p.Name, err)
		}
		rows = append(rows, value...)
	}
	return rows, nil
}

// wide is how many characters of a row stand on one line.
const wide = 160

// value emits what a value may be, in braces: on one line where it is short. fix is JSON
// of what would do in its place.
func (t *toolCode) value(name string, p *ir.Param, fix string) (code, error) {
	var is, may row
	is.text("Name", p.Name)
	is.text("Type", string(p.Kind))
	is.flag("Required", p.Required && p.Name != "")
	is.flag("Nullable", p.Nullable)
	is.flag("OneOrMany", p.OneOrMany)
	is.text("Wants", wants(p))
	is.text("Fix", fix)
	if err := t.limits(&may, name, p); err != nil {
		return nil, err
	}
	if len(p.Repairs) > 0 {
		may = append(may, "Repairs: []"+pkgCoerce+"Declared{"+quoted(p.Repairs)+"}")
	}
	if p.Clamp != nil {
		may = append(may, fmt.Sprintf("Clamp: &[2]int64{%d, %d}", p.Clamp[0], p.Clamp[1]))
	}
	var inner code
	switch p.Kind {
	case ir.Array:
		item, err := t.value(name, p.Item(), "")
		if err != nil {
			return nil, err
		}
		item[0] = "Items: &" + pkgCoerce + "Value" + item[0]
		inner = item
	case ir.Object:
		var err error
		if inner, err = t.inner(p); err != nil {
			return nil, err
		}
	}
	// A single field among them stands with what is before it: gofmt would align two
	// that are alone on their lines.
	if len(inner) == 1 && (len(may) < 2 || width(strings.Join(slices.Concat(is, may, row(inner)), ", ")) < wide) {
		may, inner = append(may, strings.TrimSuffix(inner[0], ",")), nil
	}
	if line := "{" + strings.Join(slices.Concat(is, may), ", ") + "},"; len(inner) == 0 && width(line) <= wide {
		return code{line}, nil
	}
	rows := code{"{", strings.Join(is, ", ") + ","}
	if len(may) > 0 {
		rows = append(rows, strings.Join(may, ", ")+",")
	}
	return append(append(rows, inner...), "},"), nil
}

// inner emits what an object may hold, or each of its forms.
func (t *toolCode) inner(p *ir.Param) (code, error) {
	head := "Shape: &" + pkgCoerce + "Shape{"
	if p.Key == "" {
		members, err := t.members(p.TypeName, p.Members, false)
		if err != nil || len(members) == 0 {
			return code{head + "},"}, err
		}
		return append(append(code{head + "Members: []" + pkgCoerce + "Value{"}, members...), "}},"), nil
	}
	rows := code{head + "Key: " + strconv.Quote(p.Key) + ", Forms: []" + pkgCoerce + "Form{"}
	for i := range p.Variants {
		v := &p.Variants[i]
		members, err := t.members(v.TypeName, v.Members, false)
		if err != nil {
			return nil, err
		}
		value := "{Value: " + strconv.Quote(v.Value)
		if len(members) == 0 {
			rows = append(rows, value+"},")
			continue
		}
		rows = append(append(append(rows, value+", Members: []"+pkgCoerce+"Value{"), members...), "}},")
	}
	return append(rows, "}},"), nil
}

// limits adds the fields that narrow a value.
func (t *toolCode) limits(to *row, name string, p *ir.Param) error {
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
			var err error
			if matches, err = t.matcher(name, c.Pattern); err != nil {
				return err
			}
		case constraint.Key == "format":
			format, _ := ir.FormatNamed(c.Format)
			matches = pkgCoerce + format.Func
		}
	}
	if matches != "" {
		*to = append(*to, "Matches: "+matches)
		to.text("Says", says(c))
	}
	if low == nil && high == nil {
		return nil
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
	return nil
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
func (t *toolCode) rules() (code, error) {
	var rows code
	add := func(fixed string, fields ...string) error {
		r := row(fields)
		if fixed != "" {
			fix, err := fixInExample(t.tool, fixed)
			if err != nil {
				return err
			}
			r.text("Fix", fix)
		}
		rows = append(rows, "{"+strings.Join(r, ", ")+"},")
		return nil
	}
	var problems []error
	for _, r := range t.tool.Rules {
		if names := slices.Concat(r.Exclusive, r.ExactlyOne); len(names) > 1 {
			problems = append(problems, add("", "Exclusive: "+words(names)))
		}
		if names := slices.Concat(r.AtLeastOne, r.ExactlyOne); len(names) > 1 {
			problems = append(problems, add(names[0], "AnyOf: "+words(names)))
		}
		for _, name := range r.Requires {
			problems = append(problems, add(name, "Given: "+strconv.Quote(r.Given), "Requires: "+strconv.Quote(name)))
		}
	}
	return rows, errors.Join(problems...)
}
