package gocode

import (
	"path"

	"github.com/dave/jennifer/jen"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/ir"
)

// dispatch emits the one file that knows all tools.
func (g *generator) dispatch() (emit.File, error) {
	dir := g.contract.Targets.Generated
	f := g.newFile(path.Join(g.contract.Targets.Module, dir), path.Base(dir), "tools.toml")
	f.Add(g.handlers()).Line()
	f.Add(g.dispatcher()).Line()
	f.Add(g.tools()).Line()
	f.Add(g.lookup()).Line()
	if len(g.contract.CLIs) > 0 {
		f.Add(g.cliType()).Line()
		f.Add(g.lookupCLI()).Line()
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
	declaration := jen.Func().Id("Call").Params(g.context(), jen.Id("h").Id("Handlers"), g.call()).Params(jen.String(), jen.Error()).Block(
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

func (g *generator) cliType() jen.Code {
	return documented(jen.Type().Id("CLI").StructFunc(func(fields *jen.Group) {
		comment(fields, "Command is the program and its first words. A tool's arguments follow.")
		fields.Id("Command").Index().String()
		comment(fields, "Builtin command lines are served in this process unless Env names another program.")
		fields.Id("Builtin").Bool()
		comment(fields, "Env is the environment variable that chooses another program, if there is one.")
		fields.Id("Env").String()
	}), "CLI is a command line that tools run.")
}

func (g *generator) lookupCLI() jen.Code {
	var cases []jen.Code
	for _, cli := range g.contract.CLIs {
		values := jen.Dict{jen.Id("Command"): words(cli.Command)}
		if cli.Builtin {
			values[jen.Id("Builtin")] = jen.True()
		}
		if cli.Env != "" {
			values[jen.Id("Env")] = jen.Lit(cli.Env)
		}
		cases = append(cases, jen.Case(jen.Lit(cli.Name)).Block(jen.Return(jen.Id("CLI").Values(values), jen.True())))
	}
	cases = append(cases, jen.Default().Block(jen.Return(jen.Id("CLI").Values(), jen.False())))
	declaration := jen.Func().Id("LookupCLI").Params(jen.Id("name").String()).Params(jen.Id("CLI"), jen.Bool()).Block(
		jen.Switch(jen.Id("name")).Block(cases...),
	)
	return documented(declaration, "LookupCLI returns the command line of that name.")
}
