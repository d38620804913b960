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
		name+" is "+tool.Name+": what it takes, what it runs, and what the answer looks like."))
	s.declare(documented(block("func "+toolFunc(tool)+"() "+pkgContract+"Tool", "return "+name+".Tool"),
		toolFunc(tool)+" describes "+tool.Name+" to a host."))
	return s.emit(path.Join(family.Dir, tool.Short+".go"))
}
