package gocode

import (
	"path"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/ir"
)

// dispatch emits the one file that knows all tools.
func (g *generator) dispatch() (emit.File, error) {
	dir := g.contract.Targets.Generated
	f := g.newFile(path.Join(g.contract.Targets.Module, dir), path.Base(dir), "tools.toml")
	for _, family := range g.contract.Families {
		f.ImportName(family.Import, family.Package)
	}
	f.Add(g.handlers()).Line()
	f.Add(g.dispatcher()).Line()
	f.Add(g.tools()).Line()
	f.Add(g.lookup()).Line()
	if len(g.contract.CLIs) > 0 {
		f.Add(g.commandLines()).Line()
	}
	return render(f, path.Join(dir, "dispatch.go"))
}

// handlers emits the struct of everything that does work.
func (g *generator) handlers() jen.Code {
	declaration := jen.Type().Id("Handlers").StructFunc(func(fields *jen.Group) {
		for i := range g.contract.Families {
			family := &g.contract.Families[i]
			if handler, _ := uses(family); handler {
				fields.Id(field(family)).Qual(family.Import, "Handler")
			}
		}
		if len(g.contract.CLIs) > 0 {
			// It is there before a tool needs it, so that declaring one asks for
			// no change to the code that fills this struct.
			comment(fields, "CLI runs the command lines of tools that have no handler of their own.")
			fields.Id("CLI").Qual(g.runtime.contract, "CLI")
		}
	})
	return documented(declaration, "Handlers does the work of all tools. A tool whose field is not set answers every call with an error.")
}

// dispatcher emits the function that finds a tool's family.
func (g *generator) dispatcher() jen.Code {
	var cases []jen.Code
	for i := range g.contract.Families {
		family := &g.contract.Families[i]
		handler, cli := uses(family)
		arguments := []jen.Code{jen.Id("ctx")}
		if handler {
			arguments = append(arguments, jen.Id("h").Dot(field(family)))
		}
		if cli {
			arguments = append(arguments, jen.Id("h").Dot("CLI"))
		}
		arguments = append(arguments, jen.Id("call"))
		var names []jen.Code
		for j := range family.Tools {
			tool := &family.Tools[j]
			names = append(names, literals(append([]string{tool.Name}, tool.OtherNames()...))...)
		}
		if len(names) > 0 {
			cases = append(cases, jen.Case(names...).Block(jen.Return(jen.Qual(family.Import, "Call").Call(arguments...))))
		}
	}
	var all []string
	for _, tool := range g.contract.Tools() {
		all = append(all, tool.Name)
	}
	cases = append(cases, jen.Default().Block(jen.Return(jen.Lit(""), jen.Qual(g.runtime.contract, "UnknownTool").Call(
		jen.Id("call").Dot("Tool"), words(all),
	))))
	receiver := jen.Id("h")
	if !slices.ContainsFunc(g.contract.Families, func(f ir.Family) bool { handler, cli := uses(&f); return handler || cli }) {
		receiver = jen.Empty()
	}
	declaration := jen.Func().Params(receiver.Id("Handlers")).Id("Call").Params(g.context(), g.call()).Params(jen.String(), jen.Error()).Block(
		jen.Switch(jen.Id("call").Dot("Tool")).Block(cases...),
	)
	return documented(declaration, "Call runs a tool and returns its answer.")
}

// tools emits the list of all tools, sorted by name.
func (g *generator) tools() jen.Code {
	tool := jen.Qual(g.runtime.contract, "Tool")
	declaration := jen.Func().Id("Tools").Params().Index().Add(tool).Block(jen.Return(
		jen.Index().Add(tool).ValuesFunc(func(values *jen.Group) {
			for _, t := range g.contract.Tools() {
				values.Line().Qual(g.familyOf(t).Import, toolFunc(t)).Call()
			}
			values.Line()
		}),
	))
	return documented(declaration, "Tools describes all tools, sorted by name.")
}

func (g *generator) familyOf(tool *ir.Tool) *ir.Family {
	for i := range g.contract.Families {
		if g.contract.Families[i].Name == tool.Family {
			return &g.contract.Families[i]
		}
	}
	return nil
}

func (g *generator) lookup() jen.Code {
	tool := jen.Qual(g.runtime.contract, "Tool")
	declaration := jen.Func().Id("Lookup").Params(jen.Id("name").String()).Params(tool, jen.Bool()).Block(
		jen.For(jen.List(jen.Id("_"), jen.Id("tool")).Op(":=").Range().Id("Tools").Call()).Block(
			jen.If(jen.Id("tool").Dot("AnswersTo").Call(jen.Id("name"))).Block(jen.Return(jen.Id("tool"), jen.True())),
		),
		jen.Return(tool.Clone().Values(), jen.False()),
	)
	return documented(declaration, "Lookup describes the tool of that name.")
}

// commandLines emits the list of the command lines that tools run.
func (g *generator) commandLines() jen.Code {
	list := jen.Qual(g.runtime.contract, "CommandLines")
	declaration := jen.Func().Id("CommandLines").Params().Add(list).Block(jen.Return(
		list.Clone().ValuesFunc(func(values *jen.Group) {
			for _, cli := range g.contract.CLIs {
				values.Line().ValuesFunc(func(fields *jen.Group) {
					fields.Id("Name").Op(":").Lit(cli.Name)
					fields.Id("Command").Op(":").Add(words(cli.Command))
					if cli.Builtin {
						fields.Id("Builtin").Op(":").True()
					}
					if cli.Env != "" {
						fields.Id("Env").Op(":").Lit(cli.Env)
					}
					if len(cli.PassEnv) > 0 {
						fields.Id("PassEnv").Op(":").Add(words(cli.PassEnv))
					}
				})
			}
			values.Line()
		}),
	))
	return documented(declaration, "CommandLines returns the command lines that tools may run, sorted by name.")
}
