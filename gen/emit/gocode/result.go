package gocode

import "github.com/convtools/convtools/gen/ir"

// resultName returns the name of the type of a tool's answer in JSON.
func resultName(tool *ir.Tool) string { return tool.GoName + "Result" }

// result returns the types of a tool's answer in JSON.
func result(tool *ir.Tool) []code {
	root := object{name: resultName(tool), about: "the answer of " + tool.Name, members: tool.Result.Fields}
	var declarations []code
	for _, o := range append([]object{root}, objectsIn(tool.Result.Fields, "", "the answer of "+tool.Name)...) {
		declarations = append(declarations, o.declaration(resultField))
	}
	return declarations
}

// resultField returns the field for a value in a result, with its comment and struct tags.
func resultField(p *ir.Param) code {
	about, tag := sentence(p.Summary), tags("json", p.Name)
	switch {
	case !p.Required:
		about += " Omitted when nil."
		tag = tags("json", p.Name+",omitzero")
	case p.Nullable:
		about += " Written as null when nil."
		if p.Kind == ir.Array { // otherwise nil is written as an empty array
			tag = tags("json", p.Name, "nil", "null")
		}
	}
	return append(comment(about), p.GoName+" "+goType(p)+tag)
}
