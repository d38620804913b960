package gocode

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/convtools/convtools/gen/ir"
)

func paramsName(tool *ir.Tool) string { return tool.GoName + "Params" }

// paramsType is the struct a handler gets a tool's parameters in.
func (t *toolCode) paramsType() code {
	name := paramsName(t.tool)
	return documented(fields(name, t.tool.Params), name+" are the parameters of "+t.tool.Name+", valid and with defaults filled in.")
}

// fields is a struct of parameters or members.
func fields(name string, params []ir.Param) code {
	var lines code
	for i := range params {
		p := &params[i]
		lines = append(lines, comment(fieldDoc(p))...)
		lines = append(lines, p.GoName+"\t"+goType(p))
	}
	return typeBlock(name, lines)
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
func goType(p *ir.Param) string {
	if p.Pointer() {
		return "*" + bareType(p)
	}
	return bareType(p)
}

// bareType is the same for a value that is there.
func bareType(p *ir.Param) string {
	switch p.Kind {
	case ir.Integer:
		return "int"
	case ir.Number:
		return "float64"
	case ir.Boolean:
		return "bool"
	case ir.Object:
		return p.TypeName
	case ir.Array:
		return "[]" + itemType(p.Item())
	default:
		return "string"
	}
}

// itemType is the Go type of an item of an array, of which there is none that is
// absent: it is a pointer where it may be null.
func itemType(p *ir.Param) string {
	if p.Nullable && p.Kind != ir.Array {
		return "*" + bareType(p)
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
func constants(structName, owner string, params []ir.Param) []code {
	var blocks []code
	for i := range params {
		p := &params[i]
		field := "[" + structName + "." + p.GoName + "]"
		if p.Kind == ir.Integer && p.Maximum != nil {
			name := owner + p.GoName + "Maximum"
			maximum := strconv.FormatInt(int64(*p.Maximum), 10)
			blocks = append(blocks, documented(code{"const " + name + " = " + maximum}, name+" is the greatest value of "+field+"."))
		}
		var lines code
		for _, c := range enumConstants(owner, p) {
			lines = append(lines, c.name+"\t= "+strconv.Quote(c.value))
		}
		if len(lines) > 0 {
			blocks = append(blocks, documented(constBlock(lines), "The values of "+field+"."))
		}
	}
	return blocks
}

func constBlock(lines code) code { return append(append(code{"const ("}, lines...), ")") }

// binder emits the function that turns valid arguments into parameters.
func (t *toolCode) binder() code {
	name, params := "bind"+t.tool.GoName, paramsName(t.tool)
	return documented(block("func "+name+"(args "+pkgCoerce+"Object) "+params, binding("args", params, t.tool.Params, "")...),
		name+" reads arguments that [Validate"+t.tool.GoName+"] has no problem with, and fills in defaults.")
}

// binding returns a struct of parameters or members, read from an object, and what else
// is to be returned.
func binding(object, structName string, params []ir.Param, more string) code {
	var fields code
	for i := range params {
		fields = append(fields, params[i].GoName+":\t"+read(object, &params[i])+",")
	}
	body := literalOf("return "+structName, fields)
	body[len(body)-1] += more
	return body
}

// literalOf is a statement with a literal at its end, whose fields are on lines of
// their own.
func literalOf(head string, fields code) code {
	if len(fields) == 0 {
		return code{head + "{}"}
	}
	return append(append(code{head + "{"}, fields...), "}")
}

// read is the value of a member of an object.
func read(object string, p *ir.Param) string {
	function, otherwise := "Read", ""
	if p.Pointer() {
		function = "Pointer"
	}
	if p.Default != nil {
		function, otherwise = function+"Or", literal(p.Default, p)+", "
	}
	bare := *p
	bare.Nullable = false
	return pkgCoerce + function + "(" + object + ", " + strconv.Quote(p.Name) + ", " + otherwise + reader(&bare) + ")"
}

// reader is a function from a decoded value to its Go type, and whether it has it.
func reader(p *ir.Param) string {
	bare := *p
	bare.Nullable = false
	switch {
	case p.Nullable && p.Kind == ir.Array:
		return pkgCoerce + "ListOrNull(" + reader(p.Item()) + ")"
	case p.Nullable:
		return pkgCoerce + "OrNull(" + reader(&bare) + ")"
	case p.Kind == ir.Integer:
		return pkgCoerce + "Whole"
	case p.Kind == ir.Number:
		return pkgCoerce + "Float"
	case p.Kind == ir.Boolean:
		return pkgCoerce + "Boolean"
	case p.Kind == ir.Object:
		return readFunc(p.TypeName)
	case p.OneOrMany:
		return pkgCoerce + "OneOrMany"
	case p.Texts():
		return pkgCoerce + "Strings"
	case p.Kind == ir.Array:
		return pkgCoerce + "ListOf(" + reader(p.Item()) + ")"
	default:
		return pkgCoerce + "Text"
	}
}

// literal is the default of p.
func literal(v any, p *ir.Param) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case float64:
		return float(v)
	case []string:
		return words(v)
	case []any:
		values := make([]string, len(v))
		for i := range v {
			values[i] = literal(v[i], p.Item())
		}
		return bareType(p) + "{" + strings.Join(values, ", ") + "}"
	default: // true, false or a whole number
		return fmt.Sprint(v)
	}
}
