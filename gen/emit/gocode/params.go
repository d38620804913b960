package gocode

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/convtools/convtools/gen/ir"
)

func paramsName(tool *ir.Tool) string { return tool.GoName + "Params" }

// paramsType is the struct a handler gets a tool's parameters in.
func (t *toolCode) paramsType() jen.Code {
	name := paramsName(t.tool)
	declaration := jen.Type().Id(name).StructFunc(func(fields *jen.Group) {
		for i := range t.tool.Params {
			p := &t.tool.Params[i]
			for _, line := range doc(fieldDoc(p)) {
				fields.Add(line)
			}
			fields.Id(p.GoName).Add(goType(p))
		}
	})
	return documented(declaration, name+" are the parameters of "+t.tool.Name+", valid and with defaults filled in.")
}

// fieldDoc is a parameter in prose: what it is, what it may be, and what it is
// when it was not given.
func fieldDoc(p *ir.Param) string {
	text := sentence(p.Summary)
	want := wants(p)
	if p.Kind == ir.Array {
		want = wantsArray(p) // in Go it is a list, whatever callers may give
	}
	if words := strings.TrimPrefix(want, "a string"); words != "" && p.Kind != ir.Boolean && (p.Kind != ir.Integer || words != "an integer") {
		text += " It is " + lowerFirst(want) + "."
	}
	switch {
	case p.Required:
	case p.Default != nil:
		text += " Default: " + shown(p.Default) + "."
	default:
		text += " It is nil where none is given."
	}
	return text
}

// shown is a default in words.
func shown(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case []string:
		if len(v) == 0 {
			return "none"
		}
		return strings.Join(v, ", ")
	default:
		return fmt.Sprint(v)
	}
}

// goType is the Go type of a parameter.
func goType(p *ir.Param) jen.Code {
	if p.Pointer() {
		return jen.Op("*").Add(scalarType(p.Kind))
	}
	return scalarType(p.Kind)
}

func scalarType(kind ir.Kind) jen.Code {
	switch kind {
	case ir.Integer:
		return jen.Int()
	case ir.Boolean:
		return jen.Bool()
	case ir.Array:
		return jen.Index().String()
	default:
		return jen.String()
	}
}

// constant is a named value of an enum.
type constant struct{ name, value string }

// enumConstants names the values of a parameter's enum, so that handlers need
// not repeat them. An enum with a value that makes no distinct name has none.
func enumConstants(tool *ir.Tool, p *ir.Param) []constant {
	var constants []constant
	names := map[string]bool{}
	for _, value := range enumOf(p) {
		name := tool.GoName + p.GoName + camel(value)
		if !isWord(value) || names[name] {
			return nil
		}
		names[name] = true
		constants = append(constants, constant{name, value})
	}
	return constants
}

// isWord reports whether s is letters and digits with single separators between them.
func isWord(s string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9]+([-_. ][A-Za-z0-9]+)*$`).MatchString(s)
}

// maximumName is the constant for the maximum of an integer, which handlers need
// to say how much more can be asked for.
func maximumName(tool *ir.Tool, p *ir.Param) string { return tool.GoName + p.GoName + "Maximum" }

// enumOf is the values a parameter, or the items of one, may have.
func enumOf(p *ir.Param) []string {
	if p.Kind == ir.Array && p.Items != nil {
		return p.Items.Enum
	}
	return p.Enum
}

// constants declares the values of every enum and the maximum of every integer.
func (t *toolCode) constants() []jen.Code {
	var blocks []jen.Code
	for i := range t.tool.Params {
		p := &t.tool.Params[i]
		field := "[" + paramsName(t.tool) + "." + p.GoName + "]"
		if p.Maximum != nil {
			name := maximumName(t.tool, p)
			blocks = append(blocks, documented(jen.Const().Id(name).Op("=").Add(integer(*p.Maximum)), name+" is the greatest value of "+field+"."))
		}
		constants := enumConstants(t.tool, p)
		if len(constants) == 0 {
			continue
		}
		block := jen.Const().DefsFunc(func(g *jen.Group) {
			for _, c := range constants {
				g.Id(c.name).Op("=").Lit(c.value)
			}
		})
		blocks = append(blocks, documented(block, "The values of "+field+"."))
	}
	return blocks
}

// coercer emits the function that makes the declared repairs.
func (t *toolCode) coercer() (jen.Code, error) {
	name := "Coerce" + t.tool.GoName
	body := []jen.Code{jen.Id("args").Dot("DropNulls").Call()}
	for i := range t.tool.Params {
		p := &t.tool.Params[i]
		if p.OneOrMany {
			body = append(body, jen.Id("args").Dot("OneOrMany").Call(jen.Lit(p.Name)))
		}
		for _, repair := range p.Repairs {
			if p.OneOrMany && repair == ir.RepairFromInteger {
				body = append(body, jen.Id("args").Dot("StringFromInteger").Call(jen.Lit(p.Name)))
			}
			call, err := repairCall(p, repair)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", t.tool.Name, p.Name, err)
			}
			body = append(body, jen.Id("args").Add(call))
		}
	}
	declaration := jen.Func().Id(name).Params(jen.Id("args").Op("*").Qual(t.runtime.coerce, "Args")).Block(body...)
	return documented(declaration, name+" makes the repairs that "+t.tool.Name+" declares, and notes each of them."), nil
}

func repairCall(p *ir.Param, repair ir.Repair) (jen.Code, error) {
	name := jen.Lit(p.Name)
	switch {
	case repair == ir.RepairFromString && p.Kind == ir.Integer:
		return jen.Dot("IntegerFromString").Call(name), nil
	case repair == ir.RepairFromString && p.Kind == ir.Boolean:
		return jen.Dot("BooleanFromString").Call(name), nil
	case repair == ir.RepairFromString && p.Kind == ir.Array:
		return jen.Dot("ArrayFromString").Call(name), nil
	case repair == ir.RepairFromInteger && p.Kind == ir.String:
		return jen.Dot("StringFromInteger").Call(name), nil
	case repair == ir.RepairFromInteger && p.Kind == ir.Array:
		return jen.Dot("ItemsFromIntegers").Call(name), nil
	case repair == ir.RepairFromScalar && p.Kind == ir.Array:
		return jen.Dot("ArrayFromScalar").Call(name), nil
	case repair == ir.RepairClamp && p.Kind == ir.Integer && p.Maximum != nil:
		return jen.Dot("ClampMaximum").Call(name, integer(*p.Maximum)), nil
	case repair == ir.RepairSpelling && len(enumOf(p)) > 0:
		return jen.Dot("Spelling").CallFunc(func(g *jen.Group) {
			g.Add(name)
			for _, value := range enumOf(p) {
				g.Lit(value)
			}
		}), nil
	default:
		return nil, fmt.Errorf("the repair %q does not fit a parameter of type %s", repair, p.Kind)
	}
}

// integer is an untyped integer literal.
func integer(n int64) jen.Code { return jen.Lit(int(n)) }

// words is a literal slice of strings.
func words(list []string) jen.Code {
	return jen.Index().String().ValuesFunc(func(g *jen.Group) {
		for _, s := range list {
			g.Lit(s)
		}
	})
}

// binder emits the function that turns valid arguments into parameters.
func (t *toolCode) binder() (jen.Code, error) {
	name := "bind" + t.tool.GoName
	params := paramsName(t.tool)
	defaults := []jen.Code{}
	var cases []jen.Code
	for i := range t.tool.Params {
		p := &t.tool.Params[i]
		if p.Default != nil {
			value, err := literal(p.Default)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", t.tool.Name, p.Name, err)
			}
			defaults = append(defaults, jen.Line().Id(p.GoName).Op(":").Add(value))
		}
		cases = append(cases, jen.Case(jen.Lit(p.Name)).Block(t.bind(p)))
	}
	if len(defaults) > 0 {
		defaults = append(defaults, jen.Line())
	}
	body := []jen.Code{jen.Id("p").Op(":=").Id(params).Values(defaults...)}
	if len(cases) == 0 {
		body = []jen.Code{jen.Return(jen.Id(params).Values())}
	}
	if len(cases) > 0 {
		body = append(body,
			jen.For(jen.Id("_").Op(",").Id("f").Op(":=").Range().Id("args")).Block(
				jen.Switch(jen.Id("f").Dot("Name")).Block(cases...),
			),
			jen.Return(jen.Id("p")),
		)
	}
	declaration := jen.Func().Id(name).Params(jen.Id("args").Qual(t.runtime.coerce, "Object")).Id(params).Block(body...)
	return documented(declaration, name+" reads arguments that ["+"Validate"+t.tool.GoName+"] has no problem with, and fills in defaults."), nil
}

func (t *toolCode) bind(p *ir.Param) jen.Code {
	field := jen.Id("p").Dot(p.GoName)
	read := func(variable string, value, converted jen.Code) jen.Code {
		block := []jen.Code{field.Clone().Op("=").Add(converted)}
		if p.Pointer() {
			block = []jen.Code{field.Clone().Op("=").Op("&").Id(variable)}
			if p.Kind == ir.Integer {
				block = []jen.Code{jen.Id("v").Op(":=").Int().Call(jen.Id(variable)), field.Clone().Op("=").Op("&").Id("v")}
			}
		}
		return jen.If(jen.Id(variable).Op(",").Id("ok").Op(":=").Add(value), jen.Id("ok")).Block(block...)
	}
	value := jen.Id("f").Dot("Value")
	switch p.Kind {
	case ir.Integer:
		return read("n", jen.Qual(t.runtime.coerce, "Int").Call(value), jen.Int().Call(jen.Id("n")))
	case ir.Boolean:
		return read("b", value.Clone().Assert(jen.Bool()), jen.Id("b"))
	case ir.Array:
		strings := "Strings"
		if p.OneOrMany {
			strings = "OneOrMany"
		}
		return read("list", jen.Qual(t.runtime.coerce, strings).Call(value), jen.Id("list"))
	default:
		return read("s", value.Clone().Assert(jen.String()), jen.Id("s"))
	}
}

// literal is a default value.
func literal(v any) (jen.Code, error) {
	switch v := v.(type) {
	case bool:
		return jen.Lit(v), nil
	case int64:
		return integer(v), nil
	case string:
		return jen.Lit(v), nil
	case []string:
		return words(v), nil
	default:
		return nil, fmt.Errorf("a default cannot be a %T", v)
	}
}
