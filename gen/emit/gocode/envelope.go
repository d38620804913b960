package gocode

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/convtools/convtools/gen/ir"
)

// envelope emits the types of a tool's answer and what writes them.
func (t *toolCode) envelope() ([]jen.Code, error) {
	var code []jen.Code
	for i := range t.tool.Envelope.Elements {
		e := &t.tool.Envelope.Elements[i]
		name, ok := structName(t.tool, e)
		if !ok {
			continue
		}
		declaration, err := t.element(name, e)
		if err != nil {
			return nil, err
		}
		code = append(code, declaration)
		if t.isRoot(e) && t.repeats() {
			constructor, err := t.constructor(e)
			if err != nil {
				return nil, err
			}
			code = append(code, constructor)
		}
		code = append(code, t.appendMethod(name, e))
		if t.isRoot(e) {
			code = append(code, t.bytesMethod(name))
		}
	}
	return code, nil
}

// repeats reports whether attributes of the root repeat parameters.
func (t *toolCode) repeats() bool {
	root := t.tool.Envelope.Element(t.tool.Envelope.Root)
	return slices.ContainsFunc(root.Attributes, func(a ir.Attribute) bool { return a.Param != "" && a.Fixed == "" })
}

func (t *toolCode) isRoot(e *ir.Element) bool { return e.Name == t.tool.Envelope.Root }

// element emits the struct of an element.
func (t *toolCode) element(name string, e *ir.Element) (jen.Code, error) {
	var failed error
	declaration := jen.Type().Id(name).StructFunc(func(fields *jen.Group) {
		for _, a := range e.Attributes {
			if a.Fixed != "" {
				continue
			}
			typ, err := attributeType(a)
			if err != nil {
				failed = fmt.Errorf("%s: element %s: %w", t.tool.Name, e.Name, err)
				return
			}
			comment(fields, sentence(a.Summary)+leftOut(a))
			fields.Id(a.GoName).Add(typ).Add(t.tag(e, a.From))
		}
		if e.Body != ir.NoBody {
			comment(fields, bodyDoc(e.Body))
			fields.Id("Text").String().Add(t.tag(e, e.From))
		}
		for _, c := range e.Children {
			child := t.tool.Envelope.Element(c.Element)
			comment(fields, sentence(child.Summary))
			typ, key := t.childType(c, child)
			fields.Id(c.GoName).Add(typ).Add(t.tag(e, key))
		}
		if e.Separator != "" {
			comment(fields, fmt.Sprintf("An empty <%s/> is written before this element.", e.Separator))
			fields.Id(separatorField(e)).Bool().Add(t.tag(e, ""))
		}
	})
	if failed != nil {
		return nil, failed
	}
	what := name + " is a <" + e.Name + "> element"
	if t.isRoot(e) {
		what = name + " is the answer of " + t.tool.Name
	}
	if e.Summary != "" {
		what += ": " + lowerFirst(oneLine(e.Summary))
	}
	return documented(declaration, sentence(what)), nil
}

func comment(g *jen.Group, text string) {
	for _, line := range doc(text) {
		g.Add(line)
	}
}

// leftOut is the condition on which an attribute is not written.
func leftOut(a ir.Attribute) string {
	switch {
	case a.Presence == ir.Nullable:
		return " Left out when it is nil."
	case a.Presence != ir.NonZero:
		return ""
	case a.Type == ir.BooleanAttribute:
		return " Left out when it is false."
	case a.Type == ir.TextAttribute:
		return " Left out when it is empty."
	default:
		return " Left out when it is zero."
	}
}

func bodyDoc(b ir.Body) string {
	switch b {
	case ir.InlineBody:
		return "Recorded text, written on one line."
	case ir.LinesBody:
		return "Recorded text, of which line breaks stay."
	case ir.JSONBody:
		return "A JSON text, written in a fence."
	default:
		return "Recorded text, written verbatim."
	}
}

// tag names the key of a command's JSON that a field is read from. The root is
// never read from JSON.
func (t *toolCode) tag(e *ir.Element, key string) jen.Code {
	if t.isRoot(e) {
		return jen.Null()
	}
	if key == "" {
		key = "-"
	}
	return jen.Add().Tag(map[string]string{"json": key})
}

func attributeType(a ir.Attribute) (jen.Code, error) {
	var typ jen.Code
	switch a.Type {
	case ir.TextAttribute:
		typ = jen.String()
	case ir.IntegerAttribute:
		typ = jen.Int()
	case ir.BooleanAttribute:
		typ = jen.Bool()
	case ir.TimeAttribute:
		typ = jen.Qual("time", "Time")
	default:
		return nil, fmt.Errorf("attribute %s: unknown type %q", a.Name, a.Type)
	}
	if a.Presence == ir.Nullable {
		typ = jen.Op("*").Add(typ)
	}
	return typ, nil
}

// records marks the children that are filled from the command's JSON array.
const records = "records"

// childType is the type of a field for children, and the JSON key it is read
// from.
func (t *toolCode) childType(c ir.Child, child *ir.Element) (jen.Code, string) {
	key := c.From
	name, isStruct := structName(t.tool, child)
	if !isStruct && key == "" {
		key = child.From
	}
	if key == records {
		key = ""
	}
	typ := jen.String()
	if isStruct {
		typ = jen.Id(name)
	}
	switch {
	case c.Many:
		return jen.Index().Add(typ), key
	case isStruct && c.Optional:
		return jen.Op("*").Add(typ), key
	default:
		return typ, key
	}
}

// constructor emits the function that fills in what the root repeats of the
// parameters, which may be nothing: handlers begin with it all the same, so that
// an attribute gained later needs no change to them.
func (t *toolCode) constructor(root *ir.Element) (jen.Code, error) {
	name, params := rootName(t.tool), paramsName(t.tool)
	var fields, later []jen.Code
	for _, a := range root.Attributes {
		if a.Param == "" || a.Fixed != "" {
			continue
		}
		p := t.tool.Param(a.Param)
		if p == nil {
			return nil, fmt.Errorf("%s: attribute %s: there is no parameter %q", t.tool.Name, a.Name, a.Param)
		}
		value, err := attributeValue(a, p)
		if err != nil {
			return nil, fmt.Errorf("%s: attribute %s: %w", t.tool.Name, a.Name, err)
		}
		if p.Pointer() && a.Presence != ir.Nullable {
			later = append(later, jen.If(jen.Id("p").Dot(p.GoName).Op("!=").Nil()).Block(
				jen.Id("e").Dot(a.GoName).Op("=").Add(value),
			))
			continue
		}
		fields = append(fields, jen.Line().Id(a.GoName).Op(":").Add(value))
	}
	if len(fields) > 0 {
		fields = append(fields, jen.Line())
	}
	body := []jen.Code{jen.Return(jen.Id(name).Values(fields...))}
	if len(later) > 0 {
		body = append([]jen.Code{jen.Id("e").Op(":=").Id(name).Values(fields...)}, later...)
		body = append(body, jen.Return(jen.Id("e")))
	}
	declaration := jen.Func().Id("New" + name).Params(jen.Id("p").Id(params)).Id(name).Block(body...)
	return documented(declaration, "New"+name+" returns an envelope with the attributes that repeat parameters filled in."), nil
}

// attributeValue converts a parameter to what an attribute holds. Where both may
// be absent the pointer is shared: neither is written to afterwards.
func attributeValue(a ir.Attribute, p *ir.Param) (jen.Code, error) {
	value := jen.Id("p").Dot(p.GoName)
	same := a.Type == ir.TextAttribute && p.Kind == ir.String ||
		a.Type == ir.IntegerAttribute && p.Kind == ir.Integer ||
		a.Type == ir.BooleanAttribute && p.Kind == ir.Boolean
	switch {
	case same && a.Presence == ir.Nullable && p.Pointer():
		return value, nil
	case a.Presence == ir.Nullable && same:
		return jen.Op("&").Add(value), nil
	case a.Presence == ir.Nullable:
		return nil, fmt.Errorf("a nullable attribute of type %s cannot repeat a parameter of type %s", a.Type, p.Kind)
	}
	if p.Pointer() {
		value = jen.Op("*").Add(value)
	}
	switch {
	case same:
		return value, nil
	case a.Type == ir.TextAttribute && p.Kind == ir.Array:
		return jen.Qual("strings", "Join").Call(value, jen.Lit(",")), nil
	case a.Type == ir.TextAttribute:
		return scalarText(p.Kind, value), nil
	default:
		return nil, fmt.Errorf("an attribute of type %s cannot repeat a parameter of type %s", a.Type, p.Kind)
	}
}

// appendMethod emits the method that writes an element.
func (t *toolCode) appendMethod(name string, e *ir.Element) jen.Code {
	var body []jen.Code
	if e.Separator != "" {
		body = append(body, jen.If(jen.Id("e").Dot(separatorField(e))).Block(write("Open", jen.Lit(e.Separator)), write("Close")))
	}
	body = append(body, write(opening(e), jen.Lit(e.Name)))
	for _, a := range e.Attributes {
		body = append(body, writeAttribute(a))
	}
	if t.isRoot(e) {
		body = append(body, write("Boolean", jen.Lit("untrusted"), jen.True()))
	}
	if e.Body != ir.NoBody {
		body = append(body, writeBody(e.Body, jen.Id("e").Dot("Text")))
	}
	for _, c := range e.Children {
		body = append(body, t.writeChild(c, t.tool.Envelope.Element(c.Element)))
	}
	body = append(body, write("Close"))
	declaration := jen.Func().Params(jen.Id("e").Op("*").Id(name)).Id("Append").Params(
		jen.Id("w").Op("*").Qual(t.runtime.envelope, "Writer"),
	).Block(body...)
	return documented(declaration, "Append writes the element, with its attributes and children in their fixed order.")
}

func (t *toolCode) bytesMethod(name string) jen.Code {
	declaration := jen.Func().Params(jen.Id("e").Op("*").Id(name)).Id("Bytes").Params().Index().Byte().Block(
		jen.Var().Id("w").Qual(t.runtime.envelope, "Writer"),
		jen.Id("e").Dot("Append").Call(jen.Op("&").Id("w")),
		jen.Return(jen.Id("w").Dot("Bytes").Call()),
	)
	return documented(declaration, "Bytes returns the answer as text.")
}

func write(method string, arguments ...jen.Code) jen.Code {
	return jen.Id("w").Dot(method).Call(arguments...)
}

// opening is the method that begins an element.
func opening(e *ir.Element) string {
	if e.Beside {
		return "OpenBeside"
	}
	return "Open"
}

func writeAttribute(a ir.Attribute) jen.Code {
	name := jen.Lit(a.Name)
	if a.Fixed != "" {
		return write("Text", name, jen.Lit(a.Fixed))
	}
	method := map[ir.AttributeType]string{
		ir.TextAttribute: "Text", ir.IntegerAttribute: "Integer", ir.BooleanAttribute: "Boolean", ir.TimeAttribute: "Time",
	}[a.Type]
	value := jen.Id("e").Dot(a.GoName)
	switch a.Presence {
	case ir.Nullable:
		return jen.If(value.Clone().Op("!=").Nil()).Block(write(method, name, jen.Op("*").Add(value)))
	case ir.NonZero:
		return jen.If(nonZero(a.Type, value)).Block(write(method, name, value))
	default:
		return write(method, name, value)
	}
}

func nonZero(typ ir.AttributeType, value *jen.Statement) jen.Code {
	switch typ {
	case ir.IntegerAttribute:
		return value.Clone().Op("!=").Lit(0)
	case ir.BooleanAttribute:
		return value
	case ir.TimeAttribute:
		return jen.Op("!").Add(value).Dot("IsZero").Call()
	default:
		return value.Clone().Op("!=").Lit("")
	}
}

func writeBody(body ir.Body, text jen.Code) jen.Code {
	switch body {
	case ir.InlineBody:
		return write("Inline", text)
	case ir.LinesBody:
		return write("Lines", text)
	case ir.JSONBody:
		return write("JSON", text)
	default:
		return write("Block", text)
	}
}

func (t *toolCode) writeChild(c ir.Child, child *ir.Element) jen.Code {
	field := jen.Id("e").Dot(c.GoName)
	if _, isStruct := structName(t.tool, child); isStruct {
		switch {
		case c.Many:
			return jen.For(jen.Id("i").Op(":=").Range().Add(field)).Block(
				field.Clone().Index(jen.Id("i")).Dot("Append").Call(jen.Id("w")),
			)
		case c.Optional:
			return jen.If(field.Clone().Op("!=").Nil()).Block(field.Clone().Dot("Append").Call(jen.Id("w")))
		default:
			return field.Clone().Dot("Append").Call(jen.Id("w"))
		}
	}
	one := func(text jen.Code) []jen.Code {
		return []jen.Code{write(opening(child), jen.Lit(child.Name)), writeBody(child.Body, text), write("Close")}
	}
	switch {
	case c.Many:
		return jen.For(jen.List(jen.Id("_"), jen.Id("text")).Op(":=").Range().Add(field)).Block(one(jen.Id("text"))...)
	case c.Optional:
		return jen.If(field.Clone().Op("!=").Lit("")).Block(one(field)...)
	default:
		s := jen.Empty()
		for i, code := range one(field) {
			if i > 0 {
				s.Line()
			}
			s.Add(code)
		}
		return s
	}
}
