package gocode

import (
	"path"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/ir"
)

// handlerField returns the name of the field of Handlers that holds the handler of a family.
func handlerField(family *ir.Family) string { return family.Package + "Handler" }

// dispatch emits dispatch.go, which lists all tools.
func (g *generator) dispatch() (emit.File, error) {
	dir := g.contract.Targets.Generated
	s := g.newSource(path.Join(g.contract.Targets.Module, dir), path.Base(dir), "tools.toml")
	for _, declaration := range g.handlers() {
		s.declare(declaration)
	}
	s.declare(g.dispatcher())
	s.declare(g.tools())
	if len(g.contract.CLIs) > 0 {
		s.declare(g.commandLines())
	}
	return s.emit(path.Join(dir, "dispatch.go"))
}

// handlers emits the struct of all handlers and its constructor, so that a missing handler does not compile.
func (g *generator) handlers() []code {
	var fields code
	var names, params []string
	addField := func(name, typ string) {
		fields, names, params = append(fields, name+" "+typ), append(names, name), append(params, name+" "+typ)
	}
	for i := range g.contract.Families {
		family := &g.contract.Families[i]
		if handler, _ := uses(family); handler {
			addField(handlerField(family), qualifier(family.Import)+"Handler")
		}
	}
	andRunner := ""
	if len(g.contract.CLIs) > 0 {
		// The parameter exists even if no tool needs it yet, so that the first such tool requires no change in callers.
		addField("cli", "*"+pkgCommandline+"Runner")
		andRunner = ", and the runner of command lines"
	}
	return []code{
		documented(block("type Handlers struct", fields...), "Handlers runs all tools. Use [NewHandlers] to make one."),
		documented(block("func NewHandlers("+strings.Join(params, ", ")+") Handlers", "return Handlers{"+strings.Join(names, ", ")+"}"),
			"NewHandlers returns Handlers with a handler for each family that has tools in Go"+andRunner+"."),
	}
}

// dispatcher emits the method that passes a call to the family of its tool.
func (g *generator) dispatcher() code {
	var cases code
	receiver := "Handlers" // without a name if no call needs a handler
	for i := range g.contract.Families {
		family := &g.contract.Families[i]
		handler, cli := uses(family)
		arguments := []string{"ctx"}
		if handler {
			arguments = append(arguments, "h."+handlerField(family))
		}
		if cli {
			arguments = append(arguments, "h.cli")
		}
		if handler || cli {
			receiver = "h Handlers"
		}
		arguments = append(arguments, "call")
		var names []string
		for j := range family.Tools {
			tool := &family.Tools[j]
			names = append(append(names, tool.Name), tool.OtherNames()...)
		}
		if len(names) > 0 {
			cases = append(cases, caseClause(quoted(names), "return "+qualifier(family.Import)+"Call("+strings.Join(arguments, ", ")+")")...)
		}
	}
	var toolNames []string
	for _, tool := range g.contract.Tools() {
		toolNames = append(toolNames, tool.Name)
	}
	return documented(block("func ("+receiver+") Call("+ctxParam+", "+callParam+") (string, error)", dispatch(cases, toolNames)...),
		"Call runs a tool and returns its answer.")
}

// tools emits the function that lists all tools, sorted by name.
func (g *generator) tools() code {
	imports := map[string]string{}
	for i := range g.contract.Families {
		imports[g.contract.Families[i].Name] = g.contract.Families[i].Import
	}
	var values code
	for _, t := range g.contract.Tools() {
		values = append(values, qualifier(imports[t.Family])+toolFunc(t)+"(),")
	}
	list := slices.Concat(code{"return []" + pkgContract + "Tool{"}, values, code{"}"})
	return documented(block("func Tools() []"+pkgContract+"Tool", list...), "Tools returns the descriptions of all tools, sorted by name.")
}

// commandLines emits the function that lists the command lines that tools may run.
func (g *generator) commandLines() code {
	return documented(block("func CommandLines() "+pkgCommandline+"Lines", literal("return ", g.contract.CLIs)...),
		"CommandLines returns the command lines that tools may run, sorted by name.")
}
