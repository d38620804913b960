package gocode

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/convtools/convtools/gen/ir"
)

func paramsName(tool *ir.Tool) string { return tool.GoName + "Params" }

// paramsType is the struct a handler gets a tool's parameters in.
func (t *toolCode) paramsType() jen.Code {
	name := paramsName(t.tool)
	return documented(t.fields(name, t.tool.Params), name+" are the parameters of "+t.tool.Name+", valid and with defaults filled in.")
}

// fields is a struct of parameters or members.
func (t *toolCode) fields(name string, params []ir.Param) jen.Code {
	return jen.Type().Id(name).StructFunc(func(fields *jen.Group) {
		for i := range params {
			p := &params[i]
			for _, line := range doc(fieldDoc(p)) {
				fields.Add(line)
			}
			fields.Id(p.GoName).Add(goType(p))
		}
	})
}

// fieldDoc is a parameter in prose: what it is, what it may be, and what it is
// when it was not given.
func fieldDoc(p *ir.Param) string {
	text := sentence(p.Summary)
	bare := *p // in Go null is nil, and one or many is a list
	bare.Nullable, bare.OneOrMany = false, false
	want := wants(&bare)
	switch want {
	case "a string", "an integer", "a number", "true or false", "an object":
	default:
		text += " It is " + lowerFirst(want) + "."
	}
	if p.Default != nil {
		text += " Default: " + shown(p.Default) + "."
	}
	switch {
	case p.Nullable && (p.Required || p.Default != nil):
		text += " It is nil where null is given."
	case p.Nullable:
		text += " It is nil where null, or none, is given."
	case !p.Required && p.Default == nil:
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
	case []any:
		list := make([]string, len(v))
		for i := range v {
			list[i] = fmt.Sprint(v[i])
		}
		return shown(list)
	default:
		return fmt.Sprint(v)
	}
}

// goType is the Go type of a value.
func goType(p *ir.Param) jen.Code {
	if p.Pointer() {
		return jen.Op("*").Add(bareType(p))
	}
	return bareType(p)
}

// bareType is the same for a value that is there.
func bareType(p *ir.Param) jen.Code {
	switch p.Kind {
	case ir.Integer:
		return jen.Int()
	case ir.Number:
		return jen.Float64()
	case ir.Boolean:
		return jen.Bool()
	case ir.Object:
		return jen.Id(p.TypeName)
	case ir.Array:
		return jen.Index().Add(itemType(p.Item()))
	default:
		return jen.String()
	}
}

// itemType is the Go type of an item of an array, of which there is none that is
// absent: it is a pointer where it may be null.
func itemType(p *ir.Param) jen.Code {
	if p.Nullable && p.Kind != ir.Array {
		return jen.Op("*").Add(bareType(p))
	}
	return bareType(p)
}

// constant is a named value of an enum.
type constant struct{ name, value string }

// enumConstants names the values of an enum, so that handlers need not repeat them. An enum with a value that makes no distinct name has none.
func enumConstants(owner string, p *ir.Param) []constant {
	var constants []constant
	names := map[string]bool{}
	for _, value := range enumOf(p) {
		name := owner + p.GoName + camel(value)
		if !ir.Wordy(value) || names[name] {
			return nil
		}
		names[name] = true
		constants = append(constants, constant{name, value})
	}
	return constants
}

// enumOf is the values a parameter, or the items of one, may have.
func enumOf(p *ir.Param) []string {
	if p.Kind == ir.Array && p.Items != nil {
		return p.Items.Enum
	}
	return p.Enum
}

// constants declares the values of every enum and the maximum of every integer in a
// struct: handlers need the latter to say how much more can be asked for.
func (t *toolCode) constants(structName, owner string, params []ir.Param) []jen.Code {
	var blocks []jen.Code
	for i := range params {
		p := &params[i]
		field := "[" + structName + "." + p.GoName + "]"
		if p.Kind == ir.Integer && p.Maximum != nil {
			name := owner + p.GoName + "Maximum"
			blocks = append(blocks, documented(jen.Const().Id(name).Op("=").Add(integer(int64(*p.Maximum))), name+" is the greatest value of "+field+"."))
		}
		constants := enumConstants(owner, p)
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
	body, err := t.repairs(t.tool.Params)
	if err != nil {
		return nil, err
	}
	declaration := jen.Func().Id(name).Params(jen.Id("args").Op("*").Qual(t.runtime.coerce, "Args")).Block(body...)
	return documented(declaration, name+" makes the repairs that "+t.tool.Name+" declares, and notes each of them."), nil
}

// repairs emits the repairs of parameters or members, and of what is inside of them.
func (t *toolCode) repairs(params []ir.Param) ([]jen.Code, error) {
	var nullable []string
	for i := range params {
		if params[i].Nullable {
			nullable = append(nullable, params[i].Name)
		}
	}
	body := []jen.Code{jen.Id("args").Dot("DropNulls").Call(literals(nullable)...)}
	for i := range params {
		p := &params[i]
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
		inner := p
		for inner.Kind == ir.Array {
			inner = inner.Item()
		}
		if inner.Kind == ir.Object {
			body = append(body, jen.Id("args").Dot("Within").Call(jen.Lit(p.Name), jen.Id(repairFunc(inner.TypeName))))
		}
	}
	return body, nil
}

func repairCall(p *ir.Param, repair ir.Repair) (jen.Code, error) {
	name := jen.Lit(p.Name)
	switch {
	case repair == ir.RepairFromString && p.Kind == ir.Integer:
		return jen.Dot("IntegerFromString").Call(name), nil
	case repair == ir.RepairFromString && p.Kind == ir.Number:
		return jen.Dot("NumberFromString").Call(name), nil
	case repair == ir.RepairFromString && p.Kind == ir.Object:
		return jen.Dot("ObjectFromString").Call(name), nil
	case repair == ir.RepairFromString && p.Kind == ir.Boolean:
		return jen.Dot("BooleanFromString").Call(name), nil
	case repair == ir.RepairFromString && p.Kind == ir.Array:
		return jen.Dot("ArrayFromString").Call(name), nil
	case repair == ir.RepairFromInteger && p.Kind == ir.String:
		return jen.Dot("StringFromInteger").Call(name), nil
	case repair == ir.RepairFromInteger && p.Kind == ir.Array:
		return jen.Dot("ItemsFromIntegers").Call(name), nil
	case repair == ir.RepairFromScalar && p.Kind == ir.Array && p.Item().Kind != ir.String:
		return jen.Dot("ArrayFromItem").Call(name), nil
	case repair == ir.RepairFromScalar && p.Kind == ir.Array:
		return jen.Dot("ArrayFromScalar").Call(name), nil
	case repair == ir.RepairClamp && p.Clamp != nil:
		return jen.Dot("Clamp").Call(name, integer(p.Clamp[0]), integer(p.Clamp[1])), nil
	case repair == ir.RepairClamp && p.Kind == ir.Integer && p.Maximum != nil:
		return jen.Dot("ClampMaximum").Call(name, integer(int64(*p.Maximum))), nil
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
	body, err := t.binding("args", params, t.tool.Params)
	if err != nil {
		return nil, err
	}
	if len(t.tool.Params) == 0 {
		body = []jen.Code{jen.Return(jen.Id(params).Values())}
	} else {
		body = append(body, jen.Return(jen.Id("p")))
	}
	declaration := jen.Func().Id(name).Params(jen.Id("args").Qual(t.runtime.coerce, "Object")).Id(params).Block(body...)
	return documented(declaration, name+" reads arguments that ["+"Validate"+t.tool.GoName+"] has no problem with, and fills in defaults."), nil
}

// binding fills the variable p, a struct of parameters or members, from an object.
func (t *toolCode) binding(object, structName string, params []ir.Param) ([]jen.Code, error) {
	var defaults, cases []jen.Code
	for i := range params {
		p := &params[i]
		if p.Default != nil {
			value, err := literal(p.Default, p)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", t.tool.Name, p.Name, err)
			}
			if p.Pointer() { // null wins over the default
				value = jen.New(value)
			}
			defaults = append(defaults, jen.Line().Id(p.GoName).Op(":").Add(value))
		}
		cases = append(cases, jen.Case(jen.Lit(p.Name)).Block(t.bind(p)))
	}
	if len(defaults) > 0 {
		defaults = append(defaults, jen.Line())
	}
	body := []jen.Code{jen.Id("p").Op(":=").Id(structName).Values(defaults...)}
	if len(cases) > 0 {
		body = append(body, jen.For(jen.Id("_").Op(",").Id("f").Op(":=").Range().Id(object)).Block(
			jen.Switch(jen.Id("f").Dot("Name")).Block(cases...),
		))
	}
	return body, nil
}

func (t *toolCode) bind(p *ir.Param) jen.Code {
	field := jen.Id("p").Dot(p.GoName)
	value := jen.Id("f").Dot("Value")
	if p.Nullable {
		return field.Op("=").Add(t.maybe(p, value))
	}
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
	switch {
	case p.Kind == ir.Integer:
		return read("n", jen.Qual(t.runtime.coerce, "Int").Call(value), jen.Int().Call(jen.Id("n")))
	case p.Kind == ir.Number:
		return read("n", jen.Qual(t.runtime.coerce, "Float").Call(value), jen.Id("n"))
	case p.Kind == ir.Boolean:
		return read("b", value.Clone().Assert(jen.Bool()), jen.Id("b"))
	case p.Kind == ir.Object:
		return read("o", jen.Id(readFunc(p.TypeName)).Call(value), jen.Id("o"))
	case p.Texts():
		strings := "Strings"
		if p.OneOrMany {
			strings = "OneOrMany"
		}
		return read("list", jen.Qual(t.runtime.coerce, strings).Call(value), jen.Id("list"))
	case p.Kind == ir.Array:
		return read("list", jen.Qual(t.runtime.coerce, "List").Call(value, t.reader(p.Item())), jen.Id("list"))
	default:
		return read("s", value.Clone().Assert(jen.String()), jen.Id("s"))
	}
}

// maybe reads a value that may be null.
func (t *toolCode) maybe(p *ir.Param, value jen.Code) jen.Code {
	if p.Kind == ir.Array {
		return jen.Qual(t.runtime.coerce, "ListOrNull").Call(value, t.reader(p.Item()))
	}
	bare := *p
	bare.Nullable = false
	return jen.Qual(t.runtime.coerce, "OrNull").Call(value, t.reader(&bare))
}

// reader is a function from a decoded value to its Go type, and whether it has it.
func (t *toolCode) reader(p *ir.Param) jen.Code {
	signature := func(typ jen.Code, body ...jen.Code) jen.Code {
		return jen.Func().Params(jen.Id("v").Any()).Params(typ, jen.Bool()).Block(body...)
	}
	switch {
	case p.Nullable:
		return signature(itemType(p), jen.Return(t.maybe(p, jen.Id("v")), jen.True()))
	case p.Kind == ir.Integer:
		return jen.Qual(t.runtime.coerce, "Whole")
	case p.Kind == ir.Number:
		return jen.Qual(t.runtime.coerce, "Float")
	case p.Kind == ir.Boolean:
		return jen.Qual(t.runtime.coerce, "Boolean")
	case p.Kind == ir.Object:
		return jen.Id(readFunc(p.TypeName))
	case p.Kind == ir.Array:
		return signature(bareType(p), jen.Return(jen.Qual(t.runtime.coerce, "List").Call(jen.Id("v"), t.reader(p.Item()))))
	default:
		return jen.Qual(t.runtime.coerce, "Text")
	}
}

// literal is the default of p.
func literal(v any, p *ir.Param) (jen.Code, error) {
	switch v := v.(type) {
	case bool, string, float64:
		return jen.Lit(v), nil
	case int64:
		return integer(v), nil
	case []string:
		return words(v), nil
	case []any:
		values := make([]jen.Code, len(v))
		for i := range v {
			value, err := literal(v[i], p.Item())
			if err != nil {
				return nil, err
			}
			values[i] = value
		}
		return bareType(p).(*jen.Statement).Values(values...), nil
	default:
		return nil, fmt.Errorf("a default cannot be a %T", v)
	}
}
