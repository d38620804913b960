package gocode

import (
	"fmt"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/convtools/convtools/gen/ir"
)

// validator emits the function that finds every problem of a call's arguments.
// It allocates only where it finds one: a value is handed to a problem as the
// interface it came in, and lists of names are made on the spot.
func (t *toolCode) validator() (jen.Code, error) {
	name := "Validate" + t.tool.GoName
	body := []jen.Code{jen.Var().Id("problems").Index().Qual(t.runtime.contract, "Problem")}
	for i := range t.tool.Params {
		checked, err := t.checkParam(&t.tool.Params[i])
		if err != nil {
			return nil, err
		}
		body = append(body, checked)
	}
	body = append(body, t.checkNames())
	for _, rule := range t.tool.Rules {
		if len(rule.Exclusive) > 1 {
			body = append(body, t.checkExclusive(rule.Exclusive))
		}
	}
	body = append(body, jen.Return(jen.Id("problems")))
	declaration := jen.Func().Id(name).Params(jen.Id("args").Qual(t.runtime.coerce, "Object")).Index().Qual(t.runtime.contract, "Problem").Block(body...)
	return documented(declaration,
		name+" returns everything wrong with the arguments of "+t.tool.Name+": parameters in the order they are declared, then names it does not have, then rules. It allocates nothing where nothing is wrong.",
	), nil
}

// report appends a problem.
func (t *toolCode) report(constructor string, arguments ...jen.Code) jen.Code {
	return jen.Id("problems").Op("=").Append(jen.Id("problems"), jen.Qual(t.runtime.contract, constructor).Call(arguments...))
}

func (t *toolCode) code(name string) jen.Code { return jen.Qual(t.runtime.contract, name) }

// checkParam emits the checks of one parameter.
func (t *toolCode) checkParam(p *ir.Param) (jen.Code, error) {
	fix, err := fixFor(t.tool, p)
	if err != nil {
		return nil, err
	}
	want := wants(p)
	wrongType := t.report("Type", jen.Lit(p.Name), jen.Lit(want), jen.Id("v"), jen.Lit(fix))
	given := jen.List(jen.Id("v"), jen.Id("ok")).Op(":=").Id("args").Dot("Get").Call(jen.Lit(p.Name))

	typed := func(variable string, value jen.Code, checks []check) *jen.Statement {
		if len(checks) == 0 {
			variable = "_"
		}
		s := jen.If(jen.List(jen.Id(variable), jen.Id("ok")).Op(":=").Add(value), jen.Op("!").Id("ok")).Block(wrongType)
		return otherwise(s, checks)
	}
	value := subject{param: p, path: jen.Lit(p.Name), value: jen.Id("v"), fix: fix}
	var checked *jen.Statement
	switch p.Kind {
	case ir.Integer:
		checked = t.checkInteger(p, wrongType)
	case ir.Boolean:
		checked = typed("_", jen.Id("v").Assert(jen.Bool()), nil)
	case ir.Array:
		checks, err := t.checkArray(p, value)
		if err != nil {
			return nil, err
		}
		checked = typed("list", jen.Id("v").Assert(jen.Index().Any()), checks)
		if p.OneOrMany {
			if checked, err = t.checkOne(p, value, checked); err != nil {
				return nil, err
			}
		}
	case ir.String:
		checks, err := t.checkString(&p.Constraints, value)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t.tool.Name, p.Name, err)
		}
		checked = typed("s", jen.Id("v").Assert(jen.String()), checks)
	default:
		return nil, fmt.Errorf("%s.%s: unknown type %q", t.tool.Name, p.Name, p.Kind)
	}
	if !p.Required {
		return jen.If(given, jen.Id("ok")).Block(checked), nil
	}
	missing := jen.If(given, jen.Op("!").Id("ok")).Block(t.report("Missing", jen.Lit(p.Name), jen.Lit(want), jen.Lit(fix)))
	if p.Kind == ir.Integer {
		return missing.Else().Block(checked), nil
	}
	return missing.Else().Add(checked), nil
}

func (t *toolCode) checkInteger(p *ir.Param, wrongType jen.Code) *jen.Statement {
	number := jen.Qual(t.runtime.coerce, "Int").Call(jen.Id("v"))
	if p.Minimum == nil && p.Maximum == nil {
		return jen.If(jen.List(jen.Id("_"), jen.Id("ok")).Op(":=").Add(number), jen.Op("!").Id("ok")).Block(wrongType)
	}
	want := jen.Lit(wants(p))
	cases := []jen.Code{jen.Case(jen.Op("!").Id("ok")).Block(wrongType)}
	bound := func(op, code string, limit *int64) {
		if limit != nil {
			cases = append(cases, jen.Case(jen.Id("n").Op(op).Add(integer(*limit))).Block(
				t.report("Limit", jen.Lit(p.Name), t.code(code), want, jen.Id("v"), jen.Lit(strconv.FormatInt(*limit, 10))),
			))
		}
	}
	bound("<", "CodeMinimum", p.Minimum)
	bound(">", "CodeMaximum", p.Maximum)
	return jen.Switch(jen.List(jen.Id("n"), jen.Id("ok")).Op(":=").Add(number), jen.Empty()).Block(cases...)
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

// subject is a value under test: where it stands, the variable that holds it as
// an interface, and what to put there instead.
type subject struct {
	param       *ir.Param
	path, value jen.Code
	fix         string
}

// checkString emits the checks of a string that is in the variable s.
func (t *toolCode) checkString(c *ir.Constraints, on subject) ([]check, error) {
	limit := func(code, want string) jen.Code {
		return t.report("Limit", on.path, t.code(code), jen.Lit(want), on.value, jen.Lit(on.fix))
	}
	var checks []check
	condition := func(when, report jen.Code) {
		checks = append(checks, check{code: jen.If(when).Block(report), conditional: true})
	}
	if len(c.Enum) > 0 {
		allowed := make([]jen.Code, len(c.Enum))
		for i, value := range c.Enum {
			allowed[i] = jen.Lit(value)
		}
		checks = append(checks, check{code: jen.Switch(jen.Id("s")).Block(
			jen.Case(allowed...),
			jen.Default().Block(t.report("Enum", on.path, jen.Id("s"), words(c.Enum), jen.Lit(on.fix))),
		)})
	}
	length := jen.Qual("unicode/utf8", "RuneCountInString").Call(jen.Id("s"))
	want := counted(c.MinLength, c.MaxLength, "character") + " long"
	checks = append(checks, t.checkCount(length, c.MinLength, c.MaxLength, limit, "CodeMinLength", "CodeMaxLength", want)...)
	if c.NotBlank {
		blank := jen.Qual(t.runtime.coerce, "Blank").Call(jen.Id("s"))
		if c.MinLength != nil && *c.MinLength > 0 {
			// Empty text is too short already: once is enough.
			blank = jen.Id("s").Op("!=").Lit("").Op("&&").Add(blank)
		}
		condition(blank, limit("CodeBlank", "more than white space"))
	}
	if c.SingleLine {
		condition(
			jen.Op("!").Qual(t.runtime.coerce, "SingleLine").Call(jen.Id("s")),
			limit("CodeSingleLine", "a single line without line breaks and NUL characters"),
		)
	}
	if c.Pattern != "" {
		matches, err := t.matcher(on.param, c.Pattern)
		if err != nil {
			return nil, err
		}
		condition(
			jen.Op("!").Id(matches).Call(jen.Id("s")),
			t.report("Mismatch", on.path, jen.Lit(says(c)), on.value, jen.Lit(on.fix)),
		)
	}
	return checks, nil
}

// checkCount compares a length or a number of items with its bounds.
func (t *toolCode) checkCount(count jen.Code, low, high *int64, limit func(code, want string) jen.Code, lowCode, highCode, want string) []check {
	under := func(n jen.Code) *jen.Statement { return jen.Add(n).Op("<").Add(integer(*low)) }
	over := func(n jen.Code) *jen.Statement { return jen.Add(n).Op(">").Add(integer(*high)) }
	// No count is below a bound of zero.
	if low != nil && *low <= 0 {
		low = nil
	}
	switch {
	case low == nil && high == nil:
		return nil
	case high == nil:
		return []check{{jen.If(under(count)).Block(limit(lowCode, want)), true}}
	case low == nil:
		return []check{{jen.If(over(count)).Block(limit(highCode, want)), true}}
	default:
		n := jen.Id("n")
		return []check{{code: jen.Switch(n.Clone().Op(":=").Add(count), jen.Empty()).Block(
			jen.Case(under(n)).Block(limit(lowCode, want)),
			jen.Case(over(n)).Block(limit(highCode, want)),
		)}}
	}
}

// checkArray emits the checks of an array that is in the variable list.
func (t *toolCode) checkArray(p *ir.Param, on subject) ([]check, error) {
	limit := func(code, want string) jen.Code {
		return t.report("Limit", on.path, t.code(code), jen.Lit(want), on.value, jen.Lit(on.fix))
	}
	want := "an array of " + counted(p.MinItems, p.MaxItems, "string")
	checks := t.checkCount(jen.Len(jen.Id("list")), p.MinItems, p.MaxItems, limit, "CodeMinItems", "CodeMaxItems", want)

	path := jen.Qual(t.runtime.contract, "Item").Call(jen.Lit(p.Name), jen.Id("i"))
	constraints := p.Items
	if constraints == nil {
		constraints = &ir.Constraints{}
	}
	each, err := t.checkString(constraints, subject{param: p, path: path, value: jen.Id("item")})
	if err != nil {
		return nil, fmt.Errorf("%s.%s: %w", t.tool.Name, p.Name, err)
	}
	variable := "s"
	if len(each) == 0 {
		variable = "_"
	}
	item := jen.If(jen.List(jen.Id(variable), jen.Id("ok")).Op(":=").Id("item").Assert(jen.String()), jen.Op("!").Id("ok")).Block(
		t.report("Type", path, jen.Lit(wantsString(constraints)), jen.Id("item"), jen.Lit("")),
	)
	loop := jen.For(jen.List(jen.Id("i"), jen.Id("item")).Op(":=").Range().Id("list")).Block(t.stopAtMost(), otherwise(item, each))
	return append(checks, check{code: loop}), nil
}

// checkOne emits the checks of a string in the place of an array, before those
// of the array.
func (t *toolCode) checkOne(p *ir.Param, on subject, array *jen.Statement) (*jen.Statement, error) {
	var checks []check
	if p.Items != nil {
		var err error
		if checks, err = t.checkString(p.Items, on); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t.tool.Name, p.Name, err)
		}
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

// checkExclusive emits the check of a rule.
func (t *toolCode) checkExclusive(names []string) jen.Code {
	literals := make([]jen.Code, len(names))
	for i, name := range names {
		literals[i] = jen.Lit(name)
	}
	return jen.If(jen.Id("given").Op(":=").Id("args").Dot("Together").Call(literals...), jen.Id("given").Op("!=").Nil()).Block(
		t.report("Exclusive", jen.Id("given")),
	)
}
