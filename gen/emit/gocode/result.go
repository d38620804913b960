package gocode

import "github.com/convtools/convtools/gen/ir"

// resultName is the type of what a tool answers in JSON.
func resultName(tool *ir.Tool) string { return tool.GoName + "Result" }

// result are the types of a tool's answer in JSON.
func result(tool *ir.Tool) []code {
	root := object{name: resultName(tool), about: "what " + tool.Name + " answers", members: tool.Result.Fields}
	var declarations []code
	for _, o := range append([]object{root}, objectsIn(tool.Result.Fields, "the answer of "+tool.Name)...) {
		declarations = append(declarations, o.declaration(resultField))
	}
	return declarations
}

func resultField(p *ir.Param) code {
	about, option := sentence(p.Summary), ""
	switch {
	case !p.Required:
		about, option = about+" Left out when it is nil.", ",omitzero"
	case p.Nullable:
		about, option = about+" Written as null when it is nil.", ",null"
	}
	return append(comment(about), p.GoName+" "+goType(p)+tags("json", p.Name+option))
}
