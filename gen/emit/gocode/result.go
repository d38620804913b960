package gocode

import (
	"slices"
	"strconv"

	"github.com/convtools/convtools/gen/ir"
)

// resultName is the type of what a tool answers in JSON.
func resultName(tool *ir.Tool) string { return tool.GoName + "Result" }

// result emits the types of a tool's answer in JSON, what writes them, and the codes
// of its failures.
func (t *toolCode) result() []code {
	var declarations []code
	if codes := t.tool.Result.Codes; len(codes) > 0 {
		var lines code
		for _, c := range codes {
			lines = append(lines, t.tool.GoName+"Code"+camel(c)+"\t= "+strconv.Quote(c))
		}
		declarations = append(declarations, documented(constBlock(lines), "The codes of failures of "+t.tool.Name+", for a [contract.Failure]."))
	}
	name := resultName(t.tool)
	root := object{name: name, about: "what " + t.tool.Name + " answers", members: t.tool.Result.Fields}
	for _, o := range append([]object{root}, objectsIn(t.tool.Result.Fields, func(path string) string { return path + " in the answer of " + t.tool.Name })...) {
		declarations = append(declarations, resultType(o), appendFields(o))
	}
	return declarations
}

func resultType(o object) code {
	about := sentence(o.name + " is " + o.about)
	if o.param != nil {
		return documented(variantFields(o), about+" One of its fields is set.")
	}
	var lines code
	for i := range o.members {
		p := &o.members[i]
		lines = append(lines, comment(sentence(p.Summary)+presenceDoc(p))...)
		lines = append(lines, p.GoName+"\t"+goType(p))
	}
	return documented(typeBlock(o.name, lines), about)
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
func appendFields(o object) code {
	var body code
	if o.param != nil {
		var cases code
		for i := range o.param.Variants {
			v := &o.param.Variants[i]
			cases = append(cases, inCase("r."+v.GoName+" != nil",
				write("Name", strconv.Quote(o.key)),
				write("Text", strconv.Quote(v.Value)),
				"r."+v.GoName+".AppendFields(w)",
			)...)
		}
		body = block("switch", cases...)
	}
	for i := range o.members {
		p := &o.members[i]
		field, named := "r."+p.GoName, write("Name", strconv.Quote(p.Name))
		method, scalar := jsonMethods()[p.Kind]
		switch {
		case p.Required:
			body = append(body, writeJSON(named, p, field)...)
		case scalar:
			body = append(body, pkgEnvelope+"Optional(w, "+strconv.Quote(p.Name)+", "+field+", (*"+pkgEnvelope+"JSON)."+method+")")
		default:
			body = append(body, block("if "+field+" != nil", writeThere(named, p, field)...)...)
		}
	}
	receiver, writer := "r *", "w"
	if len(body) == 0 {
		receiver, writer = "*", "_"
	}
	head := "func (" + receiver + o.name + ") AppendFields(" + writer + " *" + pkgEnvelope + "JSON)"
	if len(body) == 0 {
		return documented(code{head + " {}"}, "AppendFields writes the fields in their fixed order.")
	}
	return documented(block(head, body...), "AppendFields writes the fields in their fixed order.")
}

// jsonMethods are those of a writer for values that hold no others.
func jsonMethods() map[ir.Kind]string {
	return map[ir.Kind]string{ir.String: "Text", ir.Integer: "Integer", ir.Number: "Number", ir.Boolean: "Boolean"}
}

// writeJSON emits what writes a value, which may be null, to a writer.
func writeJSON(writer string, p *ir.Param, value string) code {
	if !p.Nullable {
		return writeThere(writer, p, value)
	}
	return block("if "+value+" == nil", writer+".Null()").otherwise(writeThere(writer, p, value))
}

// writeThere emits what writes a value that is there.
func writeThere(writer string, p *ir.Param, value string) code {
	switch p.Kind {
	case ir.Array:
		item := p.Item()
		loop, element := "for _, item := range "+value, "item"
		if item.Kind == ir.Object && !item.Nullable {
			loop, element = "for i := range "+value, value+"[i]"
		}
		one := *item
		one.Required = !item.Nullable // an item is always there
		return slices.Concat(code{writer + ".Array()"}, block(loop, writeJSON("w", &one, element)...), code{write("EndArray")})
	case ir.Object:
		if !p.Pointer() {
			value = "&" + value
		}
		return code{writer + ".Fields(" + value + ")"}
	default:
		if p.Pointer() {
			value = "*" + value
		}
		return code{writer + "." + jsonMethods()[p.Kind] + "(" + value + ")"}
	}
}

// resultCaller calls a method of the handler interface and writes what it returns.
// Whatever goes wrong has the form of a failure.
func (t *toolCode) resultCaller() code {
	failed := block("if err != nil", `return "", `+pkgEnvelope+"Failed(err, call.Notes)")
	success := "Success"
	if t.tool.Result.Plain {
		success = "Plain"
	}
	limit := "0"
	if t.tool.MaxChars > 0 {
		limit = maxCharsName(t.tool)
	}
	body := slices.Concat(
		t.unserved("h"),
		code{t.checked()},
		failed,
		code{"result, err := h." + t.tool.GoName + "(ctx, call, " + t.bound() + ")"},
		failed,
		code{"return " + pkgEnvelope + success + "(&result, call.Notes, " + limit + ")"},
	)
	return documented(t.answering("h Handler", body), callFunc(t.tool)+" answers "+t.tool.Name+" with what the handler returns, in JSON.")
}
