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

// coercer emits the function that makes the declared repairs.
func (t *toolCode) coercer() (code, error) {
	name := "Coerce" + t.tool.GoName
	body, err := t.repairs(t.tool.Params)
	if err != nil {
		return nil, err
	}
	return documented(block("func "+name+"(args *"+pkgCoerce+"Args)", body...),
		name+" makes the repairs that "+t.tool.Name+" declares, and notes each of them."), nil
}

// repairs emits the repairs of parameters or members, and of what is inside of them.
func (t *toolCode) repairs(params []ir.Param) (code, error) {
	var nullable []string
	for i := range params {
		if params[i].Nullable {
			nullable = append(nullable, params[i].Name)
		}
	}
	body := code{"args.DropNulls(" + quoted(nullable) + ")"}
	for i := range params {
		p := &params[i]
		name := strconv.Quote(p.Name)
		if p.OneOrMany {
			body = append(body, "args.OneOrMany("+name+")")
		}
		for _, repair := range p.Repairs {
			if p.OneOrMany && repair == ir.RepairFromInteger {
				body = append(body, "args.StringFromInteger("+name+")")
			}
			method, more, err := repairCall(p, repair)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", t.tool.Name, p.Name, err)
			}
			body = append(body, "args."+method+"("+name+more+")")
		}
		inner := p
		for inner.Kind == ir.Array {
			inner = inner.Item()
		}
		if inner.Kind == ir.Object {
			body = append(body, "args.Within("+name+", "+repairFunc(inner.TypeName)+")")
		}
	}
	return body, nil
}

// repairCall returns the method that makes a repair, and its arguments behind the name
// of the parameter.
func repairCall(p *ir.Param, repair ir.Repair) (method, more string, err error) {
	switch {
	case repair == ir.RepairFromString && p.Kind == ir.Integer:
		method = "IntegerFromString"
	case repair == ir.RepairFromString && p.Kind == ir.Number:
		method = "NumberFromString"
	case repair == ir.RepairFromString && p.Kind == ir.Object:
		method = "ObjectFromString"
	case repair == ir.RepairFromString && p.Kind == ir.Boolean:
		method = "BooleanFromString"
	case repair == ir.RepairFromString && p.Kind == ir.Array:
		method = "ArrayFromString"
	case repair == ir.RepairFromInteger && p.Kind == ir.String:
		method = "StringFromInteger"
	case repair == ir.RepairFromInteger && p.Kind == ir.Array:
		method = "ItemsFromIntegers"
	case repair == ir.RepairFromScalar && p.Kind == ir.Array && p.Item().Kind != ir.String:
		method = "ArrayFromItem"
	case repair == ir.RepairFromScalar && p.Kind == ir.Array:
		method = "ArrayFromScalar"
	case repair == ir.RepairClamp && p.Clamp != nil:
		return "Clamp", fmt.Sprintf(", %d, %d", p.Clamp[0], p.Clamp[1]), nil
	case repair == ir.RepairClamp && p.Kind == ir.Integer && p.Maximum != nil:
		return "ClampMaximum", ", " + strconv.FormatInt(int64(*p.Maximum), 10), nil
	case repair == ir.RepairSpelling && len(enumOf(p)) > 0:
		return "Spelling", ", " + quoted(enumOf(p)), nil
	default:
		return "", "", fmt.Errorf("the repair %q does not fit a parameter of type %s", repair, p.Kind)
	}
	return method, "", nil
}

// binder emits the function that turns valid arguments into parameters.
func (t *toolCode) binder() (code, error) {
	name := "bind" + t.tool.GoName
	params := paramsName(t.tool)
	body := code{"return " + params + "{}"}
	if len(t.tool.Params) > 0 {
		var err error
		if body, err = t.binding("args", params, t.tool.Params); err != nil {
			return nil, err
		}
		body = append(body, "return p")
	}
	return documented(block("func "+name+"(args "+pkgCoerce+"Object) "+params, body...),
		name+" reads arguments that ["+"Validate"+t.tool.GoName+"] has no problem with, and fills in defaults."), nil
}

// binding fills the variable p, a struct of parameters or members, from an object.
func (t *toolCode) binding(object, structName string, params []ir.Param) (code, error) {
	var defaults, cases code
	for i := range params {
		p := &params[i]
		if p.Default != nil {
			value, err := literal(p.Default, p)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", t.tool.Name, p.Name, err)
			}
			if p.Pointer() { // null wins over the default
				value = "new(" + value + ")"
			}
			defaults = append(defaults, p.GoName+":\t"+value+",")
		}
		cases = append(cases, inCase(strconv.Quote(p.Name), bind(p)...)...)
	}
	body := literalOf("p := "+structName, defaults)
	if len(cases) > 0 {
		body = append(body, block("for _, f := range "+object, block("switch f.Name", cases...)...)...)
	}
	return body, nil
}

// literalOf is a statement with a literal at its end, whose fields are on lines of
// their own.
func literalOf(head string, fields code) code {
	if len(fields) == 0 {
		return code{head + "{}"}
	}
	return append(append(code{head + "{"}, fields...), "}")
}

func bind(p *ir.Param) code {
	field := "p." + p.GoName
	if p.Nullable {
		return code{field + " = " + maybe(p, "f.Value")}
	}
	read := func(variable, value, converted string) code {
		body := code{field + " = " + converted}
		if p.Pointer() {
			body = code{field + " = &" + variable}
			if p.Kind == ir.Integer {
				body = code{"v := int(" + variable + ")", field + " = &v"}
			}
		}
		return block("if "+variable+", ok := "+value+"; ok", body...)
	}
	switch {
	case p.Kind == ir.Integer:
		return read("n", pkgCoerce+"Int(f.Value)", "int(n)")
	case p.Kind == ir.Number:
		return read("n", pkgCoerce+"Float(f.Value)", "n")
	case p.Kind == ir.Boolean:
		return read("b", "f.Value.(bool)", "b")
	case p.Kind == ir.Object:
		return read("o", readFunc(p.TypeName)+"(f.Value)", "o")
	case p.Texts() && p.OneOrMany:
		return read("list", pkgCoerce+"OneOrMany(f.Value)", "list")
	case p.Texts():
		return read("list", pkgCoerce+"Strings(f.Value)", "list")
	case p.Kind == ir.Array:
		return read("list", pkgCoerce+"List(f.Value, "+reader(p.Item())+")", "list")
	default:
		return read("s", "f.Value.(string)", "s")
	}
}

// maybe reads a value that may be null.
func maybe(p *ir.Param, value string) string {
	if p.Kind == ir.Array {
		return pkgCoerce + "ListOrNull(" + value + ", " + reader(p.Item()) + ")"
	}
	bare := *p
	bare.Nullable = false
	return pkgCoerce + "OrNull(" + value + ", " + reader(&bare) + ")"
}

// reader is a function from a decoded value to its Go type, and whether it has it.
func reader(p *ir.Param) string {
	function := func(typ, result string) string {
		return "func(v any) (" + typ + ", bool) {\nreturn " + result + "\n}"
	}
	switch {
	case p.Nullable:
		return function(itemType(p), maybe(p, "v")+", true")
	case p.Kind == ir.Integer:
		return pkgCoerce + "Whole"
	case p.Kind == ir.Number:
		return pkgCoerce + "Float"
	case p.Kind == ir.Boolean:
		return pkgCoerce + "Boolean"
	case p.Kind == ir.Object:
		return readFunc(p.TypeName)
	case p.Kind == ir.Array:
		return function(bareType(p), pkgCoerce+"List(v, "+reader(p.Item())+")")
	default:
		return pkgCoerce + "Text"
	}
}

// literal is the default of p.
func literal(v any, p *ir.Param) (string, error) {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v), nil
	case string:
		return strconv.Quote(v), nil
	case float64:
		return float(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case []string:
		return words(v), nil
	case []any:
		values := make([]string, len(v))
		for i := range v {
			value, err := literal(v[i], p.Item())
			if err != nil {
				return "", err
			}
			values[i] = value
		}
		return bareType(p) + "{" + strings.Join(values, ", ") + "}", nil
	default:
		return "", fmt.Errorf("a default cannot be a %T", v)
	}
}
