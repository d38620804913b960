package gocode

import (
	"path"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/ir"
)

// uses is which kinds of handlers the tools of a family need.
func uses(family *ir.Family) (handler, cli bool) {
	for i := range family.Tools {
		switch family.Tools[i].Handler {
		case ir.HandlerGo:
			handler = true
		case ir.HandlerCommand:
			cli = true
		}
	}
	return handler, cli
}

// hasEnvelope reports whether a tool of the family answers with more than text.
func hasEnvelope(family *ir.Family) bool {
	return slices.ContainsFunc(family.Tools, func(t ir.Tool) bool { return t.Answer != ir.TextAnswer && t.Answer != ir.JSONAnswer })
}

// family emits the file that the tools of a family share.
func (g *generator) family(family *ir.Family) (emit.File, error) {
	f := g.newFile(family.Import, family.Package, "the specs of the "+family.Name+" tools")
	parts := "parameters and validators"
	if hasEnvelope(family) {
		parts = "parameters, validators and envelopes"
	}
	for _, line := range commentLines([]string{
		"Package " + family.Package + " has the " + parts + " of the " + family.Name +
			" tools, and hands their calls to whoever does the work. It does no work of its own.",
	}) {
		f.PackageComment("// " + line)
	}
	handler, _ := uses(family)
	if handler {
		f.Add(g.handler(family)).Line()
	}
	f.Add(g.familyCall(family)).Line()
	return render(f, path.Join(family.Dir, family.Package+".go"))
}

// spellings is a name, and how hosts write it that take no dot.
func spellings(name string) []string {
	if flat := ir.Flat(name); flat != name {
		return []string{name, flat}
	}
	return []string{name}
}

// handler emits the interface that does the work of a family.
func (g *generator) handler(family *ir.Family) jen.Code {
	declaration := jen.Type().Id("Handler").InterfaceFunc(func(methods *jen.Group) {
		for i := range family.Tools {
			tool := &family.Tools[i]
			if tool.Handler != ir.HandlerGo {
				continue
			}
			comment(methods, tool.GoName+" answers "+tool.Name+": "+lowerFirst(sentence(tool.Summary)))
			answer := jen.Op("*").Id(rootName(tool))
			switch tool.Answer {
			case ir.TextAnswer:
				answer = jen.String()
			case ir.JSONAnswer:
				answer = jen.Id(resultName(tool))
			}
			methods.Id(tool.GoName).Params(
				g.context(), g.call(), jen.Id("p").Id(paramsName(tool)),
			).Params(answer, jen.Error())
		}
	})
	duties := "The notes of a call have to be carried by the answer."
	if slices.ContainsFunc(family.Tools, func(t ir.Tool) bool { return t.Answer == ir.JSONAnswer }) {
		duties += " A result carries them by itself."
	}
	if hasEnvelope(family) {
		duties += " An answer is never nil where the error is."
	}
	return documented(declaration,
		"Handler does the work of the "+family.Name+" tools. Parameters come to it valid and with defaults filled in.",
		duties,
	)
}

// familyCall emits the dispatcher of a family.
func (g *generator) familyCall(family *ir.Family) jen.Code {
	handler, cli := uses(family)
	parameters := []jen.Code{g.context()}
	if handler {
		parameters = append(parameters, jen.Id("h").Id("Handler"))
	}
	if cli {
		parameters = append(parameters, jen.Id("cli").Qual(g.runtime.contract, "CLI"))
	}
	parameters = append(parameters, g.call())

	var cases []jen.Code
	var names []string
	for i := range family.Tools {
		tool := &family.Tools[i]
		hand := "h"
		if tool.Handler == ir.HandlerCommand {
			hand = "cli"
		}
		names = append(names, tool.Name)
		run := func(call *jen.Statement) jen.Code {
			return jen.Return(jen.Id(callFunc(tool)).Call(jen.Id("ctx"), jen.Id(hand), call))
		}
		cases = append(cases, jen.Case(literals(spellings(tool.Name))...).Block(run(jen.Id("call"))))
		for _, a := range tool.Aliases {
			renamed := jen.Id("call").Dot("Renamed").Call(jen.Lit(tool.Name), jen.Lit(a.Until))
			cases = append(cases, jen.Case(literals(spellings(a.Name))...).Block(run(renamed)))
		}
	}
	cases = append(cases, jen.Default().Block(jen.Return(jen.Lit(""), jen.Qual(g.runtime.contract, "UnknownTool").Call(
		jen.Id("call").Dot("Tool"), words(names),
	))))
	declaration := jen.Func().Id("Call").Params(parameters...).Params(jen.String(), jen.Error()).Block(
		jen.Switch(jen.Id("call").Dot("Tool")).Block(cases...),
	)
	return documented(declaration,
		"Call runs one of the "+family.Name+" tools and returns its answer. Arguments that cannot be used give a [contract.InvalidArguments] that names every problem at once.",
	)
}
