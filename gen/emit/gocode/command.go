package gocode

import (
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/gen/ir"
)

// toolCode builds what a tool has whose work is a command line.
type toolCode struct {
	*generator
	tool *ir.Tool
}

// Names of the unexported parts of a tool. No exported name can clash with them,
// and each ends in the tool's own name.
func (t *toolCode) commandFunc() string { return "command" + t.tool.GoName }
func callFunc(tool *ir.Tool) string     { return "call" + tool.GoName }

// command emits what is known about a tool's command line: its name, its exit
// codes and its arguments.
func (t *toolCode) command() []code {
	cli, exitOK := t.tool.GoName+"CLI", t.tool.GoName+"ExitOK"
	accepted := t.tool.Command.OKExit
	if len(accepted) == 0 {
		accepted = []int{0}
	}
	declarations := []code{
		documented(code{"const " + cli + " = " + strconv.Quote(t.tool.Command.CLI)}, cli+" is the name of the command line that "+t.tool.Name+" runs."),
		documented(
			block("func "+exitOK+"(code int) bool", "return "+codes("==", "||", "code", accepted)),
			exitOK+" reports whether the command line's exit code is one of an answer, and not of a failure.",
		),
		t.arguments(),
	}
	if t.tool.Handler == ir.HandlerCommand && t.tool.Command.Surroundings() {
		declarations = append(declarations, t.surroundings())
	}
	return declarations
}

// codes compares an exit code with each of a list.
func codes(compare, join, exit string, list []int) string {
	all := make([]string, len(list))
	for i, code := range list {
		all[i] = exit + " " + compare + " " + strconv.Itoa(code)
	}
	return strings.Join(all, " "+join+" ")
}

// run is the command that the tool runs.
func (t *toolCode) run() string {
	if t.tool.Command.Surroundings() {
		return t.commandFunc() + "(p, call.Context)"
	}
	return pkgContract + "Command{CLI: " + t.tool.GoName + "CLI, Args: " + t.argv("call.Context") + "}"
}

// argv is the arguments of the command.
func (t *toolCode) argv(call string) string { return t.tool.GoName + "Args(p, " + call + ")" }

// ofParams is the signature of a function of parameters.
func (t *toolCode) ofParams(name, result string) string {
	return "func " + name + "(p " + paramsName(t.tool) + ", call " + pkgContract + "Context) " + result
}

// surroundings emits the function that returns a command with what is around it. What
// depends on a parameter that may be absent is added behind the literal.
func (t *toolCode) surroundings() code {
	c := t.tool.Command
	fields := code{"CLI: " + t.tool.GoName + "CLI,", "Args: " + t.argv("call") + ","}
	var body code
	if c.Dir != "" {
		fields = append(fields, "Dir: "+strconv.Quote(c.Dir)+",")
	}
	if c.Timeout != 0 {
		fields = append(fields, "Timeout: "+strconv.Itoa(c.Timeout)+" * "+pkgTime+"Second,")
	}
	if c.Stdin != nil {
		word := t.word(*c.Stdin)
		text := "[]byte(" + word.alone() + ")"
		if word.wrap == nil {
			fields = append(fields, "Stdin: "+text+",")
		} else {
			body = append(body, word.wrap(code{"command.Stdin = " + text})...)
		}
	}
	var always []string // the variables that are never left out
	for _, v := range c.Env {
		entry := v.Value
		entry.Prefix = v.Name + "=" + entry.Prefix
		word := t.word(entry)
		if word.wrap == nil {
			always = append(always, word.alone())
			continue
		}
		body = append(body, word.wrap(code{"command.Env = append(command.Env, " + word.argument() + ")"})...)
	}
	if len(always) > 0 {
		fields = append(fields, "Env: []string{"+strings.Join(always, ", ")+"},")
	}
	head := "return "
	if len(body) > 0 {
		head = "command := "
		body = append(body, "return command")
	}
	body = slices.Concat(lines(head+pkgContract+"Command", fields), body)
	return documented(block(t.ofParams(t.commandFunc(), pkgContract+"Command"), body...),
		t.commandFunc()+" returns the command that "+t.tool.Name+" runs.")
}

// exitFailures is what exit codes mean that are not those of an answer.
func (t *toolCode) exitFailures() code {
	var list code
	for _, f := range t.tool.Command.Failures {
		for _, exit := range f.Exit {
			values := "Exit: " + strconv.Itoa(exit) + ", Reason: " + strconv.Quote(f.Reason)
			if f.Caller {
				values += ", Caller: true"
			}
			if f.Transient {
				values += ", Transient: true"
			}
			list = append(list, pkgOutput+"ExitFailure{"+values+"},")
		}
	}
	return list
}

// arguments emits the function that builds the command line. Words that are
// always there go in together, in one literal or one append.
func (t *toolCode) arguments() code {
	name := t.tool.GoName + "Args"
	var body code
	var pending []word
	begun := false
	flush := func() {
		switch {
		case !begun && len(pending) > 0:
			body = append(body, "args := "+list(pending))
		case !begun:
			body = append(body, "var args []string")
		case len(pending) > 0:
			body = append(body, "args = "+appended(pending))
		}
		begun, pending = true, nil
	}
	for _, arg := range t.tool.Command.Args {
		w := t.word(arg)
		if w.wrap == nil {
			pending = append(pending, w)
			continue
		}
		flush()
		body = append(body, w.wrap(code{"args = " + appended([]word{w})})...)
	}
	switch {
	case !begun && len(pending) > 0:
		body = append(body, "return "+list(pending))
	case !begun:
		body = append(body, "return nil")
	case len(pending) > 0:
		body = append(body, "return "+appended(pending))
	default:
		body = append(body, "return args")
	}
	return documented(block(t.ofParams(name, "[]string"), body...),
		name+" returns the arguments of the command line that "+t.tool.Name+" runs. A flag and its value are one word, so that a value can never become a flag.",
	)
}

// lines is a statement with a literal at its end.
func lines(head string, fields code) code {
	if len(fields) == 0 {
		return code{head + "{}"}
	}
	return append(append(code{head + "{"}, fields...), "}")
}

// repeats reports whether attributes of the root repeat parameters.
func (t *toolCode) repeats() bool {
	return len(repeated(t.tool, t.tool.Envelope.Element(t.tool.Envelope.Root))) > 0
}

// records marks the children that are filled from the command's JSON array.
const records = "records"

// failed returns an error from a function that returns text.
func failed() code { return block("if err != nil", `return "", err`) }

func list(words []word) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = w.alone()
	}
	return "[]string{" + strings.Join(all, ", ") + "}"
}

func appended(words []word) string {
	all := "append(args"
	for _, w := range words {
		all += ", " + w.argument()
	}
	return all + ")"
}

// word is one argument: literal text and a value, and what has to hold for it to be
// there. A nil wrap is an argument that is always there.
type word struct {
	prefix string // a literal, or nothing
	value  string // nothing where there is a literal alone
	wrap   func(code) code
}

// alone is the word where a sum has blanks, argument where it has none: among the
// arguments of a call.
func (w word) alone() string    { return w.sum(" + ") }
func (w word) argument() string { return w.sum("+") }

func (w word) sum(plus string) string {
	if w.prefix == "" || w.value == "" {
		plus = ""
	}
	return w.prefix + plus + w.value
}

func (t *toolCode) word(arg ir.Arg) word {
	var conditions []string
	var w word
	if arg.Prefix != "" || arg.Value == nil {
		w.prefix = strconv.Quote(arg.Prefix)
	}
	switch {
	case arg.Value == nil:
	case arg.Value.Context != "":
		w.value = "call." + contextField(arg.Value.Context)
		conditions = append(conditions, w.value+` != ""`)
	default:
		p := t.tool.Param(arg.Value.Param)
		source := "p." + p.GoName
		if p.Pointer() {
			conditions = append(conditions, source+" != nil")
			source = "*" + source
		}
		w.value = scalarText(p.Kind, source)
	}
	for _, gate := range []struct {
		param string
		want  bool
	}{{arg.When, true}, {arg.Unless, false}} {
		if gate.param == "" {
			continue
		}
		conditions = append([]string{t.boolean(gate.param, gate.want)}, conditions...)
	}
	if arg.Repeat {
		values := "p." + t.tool.Param(arg.Value.Param).GoName
		if kind := t.tool.Param(arg.Value.Param).Item().Kind; kind == ir.String && arg.Prefix == "" {
			w.value = values + "..."
			w.wrap = func(c code) code { return c }
		} else {
			w.value = scalarText(kind, "item")
			w.wrap = func(c code) code { return block("for _, item := range "+values, c...) }
		}
	}
	if len(conditions) > 0 {
		inner := w.wrap
		w.wrap = func(c code) code {
			if inner != nil {
				c = inner(c)
			}
			return block("if "+conjunction(conditions), c...)
		}
	}
	return w
}

func conjunction(conditions []string) string {
	if len(conditions) == 1 {
		return conditions[0]
	}
	all := make([]string, len(conditions))
	for i, c := range conditions {
		all[i] = c
		if strings.Contains(c, "||") {
			all[i] = "(" + c + ")"
		}
	}
	return strings.Join(all, " && ")
}

// scalarText is a scalar as a string.
func scalarText(kind ir.Kind, value string) string {
	switch kind {
	case ir.Integer:
		return pkgStrconv + "Itoa(" + value + ")"
	case ir.Number:
		return pkgStrconv + "FormatFloat(" + value + ", 'f', -1, 64)"
	case ir.Boolean:
		return pkgStrconv + "FormatBool(" + value + ")"
	default:
		return value
	}
}

// boolean is the condition that a boolean parameter is true, or that it is not.
func (t *toolCode) boolean(name string, want bool) string {
	p := t.tool.Param(name)
	value := "p." + p.GoName
	switch {
	case p.Pointer() && want:
		return value + " != nil && *" + value
	case p.Pointer():
		return value + " == nil || !*" + value
	case want:
		return value
	default:
		return "!" + value
	}
}

// contextField is the field of contract.Context that specs know by another name.
func contextField(name string) string {
	if name == "dir" {
		return "Dir"
	}
	return "ConversationID"
}

// commandCaller runs the tool's command line and makes its records an answer.
func (t *toolCode) commandCaller() code {
	shape := t.recordShape()
	tool, cli := strconv.Quote(t.tool.Name), t.tool.GoName+"CLI"
	items, notes := "e."+shape.records, "e."+shape.notes

	body := slices.Concat(
		block("if cli == nil", `return "", `+pkgContract+"Unserved("+strconv.Quote(t.tool.Name)+")"),
		code{"tool := " + toolFunc(t.tool) + "()", "p, err := " + pkgCoerce + "Params[" + paramsName(t.tool) + "](&call, &tool)"},
		failed(),
		code{"result, err := cli.RunCLI(ctx, call.Context, " + t.run() + ")"},
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
		body = append(body, notes+" = call.Notes", "return string("+pkgEnvelope+"Document(&e)), nil")
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
		body = append(body, "return "+pkgEnvelope+"Document(&e)", "})")
		body = append(body, t.fitted(limit)...)
	}
	return documented(block("func "+callFunc(t.tool)+"("+ctxParam+", cli "+pkgContract+"CLI, "+callParam+") (string, error)", body...),
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
	return append(append(code{call + ","}, failures...), ")")
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
		code{"return " + pkgEnvelope + "Document(&e)", "})"},
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
	field := func(name, value string) { fields = append(fields, name+": "+value+",") }
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
	lines := lines(begin+tool+", "+cli+", "+pkgOutput+"Shape", fields)
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
