package gocode

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// validator emits the function that finds every problem of a call's arguments.
// It allocates only where it finds one: a value is handed to a problem as the
// interface it came in, and lists of names are made on the spot.
func (t *toolCode) validator() (code, error) {
	name := "Validate" + t.tool.GoName
	body := code{"var problems []" + pkgContract + "Problem"}
	checks, err := t.checkMembers(arguments(t.tool), t.tool.Params)
	if err != nil {
		return nil, err
	}
	body = append(body, checks...)
	body = append(body, t.checkNames()...)
	for _, rule := range t.tool.Rules {
		checked, err := t.checkRule(rule)
		if err != nil {
			return nil, err
		}
		body = append(body, checked...)
	}
	body = append(body, "return problems")
	return documented(block("func "+name+"(args "+pkgCoerce+"Object) []"+pkgContract+"Problem", body...),
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
func (s scope) path(name string) string {
	if s.top {
		return strconv.Quote(name)
	}
	return "at.Member(" + strconv.Quote(name) + ")"
}

// at is where a member stands, to be passed on.
func (s scope) at(name string) string {
	above := ""
	if !s.top {
		above = "Above: at, "
	}
	return "&" + pkgContract + "Path{" + above + "Name: " + strconv.Quote(name) + "}"
}

func (t *toolCode) checkMembers(in scope, members []ir.Param) (code, error) {
	var checks code
	for i := range members {
		checked, err := t.checkParam(in, &members[i])
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t.tool.Name, members[i].Name, err)
		}
		checks = append(checks, checked...)
	}
	return checks, nil
}

// report appends a problem.
func report(constructor string, arguments ...string) string {
	return "problems = append(problems, " + pkgContract + constructor + "(" + strings.Join(arguments, ", ") + "))"
}

// codeName is the constant of package contract for a code.
func codeName(code ir.ErrorCode) string {
	switch code {
	case ir.ErrorMinimum:
		return "CodeMinimum"
	case ir.ErrorMaximum:
		return "CodeMaximum"
	case ir.ErrorMinLength:
		return "CodeMinLength"
	case ir.ErrorMaxLength:
		return "CodeMaxLength"
	case ir.ErrorMinItems:
		return "CodeMinItems"
	case ir.ErrorMaxItems:
		return "CodeMaxItems"
	case ir.ErrorBlank:
		return "CodeBlank"
	case ir.ErrorSingleLine:
		return "CodeSingleLine"
	}
	return ""
}

// checkParam emits the checks of one parameter, or of one member of an object.
func (t *toolCode) checkParam(in scope, p *ir.Param) (code, error) {
	fix := ""
	if in.top {
		var err error
		if fix, err = fixFor(t.tool, p); err != nil {
			return nil, err
		}
	}
	on := subject{
		path: in.path(p.Name), at: in.at(p.Name), value: "v", fix: strconv.Quote(fix),
		name: in.owner + p.GoName,
	}
	given := "if v, ok := " + in.variable + ".Get(" + strconv.Quote(p.Name) + "); "
	checked, err := t.checkValue(p, on)
	switch {
	case err != nil:
		return nil, err
	case p.Nullable && !p.Required:
		return block(given+"ok && v != nil", checked.code...), nil
	case p.Nullable:
		checked = unlessNull(checked, on)
	case !p.Required:
		return block(given+"ok", checked.code...), nil
	}
	missing := block(given+"!ok", report("Missing", on.path, strconv.Quote(wants(p)), on.fix))
	return missing.otherwise(checked.code, checked.conditional), nil
}

// unlessNull emits checks of a value that may be null.
func unlessNull(checked check, on subject) check {
	return check{code: block("if "+on.value+" != nil", checked.code...), conditional: true}
}

// checkValue emits the checks of a value that is not null: of its type, and then of
// what narrows it and of what it holds.
func (t *toolCode) checkValue(p *ir.Param, on subject) (check, error) {
	wrongType := report("Type", on.path, strconv.Quote(wants(p)), on.value, on.fix)
	typed := func(variable, typ string, checks []check) code {
		if len(checks) == 0 {
			variable = "_"
		}
		return otherwise(block("if "+variable+", ok := "+on.value+".("+typ+"); !ok", wrongType), checks)
	}
	var checked code
	conditional := true
	switch p.Kind {
	case ir.Integer, ir.Number:
		checked = checkNumber(p, on, wrongType)
		conditional = p.Minimum == nil && p.Maximum == nil
	case ir.Boolean:
		checked = typed("_", "bool", nil)
	case ir.Array:
		checks, err := t.checkArray(p, on)
		if err != nil {
			return check{}, err
		}
		checked = typed("list", "[]any", checks)
		if p.OneOrMany {
			if checked, err = t.checkOne(p, on, checked); err != nil {
				return check{}, err
			}
		}
	case ir.Object:
		checked = typed("o", pkgCoerce+"Object", []check{{
			code: code{"problems = " + checkFunc(p.TypeName) + "(problems, " + on.at + ", o)"},
		}})
	case ir.String:
		checks, err := t.checkString(&p.Constraints, on)
		if err != nil {
			return check{}, err
		}
		checked = typed("s", "string", checks)
	default:
		return check{}, fmt.Errorf("unknown type %q", p.Kind)
	}
	return check{code: checked, conditional: conditional}, nil
}

func checkNumber(p *ir.Param, on subject, wrongType string) code {
	number := pkgCoerce + "Float(" + on.value + ")"
	if p.Kind == ir.Integer {
		number = pkgCoerce + "Int(" + on.value + ")"
	}
	var cases code
	for _, row := range ir.ConstraintTable() {
		limit := row.Bound(&p.Constraints)
		if limit == nil || row.Unit != "" {
			continue
		}
		bound := float(*limit)
		if p.Kind == ir.Integer {
			bound = strconv.FormatInt(int64(*limit), 10)
		}
		cases = append(cases, inCase("n "+beyond(row)+" "+bound, report(
			"Limit", on.path, pkgContract+codeName(row.Code), strconv.Quote(wants(p)), on.value, strconv.Quote(lower.Number(*limit)),
		))...)
	}
	if len(cases) == 0 {
		return block("if _, ok := "+number+"; !ok", wrongType)
	}
	return block("switch n, ok := "+number+";", append(inCase("!ok", wrongType), cases...)...)
}

// beyond is the operator that holds between a number and a bound it breaks.
func beyond(row ir.Constraint) string {
	if row.Form == ir.Least {
		return "<"
	}
	return ">"
}

// check is a statement that looks for problems of one value.
type check struct {
	code        code
	conditional bool // an if statement without an else
}

// otherwise puts checks into the else of an if statement that found a value to
// have its type.
func otherwise(c code, checks []check) code {
	if len(checks) == 0 {
		return c
	}
	return c.otherwise(statements(checks), len(checks) == 1 && checks[0].conditional)
}

func statements(checks []check) code {
	var all code
	for i := range checks {
		all = append(all, checks[i].code...)
	}
	return all
}

// subject is a value under test: where it stands, as text and to be passed on, the
// variable that holds it as an interface, and what to put there instead.
type subject struct {
	path, at, value string
	fix             string // a literal
	name            string // ends the Go names that are made for it
	depth           int    // arrays around it
}

// limit reports that a value is beyond a limit.
func (on *subject) limit(code, want string) string {
	return report("Limit", on.path, pkgContract+code, strconv.Quote(want), on.value, on.fix)
}

// checkString emits the checks of a string that is in the variable s.
func (t *toolCode) checkString(c *ir.Constraints, on subject) ([]check, error) {
	var checks []check
	condition := func(when, report string) {
		checks = append(checks, check{code: block("if "+when, report), conditional: true})
	}
	mismatch := func() string {
		return report("Mismatch", on.path, strconv.Quote(says(c)), on.value, on.fix)
	}
	table := ir.ConstraintTable()
	for i, row := range table {
		value := row.Of(c)
		switch {
		case row.Form == ir.Least && row.Unit == "character":
			want := counted(row.Bound(c), table[i+1].Bound(c), row.Unit) + " long"
			checks = append(checks, checkCount(pkgUTF8+"RuneCountInString(s)", row, table[i+1], c, on, want)...)
		case value == nil:
		case row.Key == "enum":
			unknown := inDefault(report("Enum", on.path, "s", words(c.Enum), on.fix))
			checks = append(checks, check{code: block("switch s", append(inCase(quoted(c.Enum)), unknown...)...)})
		case row.Form == ir.Flag:
			judged := pkgCoerce + row.Func + "(s)"
			if !row.Negated {
				judged = "!" + judged
			}
			if row.Code == ir.ErrorBlank && c.MinLength != nil && *c.MinLength > 0 {
				// Empty text is too short already: once is enough.
				judged = `s != "" && ` + judged
			}
			condition(judged, on.limit(codeName(row.Code), row.Demands))
		case row.Key == "pattern":
			matches, err := t.matcher(on.name, c.Pattern)
			if err != nil {
				return nil, err
			}
			condition("!"+matches+"(s)", mismatch())
		case row.Key == "format":
			format, ok := ir.FormatNamed(c.Format)
			if !ok {
				return nil, fmt.Errorf("unknown format %q", c.Format)
			}
			condition("!"+pkgFormats+format.Func+"(s)", mismatch())
		}
	}
	return checks, nil
}

// checkCount compares a length or a number of items with its bounds, which the rows
// low and high are of.
func checkCount(count string, low, high ir.Constraint, c *ir.Constraints, on subject, want string) []check {
	var cases, single code
	n := 0
	for _, row := range []ir.Constraint{low, high} {
		bound := row.Bound(c)
		if bound == nil || row.Form == ir.Least && *bound <= 0 { // no count is below zero
			continue
		}
		n++
		broken := " " + beyond(row) + " " + strconv.FormatInt(int64(*bound), 10)
		report := on.limit(codeName(row.Code), want)
		single = block("if "+count+broken, report)
		cases = append(cases, inCase("n"+broken, report)...)
	}
	switch n {
	case 0:
		return nil
	case 1:
		return []check{{single, true}}
	}
	return []check{{code: block("switch n := "+count+";", cases...)}}
}

// indexes are the variables of loops over arrays within arrays.
var indexes = []string{"i", "j", "k", "l", "m"}

// checkArray emits the checks of an array that is in the variable list.
func (t *toolCode) checkArray(p *ir.Param, on subject) ([]check, error) {
	var checks []check
	table := ir.ConstraintTable()
	for i, row := range table {
		if row.Form == ir.Least && row.Unit == "item" {
			want := "an array of " + items(p, string(p.Item().Kind))
			checks = checkCount("len(list)", row, table[i+1], &p.Constraints, on, want)
		}
	}
	if on.depth >= len(indexes) {
		return nil, fmt.Errorf("more than %d arrays within one another", len(indexes))
	}
	index := indexes[on.depth]
	item := subject{
		path:  pkgContract + "Item(" + on.path + ", " + index + ")",
		at:    "&" + pkgContract + "Path{Above: " + on.at + ", Index: " + index + "}",
		value: "item", fix: `""`, name: on.name, depth: on.depth + 1,
	}
	checked, err := t.checkValue(p.Item(), item)
	if err != nil {
		return nil, err
	}
	if p.Item().Nullable {
		checked = unlessNull(checked, item)
	}
	loop := block("for "+index+", item := range list", append(stopAtMost(), checked.code...)...)
	return append(checks, check{code: loop}), nil
}

// checkOne emits the checks of a string in the place of an array, before those
// of the array.
func (t *toolCode) checkOne(p *ir.Param, on subject, array code) (code, error) {
	checks, err := t.checkString(&p.Item().Constraints, on)
	if err != nil {
		return nil, err
	}
	if len(checks) == 0 {
		return block("if _, ok := v.(string); !ok", array...), nil
	}
	return block("if s, ok := v.(string); ok", statements(checks)...).otherwise(array, true), nil
}

// stopAtMost ends a loop over a caller's own list once enough problems are
// known: what is valid is never cut short by it.
func stopAtMost() code {
	return block("if len(problems) >= "+pkgContract+"MaxProblems", "break")
}

// checkNames emits the loop that finds names the tool does not have.
func (t *toolCode) checkNames() code {
	if len(t.tool.Params) == 0 {
		return block("for _, f := range args", append(stopAtMost(), report("Unknown", "f.Name", "nil"))...)
	}
	return checkNamesOf("args", names(t.tool.Params), report("Unknown", "f.Name", t.namesFunc()+"()"))
}

// checkNamesOf emits a loop over an object that reports what has no name of a list.
func checkNamesOf(object string, known []string, unknown string) code {
	cases := append(inCase(quoted(known)), inDefault(unknown)...)
	return block("for _, f := range "+object, append(stopAtMost(), block("switch f.Name", cases...)...)...)
}

func names(params []ir.Param) []string {
	list := make([]string, len(params))
	for i := range params {
		list[i] = params[i].Name
	}
	return list
}

// checkRule emits the checks of a rule. What is missing is reported at the first
// parameter that would do.
func (t *toolCode) checkRule(r ir.Rule) (code, error) {
	var checks code
	if names := slices.Concat(r.Exclusive, r.ExactlyOne); len(names) > 1 {
		checks = append(checks, block("if given := args.Together("+quoted(names)+"); given != nil", report("Exclusive", "given"))...)
	}
	if names := slices.Concat(r.AtLeastOne, r.ExactlyOne); len(names) > 1 {
		fix, err := fixInExample(t.tool, names[0])
		if err != nil {
			return nil, err
		}
		checks = append(checks, block("if !args.Any("+quoted(names)+")", report("NoneOf", words(names), strconv.Quote(fix)))...)
	}
	for _, name := range r.Requires {
		fix, err := fixInExample(t.tool, name)
		if err != nil {
			return nil, err
		}
		given, required := strconv.Quote(r.Given), strconv.Quote(name)
		checks = append(checks, block("if args.Any("+given+") && !args.Any("+required+")",
			report("Requires", given, required, strconv.Quote(fix)))...)
	}
	return checks, nil
}
