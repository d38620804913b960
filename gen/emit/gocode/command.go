package gocode

import (
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/gen/ir"
)

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
	fields := code{"CLI:\t" + t.tool.GoName + "CLI,", "Args:\t" + t.argv("call") + ","}
	var body code
	if c.Dir != "" {
		fields = append(fields, "Dir:\t"+strconv.Quote(c.Dir)+",")
	}
	if c.Timeout != 0 {
		fields = append(fields, "Timeout:\t"+strconv.Itoa(c.Timeout)+" * "+pkgTime+"Second,")
	}
	if c.Stdin != nil {
		word := t.word(*c.Stdin)
		text := "[]byte(" + word.alone() + ")"
		if word.wrap == nil {
			fields = append(fields, "Stdin:\t"+text+",")
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
		fields = append(fields, "Env:\t[]string{"+strings.Join(always, ", ")+"},")
	}
	head := "return "
	if len(body) > 0 {
		head = "command := "
		body = append(body, "return command")
	}
	body = slices.Concat(literalOf(head+pkgContract+"Command", fields), body)
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
