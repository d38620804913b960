package gocode

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// toolCode builds the file of one tool.
type toolCode struct {
	*generator
	tool     *ir.Tool
	matchers []jen.Code // functions that match patterns, found while building
	matched  []string   // their names
}

// Names of the unexported parts of a tool. No exported name can clash with them,
// and each ends in the tool's own name.
func (t *toolCode) namesFunc() string   { return "names" + t.tool.GoName }
func (t *toolCode) exampleName() string { return "example" + t.tool.GoName }
func (t *toolCode) schemaName() string  { return "schema" + t.tool.GoName }
func (t *toolCode) commandFunc() string { return "command" + t.tool.GoName }
func callFunc(tool *ir.Tool) string     { return "call" + tool.GoName }
func toolFunc(tool *ir.Tool) string     { return tool.GoName + "Tool" }
func maxCharsName(tool *ir.Tool) string { return tool.GoName + "MaxChars" }

// tool emits the file of one tool.
func (g *generator) tool(family *ir.Family, tool *ir.Tool) (emit.File, error) {
	t := &toolCode{generator: g, tool: tool}
	f := g.newFile(family.Import, family.Package, tool.Source)
	var problems []error
	add := func(code ...jen.Code) {
		for _, c := range code {
			f.Add(c)
			f.Line()
		}
	}
	one := func(code jen.Code, err error) {
		if err != nil {
			problems = append(problems, err)
			return
		}
		add(code)
	}
	many := func(code []jen.Code, err error) {
		problems = append(problems, err)
		add(code...)
	}
	add(t.paramsType())
	add(t.constants(paramsName(tool), tool.GoName, tool.Params)...)
	objects := t.objects()
	for _, o := range objects {
		add(t.objectType(o)...)
	}
	add(t.descriptor()...)
	one(t.coercer())
	for _, o := range objects {
		one(t.objectRepairs(o))
	}
	one(t.validator())
	for _, o := range objects {
		one(t.objectChecks(o))
	}
	add(t.matchers...)
	one(t.binder())
	for _, o := range objects {
		one(t.objectReader(o))
	}
	if tool.Command != nil {
		many(t.command())
	}
	switch t.tool.Answer {
	case ir.JSONAnswer:
		add(t.result()...)
	case ir.TextAnswer:
	default:
		many(t.envelope())
	}
	one(t.caller())
	if err := errors.Join(problems...); err != nil {
		return emit.File{}, err
	}
	return render(f, path.Join(family.Dir, tool.Short+".go"))
}

// descriptor emits what hosts get to see of the tool.
func (t *toolCode) descriptor() []jen.Code {
	var code []jen.Code
	name := toolFunc(t.tool)
	constants := func(g *jen.Group) {
		comment(g, t.schemaName()+" is the JSON Schema of the arguments.")
		g.Id(t.schemaName()).Op("=").Add(raw(t.schemas(t.tool)))
		comment(g, t.exampleName()+" is the arguments of a call that works.")
		g.Id(t.exampleName()).Op("=").Add(raw(exampleFor(t.tool)))
	}
	code = append(code, jen.Const().DefsFunc(constants))
	if limit := t.tool.MaxChars; limit > 0 {
		code = append(code, documented(
			jen.Const().Id(maxCharsName(t.tool)).Op("=").Lit(limit),
			maxCharsName(t.tool)+" is the most characters an answer of "+t.tool.Name+" may have, notes included.",
		))
	}
	fields := []jen.Code{
		jen.Line().Id("Name").Op(":").Lit(t.tool.Name),
		jen.Line().Id("Summary").Op(":").Lit(t.tool.Summary),
		jen.Line().Id("Description").Op(":").Lit(description(t.tool)),
		jen.Line().Id("Effect").Op(":").Lit(string(t.tool.Effect)),
		jen.Line().Id("InputSchema").Op(":").Id(t.schemaName()),
		jen.Line().Id("Hints").Op(":").Add(t.hints()),
		jen.Line().Id("Example").Op(":").Id(t.exampleName()),
	}
	if names := t.tool.OtherNames(); len(names) > 0 {
		fields = append(fields, jen.Line().Id("Aliases").Op(":").Add(words(names)))
	}
	if len(t.tool.Params) > 0 {
		fields = append(fields, jen.Line().Id("Parameters").Op(":").Add(t.parameters()))
		names := make([]string, len(t.tool.Params))
		for i := range t.tool.Params {
			names[i] = t.tool.Params[i].Name
		}
		code = append(code, documented(
			jen.Func().Id(t.namesFunc()).Params().Index().String().Block(jen.Return(words(names))),
			t.namesFunc()+" returns the names of the parameters in the order they are declared.",
		))
	}
	return append(code, documented(
		jen.Func().Id(name).Params().Qual(t.runtime.contract, "Tool").Block(jen.Return(
			jen.Qual(t.runtime.contract, "Tool").Values(append(fields, jen.Line())...),
		)),
		name+" describes "+t.tool.Name+" to a host.",
	))
}

// raw is a string literal as it stands in backquotes, where it may.
func raw(s string) jen.Code {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if !strconv.CanBackquote(s) || strings.ContainsFunc(s, hidden) {
		return jen.Lit(s)
	}
	return jen.Op("`" + s + "`")
}

// hints emits what the tool's effect means to a host.
func (t *toolCode) hints() jen.Code {
	hints := t.tool.Effect.Hints()
	return jen.Qual(t.runtime.contract, "Hints").ValuesFunc(func(g *jen.Group) {
		for _, hint := range []struct {
			name string
			set  bool
		}{{"ReadOnly", hints.ReadOnly}, {"Destructive", hints.Destructive}, {"Idempotent", hints.Idempotent}, {"OpenWorld", hints.OpenWorld}} {
			if hint.set {
				g.Id(hint.name).Op(":").True()
			}
		}
	})
}

// parameters emits what fronts have to know of the parameters.
func (t *toolCode) parameters() jen.Code {
	return jen.Index().Qual(t.runtime.contract, "Parameter").ValuesFunc(func(g *jen.Group) {
		for i := range t.tool.Params {
			p := &t.tool.Params[i]
			g.Line().ValuesFunc(func(g *jen.Group) {
				g.Id("Name").Op(":").Lit(p.Name)
				g.Id("Type").Op(":").Lit(string(p.Kind))
				if p.Kind == ir.Array && p.Item().Kind != ir.String {
					g.Id("Items").Op(":").Lit(string(p.Item().Kind))
				}
				if p.OneOrMany {
					g.Id("OneOrMany").Op(":").True()
				}
				if p.Required {
					g.Id("Required").Op(":").True()
				}
				enum := p.Enum
				if p.Items != nil {
					enum = p.Items.Enum
				}
				if len(enum) > 0 {
					g.Id("Enum").Op(":").Add(words(enum))
				}
			})
		}
		g.Line()
	})
}

// checked emits the way from a call to the variable args, which is ready to be
// bound.
func (t *toolCode) checked() jen.Code {
	return jen.List(jen.Id("args"), jen.Err()).Op(":=").Qual(t.runtime.coerce, "Arguments").Call(
		jen.Op("&").Id("call"), jen.Id("Coerce"+t.tool.GoName), jen.Id("Validate"+t.tool.GoName), jen.Id(t.exampleName()),
	)
}

func (t *toolCode) bound() *jen.Statement { return jen.Id("bind" + t.tool.GoName).Call(jen.Id("args")) }

// caller emits the way from a call to an answer.
func (t *toolCode) caller() (jen.Code, error) {
	switch t.tool.Handler {
	case ir.HandlerGo:
		if t.tool.Answer == ir.JSONAnswer {
			return t.resultCaller(), nil
		}
		return t.handlerCaller(), nil
	case ir.HandlerCommand:
		return t.commandCaller()
	default:
		return nil, fmt.Errorf("%s: unknown handler %q", t.tool.Name, t.tool.Handler)
	}
}

// handlerCaller calls a method of the handler interface.
func (t *toolCode) handlerCaller() jen.Code {
	name := callFunc(t.tool)
	answer := jen.Id("h").Dot(t.tool.GoName).Call(jen.Id("ctx"), jen.Id("call"), t.bound())
	body := []jen.Code{
		t.unserved("h"),
		t.checked(),
		failed(),
	}
	if t.tool.Answer == ir.TextAnswer {
		body = append(body, jen.Return(answer))
	} else {
		body = append(body,
			jen.List(jen.Id("e"), jen.Err()).Op(":=").Add(answer),
			failed(),
			jen.Return(jen.String().Call(jen.Id("e").Dot("Bytes").Call()), jen.Nil()),
		)
	}
	declaration := jen.Func().Id(name).Params(t.context(), jen.Id("h").Id("Handler"), t.call()).Params(jen.String(), jen.Error()).Block(body...)
	return documented(declaration, name+" answers "+t.tool.Name+" with what the handler returns.")
}

func (g *generator) context() jen.Code { return jen.Id("ctx").Qual("context", "Context") }
func (g *generator) call() jen.Code    { return jen.Id("call").Qual(g.runtime.contract, "Call") }

// unserved ends a call for which there is nobody to do the work.
func (t *toolCode) unserved(hand string) jen.Code {
	return jen.If(jen.Id(hand).Op("==").Nil()).Block(
		jen.Return(jen.Lit(""), jen.Qual(t.runtime.contract, "Unserved").Call(jen.Lit(t.tool.Name))),
	)
}

// failed returns an error from a function that returns text.
func failed() jen.Code {
	return jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Lit(""), jen.Err()))
}

// commandCaller runs the tool's command line and makes its records an answer.
func (t *toolCode) commandCaller() (jen.Code, error) {
	shape, err := t.recordShape()
	if err != nil {
		return nil, err
	}
	tool, cli := jen.Lit(t.tool.Name), jen.Id(t.tool.GoName+"CLI")
	items := jen.Id("e").Dot(shape.records)
	notes := jen.Id("e").Dot(shape.notes)
	kept := jen.Id("kept")

	body := []jen.Code{
		t.unserved("cli"),
		t.checked(),
		failed(),
		jen.Id("p").Op(":=").Add(t.bound()),
		jen.List(jen.Id("result"), jen.Err()).Op(":=").Id("cli").Dot("RunCLI").Call(
			jen.Id("ctx"), jen.Id("call").Dot("Context"), t.run(),
		),
		failed(),
		jen.If(jen.Op("!").Id(t.tool.GoName + "ExitOK").Call(jen.Id("result").Dot("Exit"))).Block(
			jen.Return(jen.Lit(""), jen.Qual(t.runtime.contract, "CommandFailed").Call(
				append([]jen.Code{tool, cli, jen.Id("result")}, t.exitFailures()...)...,
			)),
		),
	}
	if t.repeats() {
		body = append(body, jen.Id("e").Op(":=").Id("New"+rootName(t.tool)).Call(jen.Id("p")))
	} else {
		body = append(body, jen.Var().Id("e").Id(rootName(t.tool)))
	}
	decode := jen.If(
		jen.Err().Op(":=").Add(t.decoder(tool, cli, jen.Op("&").Add(items))),
		jen.Err().Op("!=").Nil(),
	).Block(jen.Return(jen.Lit(""), jen.Err()))
	switch empty := t.tool.Command.EmptyExit; {
	case len(empty) == 0:
		body = append(body, decode)
	case len(empty) < len(t.tool.Command.OKExit):
		body = append(body, jen.If(codes("!=", "&&", jen.Id("result").Dot("Exit"), empty)).Block(decode))
	}
	switch {
	case t.tool.MaxChars == 0:
		if shape.count != "" {
			body = append(body, jen.Id("e").Dot(shape.count).Op("=").Len(items))
		}
		body = append(body,
			notes.Clone().Op("=").Id("call").Dot("Notes"),
			jen.Return(jen.String().Call(jen.Id("e").Dot("Bytes").Call()), jen.Nil()),
		)
	case t.tool.Command.Output != nil && t.tool.Command.Output.Form == "text" && shape.hasText:
		body = append(body, t.fitText(shape)...)
	default:
		limit := jen.Id(maxCharsName(t.tool))
		shorten := []jen.Code{items.Clone().Op("=").Id("records").Index(jen.Op(":").Add(kept))}
		if shape.count != "" {
			shorten = append(shorten, jen.Id("e").Dot(shape.count).Op("=").Add(kept))
		}
		shorten = append(shorten,
			notes.Clone().Op("=").Id("call").Dot("Notes"),
			jen.If(kept.Clone().Op("<").Len(jen.Id("records"))).Block(
				notes.Clone().Op("=").Append(notes, jen.Qual(t.runtime.contract, "LeftOut").Call(kept, jen.Len(jen.Id("records")), limit)),
			),
			jen.Return(jen.Id("e").Dot("Bytes").Call()),
		)
		body = append(body,
			jen.Id("records").Op(":=").Add(items),
			jen.List(jen.Id("text"), jen.Id("ok")).Op(":=").Qual(t.runtime.envelope, "Fit").Call(
				limit, jen.Len(jen.Id("records")), jen.Func().Params(jen.Id("kept").Int()).Index().Byte().Block(shorten...),
			),
			jen.If(jen.Op("!").Id("ok")).Block(jen.Return(jen.Lit(""), jen.Qual(t.runtime.contract, "NothingFits").Call(tool, limit))),
			jen.Return(jen.String().Call(jen.Id("text")), jen.Nil()),
		)
	}
	name := callFunc(t.tool)
	declaration := jen.Func().Id(name).Params(t.context(), jen.Id("cli").Qual(t.runtime.contract, "CLI"), t.call()).
		Params(jen.String(), jen.Error()).Block(body...)
	return documented(declaration, name+" answers "+t.tool.Name+" with the records that its command line prints."), nil
}

// fitText returns the one record of a command that prints a text, without the middle
// of a text that is too long for the answer.
func (t *toolCode) fitText(shape recordShape) []jen.Code {
	limit := jen.Id(maxCharsName(t.tool))
	e := jen.Id("e")
	items, notes := e.Clone().Dot(shape.records), e.Clone().Dot(shape.notes)
	text := func(record *jen.Statement) *jen.Statement {
		if shape.bare {
			return record
		}
		return record.Dot("Text")
	}
	var body []jen.Code
	if shape.count != "" {
		body = append(body, e.Clone().Dot(shape.count).Op("=").Len(items))
	}
	return append(body,
		jen.Var().Id("printed").String(),
		jen.For(jen.List(jen.Id("_"), jen.Id("record")).Op(":=").Range().Add(items)).Block(
			jen.Id("printed").Op("=").Add(text(jen.Id("record"))),
		),
		jen.List(jen.Id("text"), jen.Id("ok")).Op(":=").Qual(t.runtime.envelope, "FitText").Call(
			limit, jen.Id("printed"), jen.Func().Params(jen.Id("part").String(), jen.List(jen.Id("kept"), jen.Id("all")).Int()).Index().Byte().Block(
				jen.For(jen.Id("i").Op(":=").Range().Add(items)).Block(text(items.Clone().Index(jen.Id("i"))).Op("=").Id("part")),
				notes.Clone().Op("=").Id("call").Dot("Notes"),
				jen.If(jen.Id("kept").Op("<").Id("all")).Block(
					notes.Clone().Op("=").Append(notes, jen.Qual(t.runtime.contract, "MiddleLeftOut").Call(jen.Id("kept"), jen.Id("all"), limit)),
				),
				jen.Return(e.Clone().Dot("Bytes").Call()),
			),
		),
		jen.If(jen.Op("!").Id("ok")).Block(jen.Return(jen.Lit(""), jen.Qual(t.runtime.contract, "NothingFits").Call(jen.Lit(t.tool.Name), limit))),
		jen.Return(jen.String().Call(jen.Id("text")), jen.Nil()),
	)
}

// decoder calls what reads the records that a command printed.
func (t *toolCode) decoder(tool, cli, records jen.Code) jen.Code {
	o := t.tool.Command.Output
	if o == nil {
		return jen.Qual(t.runtime.contract, "DecodeRecords").Call(tool, cli, jen.Id("result").Dot("Stdout"), records)
	}
	var values []jen.Code
	if o.Form != "" {
		form := map[string]string{
			"json": "OutputJSON", "json_object": "OutputJSONObject", "json_lines": "OutputJSONLines",
			"delimited": "OutputDelimited", "regexp": "OutputRegexp", "text": "OutputText",
		}[o.Form]
		values = append(values, jen.Line().Id("Form").Op(":").Qual(t.runtime.contract, form))
	}
	if len(o.Path) > 0 {
		values = append(values, jen.Line().Id("Path").Op(":").Add(words(o.Path)))
	}
	if o.MayBeAbsent {
		values = append(values, jen.Line().Id("MayBeAbsent").Op(":").True())
	}
	if len(o.Fields) > 0 {
		values = append(values, jen.Line().Id("Fields").Op(":").Index().Qual(t.runtime.contract, "OutputField").ValuesFunc(func(g *jen.Group) {
			for _, f := range o.Fields {
				field := []jen.Code{jen.Id("Name").Op(":").Lit(f.Name)}
				if f.Type != "" {
					field = append(field, jen.Id("Type").Op(":").Lit(string(f.Type)))
				}
				if len(f.Path) > 0 {
					field = append(field, jen.Id("Path").Op(":").Add(words(f.Path)))
				}
				g.Line().Values(field...)
			}
			g.Line()
		}))
	}
	if o.Form == "delimited" {
		values = append(values, jen.Line().Id("Separator").Op(":").Lit(o.Separator), jen.Line().Id("End").Op(":").Lit(o.End))
	}
	if o.Pattern != "" {
		values = append(values, jen.Line().Id("Pattern").Op(":").Lit(o.Pattern))
	}
	if o.Skip != "" {
		values = append(values, jen.Line().Id("Skip").Op(":").Lit(o.Skip))
	}
	return jen.Qual(t.runtime.contract, "DecodeOutput").Call(
		tool, cli, jen.Qual(t.runtime.contract, "Output").Values(append(values, jen.Line())...), jen.Id("result").Dot("Stdout"), records,
	)
}

// recordShape is where a command's records, their number and the notes go in
// the root.
type recordShape struct {
	records, notes, count string
	bare                  bool // a record is a text
	hasText               bool // or has one as its body
}

func (t *toolCode) recordShape() (recordShape, error) {
	var shape recordShape
	if t.tool.Command == nil {
		return shape, fmt.Errorf("%s: its handler is a command, and it has none", t.tool.Name)
	}
	root := t.tool.Envelope.Element(t.tool.Envelope.Root)
	for _, c := range root.Children {
		child := t.tool.Envelope.Element(c.Element)
		switch {
		case c.Many && c.From == records:
			if shape.records != "" {
				return shape, fmt.Errorf("%s: both %s and %s are filled from the records of its command", t.tool.Name, shape.records, c.GoName)
			}
			shape.records = c.GoName
			shape.bare, shape.hasText = child.Bare(), child.Bare() || child.Body != ir.NoBody
		case c.Many && c.Element == "note" && child.Bare():
			shape.notes = c.GoName
		}
	}
	for _, a := range root.Attributes {
		if a.From == "count" && a.Type == ir.IntegerAttribute && a.Presence != ir.Nullable {
			shape.count = a.GoName
		} else if a.Fixed == "" && a.Param == "" {
			return shape, fmt.Errorf("%s: nothing fills the attribute %s of its root: a command's answer has the records' count, parameters and constants", t.tool.Name, a.Name)
		}
	}
	switch {
	case shape.records == "":
		return shape, fmt.Errorf("%s: no repeated child of its root is filled from the records of its command", t.tool.Name)
	case shape.notes == "":
		return shape, fmt.Errorf("%s: its root has no repeated child note, which is where repairs and left out records are told", t.tool.Name)
	}
	return shape, nil
}

// description is what a tool says about itself behind its summary. Rules between
// parameters are part of it: no schema that every model provider takes can hold
// them.
func description(tool *ir.Tool) string {
	paragraphs := lower.Paragraphs(tool.Description)
	var rules []string
	for _, r := range tool.Rules {
		rules = append(rules, lower.RuleSentence(r))
	}
	if len(rules) > 0 {
		paragraphs = append(paragraphs, strings.Join(rules, " "))
	}
	return strings.Join(paragraphs, "\n\n")
}
