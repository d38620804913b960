package gocode

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/gen/ir"
)

// envelope emits the types of a tool's answer and what writes them.
func (t *toolCode) envelope() []code {
	var declarations []code
	for i := range t.tool.Envelope.Elements {
		e := &t.tool.Envelope.Elements[i]
		name, ok := structName(t.tool, e)
		if !ok {
			continue
		}
		declarations = append(declarations, t.element(name, e))
		if t.isRoot(e) && t.repeats() {
			declarations = append(declarations, t.constructor(e))
		}
		declarations = append(declarations, t.appendMethod(name, e))
		if t.isRoot(e) {
			declarations = append(declarations, bytesMethod(name))
		}
	}
	return declarations
}

// repeats reports whether attributes of the root repeat parameters.
func (t *toolCode) repeats() bool {
	root := t.tool.Envelope.Element(t.tool.Envelope.Root)
	return slices.ContainsFunc(root.Attributes, func(a ir.Attribute) bool { return a.Param != "" && a.Fixed == "" })
}

func (t *toolCode) isRoot(e *ir.Element) bool { return e.Name == t.tool.Envelope.Root }

// element emits the struct of an element.
func (t *toolCode) element(name string, e *ir.Element) code {
	var lines code
	field := func(name, typ, tag, about string) {
		lines = append(lines, comment(about)...)
		lines = append(lines, name+"\t"+typ+tag)
	}
	for _, a := range e.Attributes {
		if a.Fixed != "" {
			continue
		}
		field(a.GoName, attributeType(a), t.tag(e, a.From), sentence(a.Summary)+leftOut(a))
	}
	if e.Body != ir.NoBody {
		field("Text", "string", t.tag(e, e.From), bodyDoc(e.Body))
	}
	for _, c := range e.Children {
		child := t.tool.Envelope.Element(c.Element)
		typ, key := t.childType(c, child)
		field(c.GoName, typ, t.tag(e, key), sentence(child.Summary))
	}
	if e.Separator != "" {
		field(separatorField(e), "bool", t.tag(e, ""), fmt.Sprintf("An empty <%s/> is written before this element.", e.Separator))
	}
	what := name + " is a <" + e.Name + "> element"
	if t.isRoot(e) {
		what = name + " is the answer of " + t.tool.Name
	}
	if e.Summary != "" {
		what += ": " + lowerFirst(oneLine(e.Summary))
	}
	return documented(typeBlock(name, lines), sentence(what))
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

// tag names the key of a command's JSON that a field is read from, in a column of its
// own. The root is never read from JSON.
func (t *toolCode) tag(e *ir.Element, key string) string {
	if t.isRoot(e) {
		return ""
	}
	if key == "" {
		key = "-"
	}
	tag := "json:" + strconv.Quote(key)
	if !strconv.CanBackquote(tag) {
		return "\t" + strconv.Quote(tag)
	}
	return "\t`" + tag + "`"
}

func attributeType(a ir.Attribute) string {
	typ := map[ir.AttributeType]string{
		ir.TextAttribute: "string", ir.IntegerAttribute: "int", ir.BooleanAttribute: "bool", ir.TimeAttribute: pkgTime + "Time",
	}[a.Type]
	if a.Presence == ir.Nullable {
		return "*" + typ
	}
	return typ
}

// records marks the children that are filled from the command's JSON array.
const records = "records"

// childType is the type of a field for children, and the JSON key it is read
// from.
func (t *toolCode) childType(c ir.Child, child *ir.Element) (typ, key string) {
	key = c.From
	name, isStruct := structName(t.tool, child)
	if !isStruct && key == "" {
		key = child.From
	}
	if key == records {
		key = ""
	}
	typ = "string"
	if isStruct {
		typ = name
	}
	switch {
	case c.Many:
		return "[]" + typ, key
	case isStruct && c.Optional:
		return "*" + typ, key
	default:
		return typ, key
	}
}

// constructor emits the function that fills in what the root repeats of the
// parameters, which always have a value and the type of the attribute.
func (t *toolCode) constructor(root *ir.Element) code {
	name, params := rootName(t.tool), paramsName(t.tool)
	var fields code
	for _, a := range root.Attributes {
		if a.Param == "" || a.Fixed != "" {
			continue
		}
		value := "p." + t.tool.Param(a.Param).GoName
		if a.Presence == ir.Nullable {
			value = "&" + value
		}
		fields = append(fields, a.GoName+":\t"+value+",")
	}
	return documented(block("func New"+name+"(p "+params+") "+name, literalOf("return "+name, fields)...),
		"New"+name+" returns an envelope with the attributes that repeat parameters filled in.")
}

// appendMethod emits the method that writes an element.
func (t *toolCode) appendMethod(name string, e *ir.Element) code {
	var body code
	if e.Separator != "" {
		body = block("if e."+separatorField(e), write("Open", strconv.Quote(e.Separator)), write("Close"))
	}
	body = append(body, write(opening(e), strconv.Quote(e.Name)))
	for _, a := range e.Attributes {
		body = append(body, writeAttribute(a)...)
	}
	if t.isRoot(e) {
		body = append(body, write("Boolean", `"untrusted"`, "true"))
	}
	if e.Body != ir.NoBody {
		body = append(body, writeBody(e.Body, "e.Text"))
	}
	for _, c := range e.Children {
		body = append(body, t.writeChild(c, t.tool.Envelope.Element(c.Element))...)
	}
	body = append(body, write("Close"))
	return documented(block("func (e *"+name+") Append(w *"+pkgEnvelope+"Writer)", body...),
		"Append writes the element, with its attributes and children in their fixed order.")
}

func bytesMethod(name string) code {
	return documented(block("func (e *"+name+") Bytes() []byte",
		"var w "+pkgEnvelope+"Writer",
		"e.Append(&w)",
		"return w.Bytes()",
	), "Bytes returns the answer as text.")
}

func write(method string, arguments ...string) string {
	return "w." + method + "(" + strings.Join(arguments, ", ") + ")"
}

// opening is the method that begins an element.
func opening(e *ir.Element) string {
	if e.Beside {
		return "OpenBeside"
	}
	return "Open"
}

func writeAttribute(a ir.Attribute) code {
	name := strconv.Quote(a.Name)
	if a.Fixed != "" {
		return code{write("Text", name, strconv.Quote(a.Fixed))}
	}
	method := map[ir.AttributeType]string{
		ir.TextAttribute: "Text", ir.IntegerAttribute: "Integer", ir.BooleanAttribute: "Boolean", ir.TimeAttribute: "Time",
	}[a.Type]
	value := "e." + a.GoName
	switch a.Presence {
	case ir.Nullable:
		return block("if "+value+" != nil", write(method, name, "*"+value))
	case ir.NonZero:
		return code{write("Optional"+method, name, value)}
	default:
		return code{write(method, name, value)}
	}
}

func writeBody(body ir.Body, text string) string {
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

func (t *toolCode) writeChild(c ir.Child, child *ir.Element) code {
	field := "e." + c.GoName
	if _, isStruct := structName(t.tool, child); isStruct {
		switch {
		case c.Many:
			return block("for i := range "+field, field+"[i].Append(w)")
		case c.Optional:
			return block("if "+field+" != nil", field+".Append(w)")
		default:
			return code{field + ".Append(w)"}
		}
	}
	one := func(text string) code {
		return code{write(opening(child), strconv.Quote(child.Name)), writeBody(child.Body, text), write("Close")}
	}
	switch {
	case c.Many:
		return block("for _, text := range "+field, one("text")...)
	case c.Optional:
		return block("if "+field+` != ""`, one(field)...)
	default:
		return one(field)
	}
}
