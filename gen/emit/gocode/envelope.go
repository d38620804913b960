package gocode

import (
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/gen/ir"
)

// rootName returns the name of the type of a tool's envelope.
func rootName(tool *ir.Tool) string { return tool.GoName + "Envelope" }

// envelope emits the types of a tool's envelope, and a constructor if attributes of its root repeat parameters.
func envelope(tool *ir.Tool) []code {
	var declarations []code
	for i := range tool.Envelope.Elements {
		e := &tool.Envelope.Elements[i]
		isRoot := e.Name == tool.Envelope.Root
		if isRoot || !e.Bare() { // a bare element is a string in the type of its parent
			declarations = append(declarations, element(tool, e, isRoot))
		}
		if fields := paramFields(tool, e); isRoot && len(fields) > 0 {
			name := rootName(tool)
			declarations = append(declarations, documented(
				block("func New"+name+"(p "+paramsName(tool)+") "+name, "return "+name+"{"+strings.Join(fields, ", ")+"}"),
				"New"+name+" returns an envelope and sets the attributes that repeat parameters."))
		}
	}
	return declarations
}

// paramFields returns "Field: value" for each attribute of the root that repeats a parameter. Such a parameter always
// has a value, of the type of the attribute.
func paramFields(tool *ir.Tool, root *ir.Element) []string {
	var fields []string
	for _, a := range root.Attributes {
		if a.Param == "" || a.Fixed != "" {
			continue
		}
		value := "p." + tool.Param(a.Param).GoName
		if a.Presence == ir.Nullable {
			value = "&" + value
		}
		fields = append(fields, a.GoName+": "+value)
	}
	return fields
}

// element emits the struct of an element, with the struct tags that package envelope of the runtime reads.
func element(tool *ir.Tool, e *ir.Element, root bool) code {
	name, option := e.GoName, ""
	about := name + " is a <" + e.Name + "> element"
	switch {
	case root:
		name, option = rootName(tool), ",root"
		about = name + " is the answer of " + tool.Name
	case e.Beside:
		option = ",beside"
	}
	lines := code{"_ struct{}" + tags("element", e.Name+option)}
	addField := func(name, typ, doc, tag string) {
		lines = append(append(lines, comment(doc)...), name+" "+typ+tag)
	}
	for _, a := range e.Attributes {
		if a.Fixed != "" {
			lines = append(lines, "_ struct{}"+tags("attr", a.Name, "fixed", a.Fixed))
			continue
		}
		attributeOption, omitted := presence(a)
		addField(a.GoName, attributeType(a), sentence(a.Summary)+omitted, tags("attr", a.Name+attributeOption))
	}
	if e.Body != ir.NoBody {
		addField("Text", "string", bodyDoc(e.Body), tags("body", string(e.Body)))
	}
	for _, c := range e.Children {
		child := tool.Envelope.Element(c.Element)
		typ, tag := childType(tool, c, child)
		addField(c.GoName, typ, sentence(child.Summary), tag)
	}
	if e.Separator != "" {
		addField(ir.GoName(e.Separator)+"Before", "bool", "An empty <"+e.Separator+"/> is written before this element.", tags("separator", e.Separator))
	}
	if e.Summary != "" {
		about += ": " + lowerFirst(oneLine(e.Summary))
	}
	return documented(block("type "+name+" struct", lines...), sentence(about))
}

// presence returns the tag option for the presence of an attribute, and a sentence that says when the attribute is
// omitted. The option of a nullable attribute is "", because its field is a pointer.
func presence(a ir.Attribute) (option, words string) {
	switch {
	case a.Presence == ir.Nullable:
		return "", " Omitted when nil."
	case a.Presence == ir.Always:
		return "", ""
	}
	zero := map[ir.AttributeType]string{ir.BooleanAttribute: "false", ir.TextAttribute: "empty", ir.IntegerAttribute: "zero", ir.TimeAttribute: "zero"}
	return ",omitzero", " Omitted when " + zero[a.Type] + "."
}

func bodyDoc(b ir.Body) string {
	return map[ir.Body]string{
		ir.InlineBody: "Recorded text, written on one line.", ir.LinesBody: "Recorded text that keeps its line breaks.",
		ir.BlockBody: "Recorded text, written verbatim.", ir.JSONBody: "A JSON text, written in a fence.",
	}[b]
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

// childType returns the type and the tags of the struct field for a child element: c says how often the child occurs,
// child what it is. The tags are "" if the type is a struct, because the tags in that struct name the element.
func childType(tool *ir.Tool, c ir.Child, child *ir.Element) (typ, tag string) {
	if child.Bare() {
		options := ""
		if child.Beside {
			options = ",beside"
		}
		typ = "string"
		if c.Many {
			typ = "[]string"
		} else if c.Optional {
			options += ",omitzero"
		}
		return typ, tags("element", child.Name+options, "body", string(child.Body))
	}
	typ = child.GoName
	if child.Name == tool.Envelope.Root {
		typ = rootName(tool)
	}
	switch {
	case c.Many:
		typ = "[]" + typ
	case c.Optional:
		typ = "*" + typ
	}
	return typ, ""
}

// tags returns struct tags, with a space before them, for keys and values in turn.
func tags(pairs ...string) string {
	var list []string
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, pair[0]+":"+strconv.Quote(pair[1]))
	}
	text := strings.Join(list, " ")
	if !strconv.CanBackquote(text) {
		return " " + strconv.Quote(text)
	}
	return " `" + text + "`"
}
