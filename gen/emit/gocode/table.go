package gocode

import (
	"path"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/table"
)

// table emits the file of a tool that runs a command line: only its table.
func (g *generator) table(family *ir.Family, tool *ir.Tool) (emit.File, error) {
	s := g.newSource(family.Import, family.Package, tool.Source)
	name := tableName(tool)
	s.declare(documented(literal("var "+name+" = ", *table.Command(tool, g.schemas(tool))),
		name+" describes "+tool.Name+": its parameters, its command and its answer."))
	s.declare(documented(block("func "+toolFunc(tool)+"() "+pkgContract+"Tool", "return "+name+".Tool"),
		toolFunc(tool)+" returns the description of "+tool.Name+" for hosts."))
	return s.emit(path.Join(family.Dir, tool.Short+".go"))
}
