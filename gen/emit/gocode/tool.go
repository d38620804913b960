package gocode

import (
	"path"
	"strconv"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/table"
)

func toolFunc(tool *ir.Tool) string     { return tool.GoName + "Tool" }
func tableName(tool *ir.Tool) string    { return "table" + tool.GoName }
func maxCharsName(tool *ir.Tool) string { return tool.GoName + "MaxChars" }

// tool emits the file of one tool.
func (g *generator) tool(family *ir.Family, tool *ir.Tool) (emit.File, error) {
	if tool.Command != nil {
		return g.table(family, tool)
	}
	s := g.newSource(family.Import, family.Package, tool.Source)
	all := params(tool)
	if tool.MaxChars > 0 {
		all = append(all, documented(
			code{"const " + maxCharsName(tool) + " = " + strconv.Itoa(tool.MaxChars)},
			maxCharsName(tool)+" is the maximum length of an answer of "+tool.Name+" in characters, including notes.",
		))
	}
	name := toolFunc(tool)
	all = append(all, documented(
		block("func "+name+"() "+pkgContract+"Tool", literal("return ", table.Tool(tool, g.schemas(tool)))...),
		name+" returns the description of "+tool.Name+", for hosts and for checking arguments.",
	))
	switch tool.Answer {
	case ir.JSONAnswer:
		all = append(all, result(tool)...)
	case ir.TextAnswer:
	default:
		all = append(all, envelope(tool)...)
	}
	for _, declaration := range all {
		s.declare(declaration)
	}
	return s.emit(path.Join(family.Dir, tool.Short+".go"))
}
