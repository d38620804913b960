package gocode

import (
	"github.com/dave/jennifer/jen"

	"github.com/convtools/convtools/gen/ir"
)

// resultName is the type of what a tool answers in JSON.
func resultName(tool *ir.Tool) string { return tool.GoName + "Result" }

// result emits the types of a tool's answer in JSON, what writes them, and the codes
// of its failures.
func (t *toolCode) result() []jen.Code {
	var code []jen.Code
	if codes := t.tool.Result.Codes; len(codes) > 0 {
		code = append(code, documented(jen.Const().DefsFunc(func(g *jen.Group) {
			for _, c := range codes {
				g.Id(t.tool.GoName + "Code" + camel(c)).Op("=").Lit(c)
			}
		}), "The codes of failures of "+t.tool.Name+", for a [contract.Failure]."))
	}
	name := resultName(t.tool)
	root := object{name: name, about: "what " + t.tool.Name + " answers", members: t.tool.Result.Fields}
	for _, o := range append([]object{root}, objectsIn(t.tool.Result.Fields, func(path string) string { return path + " in the answer of " + t.tool.Name })...) {
		code = append(code, t.resultType(o), t.appendFields(o))
	}
	return code
}

func (t *toolCode) resultType(o object) jen.Code {
	about := sentence(o.name + " is " + o.about)
	if o.param != nil {
		return documented(variantFields(o), about+" One of its fields is set.")
	}
	return documented(jen.Type().Id(o.name).StructFunc(func(fields *jen.Group) {
		for i := range o.members {
			p := &o.members[i]
			comment(fields, sentence(p.Summary)+presenceDoc(p))
			fields.Id(p.GoName).Add(goType(p))
		}
	}), about)
}

// presenceDoc is what becomes of a field that is nil.
func presenceDoc(p *ir.Param) string {
	switch {
	case p.Nullable:
		return " Written as null when it is nil."
	case !p.Required:
		return " Left out when it is nil."
	}
	return ""
}

// appendFields emits the method that writes the members of an object.
func (t *toolCode) appendFields(o object) jen.Code {
	self := jen.Id("r")
	var body []jen.Code
	if o.param != nil {
		cases := make([]jen.Code, len(o.param.Variants))
		for i := range o.param.Variants {
			v := &o.param.Variants[i]
			cases[i] = jen.Case(self.Clone().Dot(v.GoName).Op("!=").Nil()).Block(
				write("Name", jen.Lit(o.key)),
				write("Text", jen.Lit(v.Value)),
				self.Clone().Dot(v.GoName).Dot("AppendFields").Call(jen.Id("w")),
			)
		}
		body = []jen.Code{jen.Switch().Block(cases...)}
	}
	for i := range o.members {
		p := &o.members[i]
		field := self.Clone().Dot(p.GoName)
		named := append([]jen.Code{write("Name", jen.Lit(p.Name))}, writeJSON(p, field)...)
		if p.Required {
			body = append(body, named...)
			continue
		}
		there := append([]jen.Code{write("Name", jen.Lit(p.Name))}, writeThere(p, field)...)
		body = append(body, jen.If(field.Clone().Op("!=").Nil()).Block(there...))
	}
	receiver := jen.Id("r")
	if len(body) == 0 {
		receiver = jen.Empty()
	}
	parameter := "w"
	if len(body) == 0 {
		parameter = "_"
	}
	declaration := jen.Func().Params(receiver.Op("*").Id(o.name)).Id("AppendFields").Params(
		jen.Id(parameter).Op("*").Qual(t.runtime.envelope, "JSON"),
	).Block(body...)
	return documented(declaration, "AppendFields writes the fields in their fixed order.")
}

// writeJSON emits what writes a value, which may be null.
func writeJSON(p *ir.Param, value *jen.Statement) []jen.Code {
	if !p.Nullable {
		return writeThere(p, value)
	}
	return []jen.Code{jen.If(value.Clone().Op("==").Nil()).Block(write("Null")).Else().Block(writeThere(p, value)...)}
}

// writeThere emits what writes a value that is there.
func writeThere(p *ir.Param, value *jen.Statement) []jen.Code {
	plain := value.Clone()
	if p.Pointer() {
		plain = jen.Op("*").Add(value)
	}
	switch p.Kind {
	case ir.Integer:
		return []jen.Code{write("Integer", plain)}
	case ir.Number:
		return []jen.Code{write("Number", plain)}
	case ir.Boolean:
		return []jen.Code{write("Boolean", plain)}
	case ir.Array:
		item := p.Item()
		element := jen.Id("item")
		loop := jen.For(jen.List(jen.Id("_"), jen.Id("item")).Op(":=").Range().Add(value))
		if item.Kind == ir.Object && !item.Nullable {
			loop = jen.For(jen.Id("i").Op(":=").Range().Add(value))
			element = value.Clone().Index(jen.Id("i"))
		}
		one := *item
		one.Required = !item.Nullable // an item is always there
		return []jen.Code{write("Array"), loop.Block(writeJSON(&one, element)...), write("EndArray")}
	case ir.Object:
		return []jen.Code{write("Object"), value.Clone().Dot("AppendFields").Call(jen.Id("w")), write("EndObject")}
	default:
		return []jen.Code{write("Text", plain)}
	}
}

// resultCaller calls a method of the handler interface and writes what it returns.
// Whatever goes wrong has the form of a failure.
func (t *toolCode) resultCaller() jen.Code {
	name := callFunc(t.tool)
	failed := jen.If(jen.Err().Op("!=").Nil()).Block(
		jen.Return(jen.Lit(""), jen.Qual(t.runtime.envelope, "Failed").Call(jen.Err(), jen.Id("call").Dot("Notes"))),
	)
	success := "Success"
	if t.tool.Result.Plain {
		success = "Plain"
	}
	limit := jen.Lit(0)
	if t.tool.MaxChars > 0 {
		limit = jen.Id(maxCharsName(t.tool))
	}
	declaration := jen.Func().Id(name).Params(t.context(), jen.Id("h").Id("Handler"), t.call()).Params(jen.String(), jen.Error()).Block(
		t.unserved("h"),
		t.checked(),
		failed,
		jen.List(jen.Id("result"), jen.Err()).Op(":=").Id("h").Dot(t.tool.GoName).Call(jen.Id("ctx"), jen.Id("call"), t.bound()),
		failed.Clone(),
		jen.Return(jen.Qual(t.runtime.envelope, success).Call(jen.Op("&").Id("result"), jen.Id("call").Dot("Notes"), limit)),
	)
	return documented(declaration, name+" answers "+t.tool.Name+" with what the handler returns, in JSON.")
}
