package gocode

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// validator emits the function that finds every problem of a call's arguments.
// It allocates only where it finds one: a value is handed to a problem as the
// interface it came in, and lists of names are made on the spot.
func (t *toolCode) validator() (jen.Code, error) {
	name := "Validate" + t.tool.GoName
	body := []jen.Code{jen.Var().Id("problems").Index().Qual(t.runtime.contract, "Problem")}
	checks, err := t.checkMembers(arguments(t.tool), t.tool.Params)
	if err != nil {
		return nil, err
	}
	body = append(body, checks...)
	body = append(body, t.checkNames())
	for _, rule := range t.tool.Rules {
		checked, err := t.checkRule(rule)
		if err != nil {
			return nil, err
		}
		body = append(body, checked...)
	}
	body = append(body, jen.Return(jen.Id("problems")))
	declaration := jen.Func().Id(name).Params(jen.Id("args").Qual(t.runtime.coerce, "Object")).Index().Qual(t.runtime.contract, "Problem").Block(body...)
	return documented(declaration,
		name+" returns everything wrong with the arguments of "+t.tool.Name+": parameters in the order they are declared, then names it does not have, then rules. It allocates nothing where nothing is wrong.",
	), nil
}

// scope is the object whose members are under test: the arguments, or an object
// within them.
type scope struct {
	variable string // that holds it
	owner    string // begins the Go names of its members
	top      bool   // it is the arguments
}

func arguments(tool *ir.Tool) scope { return scope{variable: "args", owner: tool.GoName, top: true} }

// path is where a member stands, as text.
func (s scope) path(name string) jen.Code {
	if s.top {
		return jen.Lit(name)
	}
	return jen.Id("at").Dot("Member").Call(jen.Lit(name))
}

// at is where a member stands, to be passed on.
func (s scope) at(t *toolCode, name string) jen.Code {
	fields := []jen.Code{jen.Id("Name").Op(":").Lit(name)}
	if !s.top {
		fields = append([]jen.Code{jen.Id("Above").Op(":").Id("at")}, fields...)
	}
	return jen.Op("&").Qual(t.runtime.contract, "Path").Values(fields...)
}

func (t *toolCode) checkMembers(in scope, members []ir.Param) ([]jen.Code, error) {
	var checks []jen.Code
	for i := range members {
		checked, err := t.checkParam(in, &members[i])
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t.tool.Name, members[i].Name, err)
		}
		checks = append(checks, checked)
	}
	return checks, nil
}

// report appends a problem.
func (t *toolCode) report(constructor string, arguments ...jen.Code) jen.Code {
	return jen.Id("problems").Op("=").Append(jen.Id("problems"), jen.Qual(t.runtime.contract, constructor).Call(arguments...))
}

func (t *toolCode) code(code ir.ErrorCode) jen.Code {
	return jen.Qual(t.runtime.contract, codeName(code))
}

// codeName is the constant of package contract for a code.
func codeName(code ir.ErrorCode) string {
	return map[ir.ErrorCode]string{
		ir.ErrorMinimum: "CodeMinimum", ir.ErrorMaximum: "CodeMaximum",
		ir.ErrorMinLength: "CodeMinLength", ir.ErrorMaxLength: "CodeMaxLength",
		ir.ErrorMinItems: "CodeMinItems", ir.ErrorMaxItems: "CodeMaxItems",
		ir.ErrorBlank: "CodeBlank", ir.ErrorSingleLine: "CodeSingleLine",
	}[code]
}

// checkParam emits the checks of one parameter, or of one member of an object.
func (t *toolCode) checkParam(in scope, p *ir.Param) (jen.Code, error) {
	fix := ""
	if in.top {
		var err error
		if fix, err = fixFor(t.tool, p); err != nil {
			return nil, err
		}
	}
	given := jen.List(jen.Id("v"), jen.Id("ok")).Op(":=").Id(in.variable).Dot("Get").Call(jen.Lit(p.Name))
	value := subject{
		path: in.path(p.Name), at: in.at(t, p.Name), value: jen.Id("v"), fix: fix,
		name: in.owner + p.GoName,
	}
	checked, err := t.checkValue(p, value)
	switch {
	case err != nil:
		return nil, err
	case p.Nullable && !p.Required:
		return jen.If(given, jen.Id("ok").Op("&&").Id("v").Op("!=").Nil()).Block(checked.code), nil
	case p.Nullable:
		checked = unlessNull(checked, value)
	case !p.Required:
		return jen.If(given, jen.Id("ok")).Block(checked.code), nil
	}
	missing := jen.If(given, jen.Op("!").Id("ok")).Block(t.report("Missing", in.path(p.Name), jen.Lit(wants(p)), jen.Lit(fix)))
	if !checked.conditional {
		return missing.Else().Block(checked.code), nil
	}
	return missing.Else().Add(checked.code), nil
}

// unlessNull emits checks of a value that may be null.
func unlessNull(checked check, on subject) check {
	return check{code: jen.If(jen.Add(on.value).Op("!=").Nil()).Block(checked.code), conditional: true}
}

// checkValue emits the checks of a value that is not null: of its type, and then of
// what narrows it and of what it holds.
func (t *toolCode) checkValue(p *ir.Param, on subject) (check, error) {
	wrongType := t.report("Type", on.path, jen.Lit(wants(p)), on.value, jen.Lit(on.fix))
	typed := func(variable string, value jen.Code, checks []check) *jen.Statement {
		if len(checks) == 0 {
			variable = "_"
		}
		s := jen.If(jen.List(jen.Id(variable), jen.Id("ok")).Op(":=").Add(value), jen.Op("!").Id("ok")).Block(wrongType)
		return otherwise(s, checks)
	}
	var checked *jen.Statement
	conditional := true
	switch p.Kind {
	case ir.Integer, ir.Number:
		checked = t.checkNumber(p, on, wrongType)
		conditional = p.Minimum == nil && p.Maximum == nil
	case ir.Boolean:
		checked = typed("_", jen.Add(on.value).Assert(jen.Bool()), nil)
	case ir.Array:
		checks, err := t.checkArray(p, on)
		if err != nil {
			return check{}, err
		}
		checked = typed("list", jen.Add(on.value).Assert(jen.Index().Any()), checks)
		if p.OneOrMany {
			if checked, err = t.checkOne(p, on, checked); err != nil {
				return check{}, err
			}
		}
	case ir.Object:
		checked = typed("o", jen.Add(on.value).Assert(jen.Qual(t.runtime.coerce, "Object")), []check{{
			code: jen.Id("problems").Op("=").Id(checkFunc(p.TypeName)).Call(jen.Id("problems"), on.at, jen.Id("o")),
		}})
	case ir.String:
		checks, err := t.checkString(&p.Constraints, on)
		if err != nil {
			return check{}, err
		}
		checked = typed("s", jen.Add(on.value).Assert(jen.String()), checks)
	default:
		return check{}, fmt.Errorf("unknown type %q", p.Kind)
	}
	return check{code: checked, conditional: conditional}, nil
}

func (t *toolCode) checkNumber(p *ir.Param, on subject, wrongType jen.Code) *jen.Statement {
	read := map[ir.Kind]string{ir.Integer: "Int", ir.Number: "Float"}[p.Kind]
	number := jen.Qual(t.runtime.coerce, read).Call(on.value)
	cases := []jen.Code{jen.Case(jen.Op("!").Id("ok")).Block(wrongType)}
	for _, row := range ir.ConstraintTable() {
		limit := row.Bound(&p.Constraints)
		if limit == nil || row.Unit != "" {
			continue
		}
		cases = append(cases, jen.Case(jen.Id("n").Op(beyond(row)).Add(number64(p.Kind, *limit))).Block(
			t.report("Limit", on.path, t.code(row.Code), jen.Lit(wants(p)), on.value, jen.Lit(lower.Number(*limit))),
		))
	}
	if len(cases) == 1 {
		return jen.If(jen.List(jen.Id("_"), jen.Id("ok")).Op(":=").Add(number), jen.Op("!").Id("ok")).Block(wrongType)
	}
	return jen.Switch(jen.List(jen.Id("n"), jen.Id("ok")).Op(":=").Add(number), jen.Empty()).Block(cases...)
}

// beyond is the operator that holds between a number and a bound it breaks.
func beyond(row ir.Constraint) string {
	if row.Form == ir.Least {
		return "<"
	}
	return ">"
}

// number64 is the literal of a bound.
func number64(kind ir.Kind, n float64) jen.Code {
	if kind == ir.Integer {
		return integer(int64(n))
	}
	return jen.Lit(n)
}

// check is a statement that looks for problems of one value.
type check struct {
	code        jen.Code
	conditional bool // an if statement without an else
}

// otherwise puts checks into the else of an if statement that found a value to
// have its type.
func otherwise(s *jen.Statement, checks []check) *jen.Statement {
	switch {
	case len(checks) == 0:
		return s
	case len(checks) == 1 && checks[0].conditional:
		return s.Else().Add(checks[0].code)
	}
	block := make([]jen.Code, len(checks))
	for i := range checks {
		block[i] = checks[i].code
	}
	return s.Else().Block(block...)
}

// subject is a value under test: where it stands, as text and to be passed on, the
// variable that holds it as an interface, and what to put there instead.
type subject struct {
	path, at, value jen.Code
	fix             string
	name            string // ends the Go names that are made for it
	depth           int    // arrays around it
}

// checkString emits the checks of a string that is in the variable s.
func (t *toolCode) checkString(c *ir.Constraints, on subject) ([]check, error) {
	limit := func(code, want string) jen.Code {
		return t.report("Limit", on.path, jen.Qual(t.runtime.contract, code), jen.Lit(want), on.value, jen.Lit(on.fix))
	}
	var checks []check
	condition := func(when, report jen.Code) {
		checks = append(checks, check{code: jen.If(when).Block(report), conditional: true})
	}
	mismatch := t.report("Mismatch", on.path, jen.Lit(says(c)), on.value, jen.Lit(on.fix))
	table := ir.ConstraintTable()
	for i, row := range table {
		value := row.Of(c)
		switch {
		case row.Form == ir.Least && row.Unit == "character":
			length := jen.Qual("unicode/utf8", "RuneCountInString").Call(jen.Id("s"))
			want := counted(row.Bound(c), table[i+1].Bound(c), row.Unit) + " long"
			checks = append(checks, t.checkCount(length, row, table[i+1], c, limit, want)...)
		case value == nil:
		case row.Key == "enum":
			allowed := make([]jen.Code, len(c.Enum))
			for i, value := range c.Enum {
				allowed[i] = jen.Lit(value)
			}
			checks = append(checks, check{code: jen.Switch(jen.Id("s")).Block(
				jen.Case(allowed...),
				jen.Default().Block(t.report("Enum", on.path, jen.Id("s"), words(c.Enum), jen.Lit(on.fix))),
			)})
		case row.Form == ir.Flag:
			judged := jen.Qual(t.runtime.coerce, row.Func).Call(jen.Id("s"))
			if !row.Negated {
				judged = jen.Op("!").Add(judged)
			}
			if row.Code == ir.ErrorBlank && c.MinLength != nil && *c.MinLength > 0 {
				// Empty text is too short already: once is enough.
				judged = jen.Id("s").Op("!=").Lit("").Op("&&").Add(judged)
			}
			condition(judged, limit(codeName(row.Code), row.Demands))
		case row.Key == "pattern":
			matches, err := t.matcher(on.name, c.Pattern)
			if err != nil {
				return nil, err
			}
			condition(jen.Op("!").Id(matches).Call(jen.Id("s")), mismatch)
		case row.Key == "format":
			format, ok := ir.FormatNamed(c.Format)
			if !ok {
				return nil, fmt.Errorf("unknown format %q", c.Format)
			}
			condition(jen.Op("!").Qual(t.runtime.coerce, format.Func).Call(jen.Id("s")), mismatch)
		}
	}
	return checks, nil
}

// checkCount compares a length or a number of items with its bounds, which the rows
// low and high are of.
func (t *toolCode) checkCount(count jen.Code, low, high ir.Constraint, c *ir.Constraints, limit func(code, want string) jen.Code, want string) []check {
	var cases []jen.Code
	var single jen.Code
	n := jen.Id("n")
	for _, row := range []ir.Constraint{low, high} {
		bound := row.Bound(c)
		if bound == nil || row.Form == ir.Least && *bound <= 0 { // no count is below zero
			continue
		}
		report := limit(codeName(row.Code), want)
		broken := func(count jen.Code) *jen.Statement {
			return jen.Add(count).Op(beyond(row)).Add(integer(int64(*bound)))
		}
		single = jen.If(broken(count)).Block(report)
		cases = append(cases, jen.Case(broken(n)).Block(report))
	}
	switch len(cases) {
	case 0:
		return nil
	case 1:
		return []check{{single, true}}
	}
	return []check{{code: jen.Switch(n.Clone().Op(":=").Add(count), jen.Empty()).Block(cases...)}}
}

// indexes are the variables of loops over arrays within arrays.
var indexes = []string{"i", "j", "k", "l", "m"}

// checkArray emits the checks of an array that is in the variable list.
func (t *toolCode) checkArray(p *ir.Param, on subject) ([]check, error) {
	limit := func(code, want string) jen.Code {
		return t.report("Limit", on.path, jen.Qual(t.runtime.contract, code), jen.Lit(want), on.value, jen.Lit(on.fix))
	}
	var checks []check
	table := ir.ConstraintTable()
	for i, row := range table {
		if row.Form == ir.Least && row.Unit == "item" {
			want := "an array of " + items(p, string(p.Item().Kind))
			checks = t.checkCount(jen.Len(jen.Id("list")), row, table[i+1], &p.Constraints, limit, want)
		}
	}
	if on.depth >= len(indexes) {
		return nil, fmt.Errorf("more than %d arrays within one another", len(indexes))
	}
	index := indexes[on.depth]
	item := subject{
		path:  jen.Qual(t.runtime.contract, "Item").Call(on.path, jen.Id(index)),
		at:    jen.Op("&").Qual(t.runtime.contract, "Path").Values(jen.Id("Above").Op(":").Add(on.at), jen.Id("Index").Op(":").Id(index)),
		value: jen.Id("item"), name: on.name, depth: on.depth + 1,
	}
	checked, err := t.checkValue(p.Item(), item)
	if err != nil {
		return nil, err
	}
	if p.Item().Nullable {
		checked = unlessNull(checked, item)
	}
	loop := jen.For(jen.List(jen.Id(index), jen.Id("item")).Op(":=").Range().Id("list")).Block(t.stopAtMost(), checked.code)
	return append(checks, check{code: loop}), nil
}

// checkOne emits the checks of a string in the place of an array, before those
// of the array.
func (t *toolCode) checkOne(p *ir.Param, on subject, array *jen.Statement) (*jen.Statement, error) {
	checks, err := t.checkString(&p.Item().Constraints, on)
	if err != nil {
		return nil, err
	}
	asserted := jen.Id("v").Assert(jen.String())
	if len(checks) == 0 {
		return jen.If(jen.List(jen.Id("_"), jen.Id("ok")).Op(":=").Add(asserted), jen.Op("!").Id("ok")).Block(array), nil
	}
	block := make([]jen.Code, len(checks))
	for i := range checks {
		block[i] = checks[i].code
	}
	return jen.If(jen.List(jen.Id("s"), jen.Id("ok")).Op(":=").Add(asserted), jen.Id("ok")).Block(block...).Else().Add(array), nil
}

// stopAtMost ends a loop over a caller's own list once enough problems are
// known: what is valid is never cut short by it.
func (t *toolCode) stopAtMost() jen.Code {
	return jen.If(jen.Len(jen.Id("problems")).Op(">=").Qual(t.runtime.contract, "MaxProblems")).Block(jen.Break())
}

// checkNames emits the loop that finds names the tool does not have.
func (t *toolCode) checkNames() jen.Code {
	if len(t.tool.Params) == 0 {
		unknown := t.report("Unknown", jen.Id("f").Dot("Name"), jen.Nil())
		return jen.For(jen.List(jen.Id("_"), jen.Id("f")).Op(":=").Range().Id("args")).Block(t.stopAtMost(), unknown)
	}
	known := make([]jen.Code, len(t.tool.Params))
	for i := range t.tool.Params {
		known[i] = jen.Lit(t.tool.Params[i].Name)
	}
	unknown := t.report("Unknown", jen.Id("f").Dot("Name"), jen.Id(t.namesFunc()).Call())
	return jen.For(jen.List(jen.Id("_"), jen.Id("f")).Op(":=").Range().Id("args")).Block(
		t.stopAtMost(),
		jen.Switch(jen.Id("f").Dot("Name")).Block(
			jen.Case(known...),
			jen.Default().Block(unknown),
		),
	)
}

// checkRule emits the checks of a rule. What is missing is reported at the first
// parameter that would do.
func (t *toolCode) checkRule(r ir.Rule) ([]jen.Code, error) {
	var checks []jen.Code
	if names := slices.Concat(r.Exclusive, r.ExactlyOne); len(names) > 1 {
		checks = append(checks, jen.If(
			jen.Id("given").Op(":=").Id("args").Dot("Together").Call(literals(names)...), jen.Id("given").Op("!=").Nil(),
		).Block(t.report("Exclusive", jen.Id("given"))))
	}
	if names := slices.Concat(r.AtLeastOne, r.ExactlyOne); len(names) > 1 {
		fix, err := fixInExample(t.tool, names[0])
		if err != nil {
			return nil, err
		}
		checks = append(checks, jen.If(jen.Op("!").Id("args").Dot("Any").Call(literals(names)...)).Block(
			t.report("NoneOf", words(names), jen.Lit(fix)),
		))
	}
	for _, name := range r.Requires {
		fix, err := fixInExample(t.tool, name)
		if err != nil {
			return nil, err
		}
		checks = append(checks, jen.If(
			jen.Id("args").Dot("Any").Call(jen.Lit(r.Given)).Op("&&").Op("!").Id("args").Dot("Any").Call(jen.Lit(name)),
		).Block(t.report("Requires", jen.Lit(r.Given), jen.Lit(name), jen.Lit(fix))))
	}
	return checks, nil
}

func literals(list []string) []jen.Code {
	all := make([]jen.Code, len(list))
	for i, s := range list {
		all[i] = jen.Lit(s)
	}
	return all
}
