package gocode

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// toolCode builds the file of one tool.
type toolCode struct {
	*generator
	tool     *ir.Tool
	matchers []code   // functions that match patterns, found while building
	matched  []string // their names
}

// Names of the unexported parts of a tool. No exported name can clash with them,
// and each ends in the tool's own name.
func (t *toolCode) exampleName() string { return "example" + t.tool.GoName }
func (t *toolCode) schemaName() string  { return "schema" + t.tool.GoName }
func callFunc(tool *ir.Tool) string     { return "call" + tool.GoName }
func toolFunc(tool *ir.Tool) string     { return tool.GoName + "Tool" }
func tableName(tool *ir.Tool) string    { return "table" + tool.GoName }
func maxCharsName(tool *ir.Tool) string { return tool.GoName + "MaxChars" }

// tool emits the file of one tool.
func (g *generator) tool(family *ir.Family, tool *ir.Tool) (emit.File, error) {
	if tool.Command != nil {
		return g.table(family, tool)
	}
	t := &toolCode{generator: g, tool: tool}
	s := g.newSource(family.Import, family.Package, tool.Source)
	all := func(declarations ...code) {
		for _, c := range declarations {
			s.declare(c)
		}
	}
	all(t.paramsType())
	all(constants(paramsName(tool), tool.GoName, tool.Params)...)
	objects := t.objects()
	for _, o := range objects {
		all(objectType(o)...)
	}
	all(t.descriptor()...)
	all(t.shape()...)
	all(t.matchers...)
	all(t.binder())
	for _, o := range objects {
		all(objectReader(o))
	}
	switch tool.Answer {
	case ir.JSONAnswer:
		all(t.result()...)
	case ir.TextAnswer:
	default:
		all(t.envelope()...)
	}
	all(t.caller())
	return s.emit(path.Join(family.Dir, tool.Short+".go"))
}

// descriptor emits what hosts get to see of the tool.
func (t *toolCode) descriptor() []code {
	lines := comment(t.schemaName() + " is the JSON Schema of the arguments.")
	lines = append(lines, t.schemaName()+" = "+raw(t.schemas(t.tool)))
	lines = append(lines, comment(t.exampleName()+" is the arguments of a call that works.")...)
	lines = append(lines, t.exampleName()+" = "+raw(exampleFor(t.tool)))
	declarations := []code{constBlock(lines)}
	if limit := t.tool.MaxChars; limit > 0 {
		declarations = append(declarations, documented(
			code{"const " + maxCharsName(t.tool) + " = " + strconv.Itoa(limit)},
			maxCharsName(t.tool)+" is the most characters an answer of "+t.tool.Name+" may have, notes included.",
		))
	}
	fields := code{
		"Name:\t" + strconv.Quote(t.tool.Name) + ",",
		"Summary:\t" + strconv.Quote(t.tool.Summary) + ",",
		"Description:\t" + strconv.Quote(description(t.tool)) + ",",
		"Effect:\t" + strconv.Quote(string(t.tool.Effect)) + ",",
		"InputSchema:\t" + t.schemaName() + ",",
		"Hints:\t" + hints(t.tool.Hints()) + ",",
		"Example:\t" + t.exampleName() + ",",
	}
	if names := t.tool.OtherNames(); len(names) > 0 {
		fields = append(fields, "Aliases:\t"+words(names)+",")
	}
	if len(t.tool.Params) > 0 {
		fields = append(fields, "Parameters:\tshape"+t.tool.GoName+".Parameters(),")
	}
	name := toolFunc(t.tool)
	return append(declarations, documented(
		block("func "+name+"() "+pkgContract+"Tool", literalOf("return "+pkgContract+"Tool", fields)...),
		name+" describes "+t.tool.Name+" to a host.",
	))
}

// raw is a string literal as it stands in backquotes, where it may.
func raw(s string) string {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if !strconv.CanBackquote(s) || strings.ContainsFunc(s, hidden) {
		return strconv.Quote(s)
	}
	return "`" + s + "`"
}

// hints emits what a tool's effect means to a host.
func hints(h ir.Hints) string {
	var set []string
	for _, hint := range []struct {
		name string
		set  bool
	}{{"ReadOnly", h.ReadOnly}, {"Destructive", h.Destructive}, {"Idempotent", h.Idempotent}, {"OpenWorld", h.OpenWorld}} {
		if hint.set {
			set = append(set, hint.name+": true")
		}
	}
	return pkgContract + "Hints{" + strings.Join(set, ", ") + "}"
}

// checked emits the way from a call to the variable args, which is ready to be
// bound.
func (t *toolCode) checked() string {
	return "args, err := " + pkgCoerce + "Arguments(&call, Coerce" + t.tool.GoName + ", Validate" + t.tool.GoName + ", " + t.exampleName() + ")"
}

func (t *toolCode) bound() string { return "bind" + t.tool.GoName + "(args)" }

// caller emits the way from a call to an answer.
func (t *toolCode) caller() code {
	switch {
	case t.tool.Answer == ir.JSONAnswer:
		return t.resultCaller()
	default:
		return t.handlerCaller()
	}
}

// answering is the function that answers a call; hand is who does the work.
func (t *toolCode) answering(hand string, body code) code {
	return block("func "+callFunc(t.tool)+"("+ctxParam+", "+hand+", "+callParam+") (string, error)", body...)
}

// handlerCaller calls a method of the handler interface.
func (t *toolCode) handlerCaller() code {
	answer := "h." + t.tool.GoName + "(ctx, call, " + t.bound() + ")"
	body := slices.Concat(t.unserved("h"), code{t.checked()}, failed())
	if t.tool.Answer == ir.TextAnswer {
		body = append(body, "answer, err := "+answer, "return call.Noted(answer), err")
	} else {
		body = append(body, "return "+pkgEnvelope+"Document("+answer+")")
	}
	return documented(t.answering("h Handler", body), callFunc(t.tool)+" answers "+t.tool.Name+" with what the handler returns.")
}

// unserved ends a call for which there is nobody to do the work.
func (t *toolCode) unserved(hand string) code {
	return block("if "+hand+" == nil", `return "", `+pkgContract+"Unserved("+strconv.Quote(t.tool.Name)+")")
}

// failed returns an error from a function that returns text.
func failed() code { return block("if err != nil", `return "", err`) }

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
