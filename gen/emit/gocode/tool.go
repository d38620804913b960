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
func (t *toolCode) commandFunc() string { return "command" + t.tool.GoName }
func callFunc(tool *ir.Tool) string     { return "call" + tool.GoName }
func toolFunc(tool *ir.Tool) string     { return tool.GoName + "Tool" }
func maxCharsName(tool *ir.Tool) string { return tool.GoName + "MaxChars" }

// tool emits the file of one tool.
func (g *generator) tool(family *ir.Family, tool *ir.Tool) (emit.File, error) {
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
	if tool.Command != nil {
		all(t.command()...)
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
		"Hints:\t" + hints(t.tool.Effect.Hints()) + ",",
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
	case t.tool.Handler == ir.HandlerCommand:
		return t.commandCaller()
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
		body = append(body, "return "+answer)
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

// commandCaller runs the tool's command line and makes its records an answer.
func (t *toolCode) commandCaller() code {
	shape := t.recordShape()
	tool, cli := strconv.Quote(t.tool.Name), t.tool.GoName+"CLI"
	items, notes := "e."+shape.records, "e."+shape.notes

	body := slices.Concat(
		t.unserved("cli"),
		code{t.checked()},
		failed(),
		code{"p := " + t.bound(), "result, err := cli.RunCLI(ctx, call.Context, " + t.run() + ")"},
		failed(),
		block("if !"+t.tool.GoName+"ExitOK(result.Exit)", t.commandFailed(tool, cli)...),
	)
	if t.repeats() {
		body = append(body, "e := New"+rootName(t.tool)+"(p)")
	} else {
		body = append(body, "var e "+rootName(t.tool))
	}
	decode := append(t.decoder(tool, cli, "&"+items), `return "", err`, "}")
	switch empty := t.tool.Command.EmptyExit; {
	case len(empty) == 0:
		body = append(body, decode...)
	case len(empty) < len(t.tool.Command.OKExit):
		body = append(body, block("if "+codes("!=", "&&", "result.Exit", empty), decode...)...)
	}
	switch {
	case t.tool.MaxChars == 0:
		if shape.count != "" {
			body = append(body, "e."+shape.count+" = len("+items+")")
		}
		body = append(body, notes+" = call.Notes", "return string(e.Bytes()), nil")
	case t.tool.Command.Output != nil && t.tool.Command.Output.Form == "text" && shape.hasText:
		body = append(body, t.fitText(shape)...)
	default:
		limit := maxCharsName(t.tool)
		body = append(body,
			"records := "+items,
			"text, ok := "+pkgOutput+"Fit("+limit+", len(records), func(kept int) []byte {",
			items+" = records[:kept]",
		)
		if shape.count != "" {
			body = append(body, "e."+shape.count+" = kept")
		}
		body = append(body, notes+" = call.Notes")
		body = append(body, block("if kept < len(records)",
			notes+" = append("+notes+", "+pkgOutput+"LeftOut(kept, len(records), "+limit+"))")...)
		body = append(body, "return e.Bytes()", "})")
		body = append(body, t.fitted(limit)...)
	}
	return documented(t.answering("cli "+pkgContract+"CLI", body),
		callFunc(t.tool)+" answers "+t.tool.Name+" with the records that its command line prints.")
}

// commandFailed ends a call whose command failed. What its exit codes mean is on lines of
// their own.
func (t *toolCode) commandFailed(tool, cli string) code {
	call := `return "", ` + pkgOutput + "CommandFailed(" + tool + ", " + cli + ", result"
	failures := t.exitFailures()
	if len(failures) == 0 {
		return code{call + ")"}
	}
	return append(append(code{call + ",\t"}, failures...), ")")
}

// fitted returns the text that fits, if there is one.
func (t *toolCode) fitted(limit string) code {
	return append(
		block("if !ok", `return "", `+pkgOutput+"NothingFits("+strconv.Quote(t.tool.Name)+", "+limit+")"),
		"return string(text), nil",
	)
}

// fitText returns the one record of a command that prints a text, without the middle
// of a text that is too long for the answer.
func (t *toolCode) fitText(shape recordShape) code {
	limit := maxCharsName(t.tool)
	items, notes := "e."+shape.records, "e."+shape.notes
	text := ".Text"
	if shape.bare {
		text = ""
	}
	var body code
	if shape.count != "" {
		body = code{"e." + shape.count + " = len(" + items + ")"}
	}
	return slices.Concat(body,
		code{"var printed string"},
		block("for _, record := range "+items, "printed = record"+text),
		code{"text, ok := " + pkgOutput + "FitText(" + limit + ", printed, func(part string, kept, all int) []byte {"},
		block("for i := range "+items, items+"[i]"+text+" = part"),
		code{notes + " = call.Notes"},
		block("if kept < all", notes+" = append("+notes+", "+pkgOutput+"MiddleLeftOut(kept, all, "+limit+"))"),
		code{"return e.Bytes()", "})"},
		t.fitted(limit),
	)
}

// decoder is the head of an if statement that reads the records a command printed.
func (t *toolCode) decoder(tool, cli, records string) code {
	const begin, end = "if err := " + pkgOutput + "Decode(", "; err != nil {"
	o := t.tool.Command.Output
	if o == nil {
		return code{begin + tool + ", " + cli + ", " + pkgOutput + "Shape{}, result.Stdout, " + records + ")" + end}
	}
	var fields code
	field := func(name, value string) { fields = append(fields, name+":\t"+value+",") }
	if form, ok := map[string]string{
		"json": "JSON", "json_object": "JSONObject", "json_lines": "JSONLines", "delimited": "Delimited", "regexp": "Regexp", "text": "Text",
	}[o.Form]; ok {
		field("Form", pkgOutput+form)
	}
	if len(o.Path) > 0 {
		field("Path", words(o.Path))
	}
	if o.MayBeAbsent {
		field("MayBeAbsent", "true")
	}
	if len(o.Fields) > 0 {
		fields = append(fields, "Fields: []"+pkgOutput+"Field{")
		for _, f := range o.Fields {
			line := "{Name: " + strconv.Quote(f.Name)
			if f.Type != "" {
				line += ", Type: " + strconv.Quote(string(f.Type))
			}
			if len(f.Path) > 0 {
				line += ", Path: " + words(f.Path)
			}
			fields = append(fields, line+"},")
		}
		fields = append(fields, "},")
	}
	if o.Form == "delimited" {
		field("Separator", strconv.Quote(o.Separator))
		field("End", strconv.Quote(o.End))
	}
	if o.Pattern != "" {
		field("Pattern", strconv.Quote(o.Pattern))
	}
	if o.Skip != "" {
		field("Skip", strconv.Quote(o.Skip))
	}
	lines := literalOf(begin+tool+", "+cli+", "+pkgOutput+"Shape", fields)
	lines[len(lines)-1] += ", result.Stdout, " + records + ")" + end
	return lines
}

// recordShape is where a command's records, their number and the notes go in
// the root.
type recordShape struct {
	records, notes, count string
	bare                  bool // a record is a text
	hasText               bool // or has one as its body
}

func (t *toolCode) recordShape() recordShape {
	var shape recordShape
	root := t.tool.Envelope.Element(t.tool.Envelope.Root)
	for _, c := range root.Children {
		child := t.tool.Envelope.Element(c.Element)
		switch {
		case c.From == records:
			shape.records = c.GoName
			shape.bare, shape.hasText = child.Bare(), child.Body != ir.NoBody
		case c.Element == "note":
			shape.notes = c.GoName
		}
	}
	for _, a := range root.Attributes {
		if a.From == "count" {
			shape.count = a.GoName
		}
	}
	return shape
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
