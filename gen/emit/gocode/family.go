package gocode

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/ir"
)

// uses reports whether a tool of the family needs a handler in Go, and whether one runs a command line.
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

// hasEnvelope reports whether a tool of the family answers with an envelope.
func hasEnvelope(family *ir.Family) bool {
	return slices.ContainsFunc(family.Tools, func(t ir.Tool) bool { return t.Answer != ir.TextAnswer && t.Answer != ir.JSONAnswer })
}

// family emits the file that the tools of a family share.
func (g *generator) family(family *ir.Family) (emit.File, error) {
	s := g.newSource(family.Import, family.Package, "the specs of the "+family.Name+" tools")
	for _, line := range comment("Package " + family.Package + " has the types and descriptions of the " + family.Name +
		" tools, and passes their calls to handlers. It must never run a tool itself.") {
		s.PackageComment(line)
	}
	if handler, _ := uses(family); handler {
		s.declare(handlerInterface(family))
	}
	s.declare(familyCall(family))
	return s.emit(path.Join(family.Dir, family.Package+".go"))
}

// quotedList returns each string as a Go literal.
func quotedList(list []string) []string {
	quoted := make([]string, len(list))
	for i := range list {
		quoted[i] = strconv.Quote(list[i])
	}
	return quoted
}

// spellings returns a name, and its form for hosts that allow no dots if it differs.
func spellings(name string) []string {
	return slices.Compact([]string{name, ir.Flat(name)})
}

// The parameters of generated functions.
const (
	ctxParam  = "ctx " + pkgContext + "Context"
	callParam = "call " + pkgContract + "Call"
)

// handlerInterface emits the interface with a method for each tool of a family that needs a handler in Go.
func handlerInterface(family *ir.Family) code {
	var methods code
	for i := range family.Tools {
		tool := &family.Tools[i]
		if tool.Handler != ir.HandlerGo {
			continue
		}
		answer := "*" + rootName(tool)
		switch tool.Answer {
		case ir.TextAnswer:
			answer = "string"
		case ir.JSONAnswer:
			answer = resultName(tool)
		}
		methods = append(methods, comment(tool.GoName+" answers "+tool.Name+": "+lowerFirst(sentence(tool.Summary)))...)
		methods = append(methods, tool.GoName+"("+ctxParam+", "+callParam+", p "+paramsName(tool)+") ("+answer+", error)")
	}
	duties := "An answer must include the notes of the call."
	if slices.ContainsFunc(family.Tools, func(t ir.Tool) bool { return t.Answer == ir.JSONAnswer }) {
		duties += " A result includes them automatically."
	}
	if hasEnvelope(family) {
		duties += " An answer must not be nil if the error is nil."
	}
	return documented(block("type Handler interface", methods...),
		"Handler runs the "+family.Name+" tools. Its parameters are valid and have defaults filled in.",
		duties,
	)
}

// familyCall emits the function Call of a family. A call of the function without a handler fails if the tool needs a
// handler, and works if the tool runs a command line.
func familyCall(family *ir.Family) code {
	handler, cli := uses(family)
	params := []string{ctxParam}
	if handler {
		params = append(params, "h Handler")
	}
	if cli {
		params = append(params, "cli *"+pkgCommandline+"Runner")
	}
	params = append(params, callParam)

	var body, cases code
	var names []string
	if handler && !cli { // otherwise the check is in the cases of the tools that need a handler
		body = block("if h == nil", `return "", `+pkgContract+"Unserved(call.Tool)")
	}
	for i := range family.Tools {
		tool := &family.Tools[i]
		names = append(names, tool.Name)
		if tool.Command != nil {
			allNames := append([]string{tool.Name}, tool.OtherNames()...)
			cases = append(cases, caseClause(quoted(allNames), "return cli.Call(ctx, &"+tableName(tool)+", call)")...)
			continue
		}
		for _, a := range tool.Aliases { // a call under a former name becomes a call under the name
			body = append(body, block("if call.Tool == "+strings.Join(quotedList(spellings(a.Name)), " || call.Tool == "),
				"call = call.Renamed("+strconv.Quote(tool.Name)+", "+strconv.Quote(a.Until)+")")...)
		}
		cases = append(cases, caseClause(quoted(spellings(tool.Name)), answering(tool, cli)...)...)
	}
	body = append(body, dispatch(cases, names)...)
	return documented(block("func Call("+strings.Join(params, ", ")+") (string, error)", body...),
		"Call runs one of the "+family.Name+" tools and returns its answer. For invalid arguments it returns a [contract.InvalidArguments] with every problem.",
	)
}

// answering returns the statements that answer a call of a tool in Go. cli is true if its family also has tools that
// run command lines.
func answering(tool *ir.Tool, cli bool) code {
	function := "Answer"
	switch tool.Answer {
	case ir.TextAnswer:
		function = "Text"
	case ir.JSONAnswer:
		function = "Result"
	}
	answer := "return " + pkgEnvelope + function + "(ctx, call, " + toolFunc(tool) + "(), h." + tool.GoName + ")"
	if !cli {
		return code{answer}
	}
	return append(block("if h == nil", `return "", `+pkgContract+"Unserved(call.Tool)"), answer)
}

// dispatch returns a switch on the name of a tool with the given cases. The error for an unknown name lists names.
func dispatch(cases code, names []string) code {
	unknown := code{"default:", `return "", ` + pkgContract + "UnknownTool(call.Tool, []string{" + quoted(names) + "})"}
	return block("switch call.Tool", append(cases, unknown...)...)
}
