package gocode

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/convtools/convtools/gen/ir"
)

// command emits what is known about a tool's command line: its name, its exit
// codes and its arguments.
func (t *toolCode) command() ([]jen.Code, error) {
	arguments, err := t.arguments()
	if err != nil {
		return nil, err
	}
	cli, exitOK := t.tool.GoName+"CLI", t.tool.GoName+"ExitOK"
	accepted := t.tool.Command.OKExit
	if len(accepted) == 0 {
		accepted = []int{0}
	}
	code := []jen.Code{
		documented(jen.Const().Id(cli).Op("=").Lit(t.tool.Command.CLI), cli+" is the name of the command line that "+t.tool.Name+" runs."),
		documented(
			jen.Func().Id(exitOK).Params(jen.Id("code").Int()).Bool().Block(jen.Return(codes("==", "||", jen.Id("code"), accepted))),
			exitOK+" reports whether the command line's exit code is one of an answer, and not of a failure.",
		),
		arguments,
	}
	if t.tool.Handler == ir.HandlerCommand && t.tool.Command.Surroundings() {
		surroundings, err := t.surroundings()
		if err != nil {
			return nil, err
		}
		code = append(code, surroundings)
	}
	return code, nil
}

// codes compares an exit code with each of a list.
func codes(compare, join string, exit *jen.Statement, list []int) *jen.Statement {
	all := jen.Empty()
	for i, code := range list {
		if i > 0 {
			all.Op(join)
		}
		all.Add(exit.Clone()).Op(compare).Lit(code)
	}
	return all
}

// run is the command that the tool runs.
func (t *toolCode) run() jen.Code {
	if t.tool.Command.Surroundings() {
		return jen.Id(t.commandFunc()).Call(jen.Id("p"), jen.Id("call").Dot("Context"))
	}
	return jen.Qual(t.runtime.contract, "Command").Values(t.argv(jen.Id("call").Dot("Context"))...)
}

// argv is the fields of a command that every command has.
func (t *toolCode) argv(call jen.Code) []jen.Code {
	return []jen.Code{
		jen.Id("CLI").Op(":").Id(t.tool.GoName + "CLI"),
		jen.Id("Args").Op(":").Id(t.tool.GoName+"Args").Call(jen.Id("p"), call),
	}
}

// surroundings emits the function that returns a command with what is around it. What
// depends on a parameter that may be absent is added behind the literal.
func (t *toolCode) surroundings() (jen.Code, error) {
	c := t.tool.Command
	fields := t.argv(jen.Id("call"))
	var body []jen.Code
	if c.Dir != "" {
		fields = append(fields, jen.Id("Dir").Op(":").Lit(c.Dir))
	}
	if c.Timeout != 0 {
		fields = append(fields, jen.Id("Timeout").Op(":").Lit(c.Timeout).Op("*").Qual("time", "Second"))
	}
	command := jen.Id("command")
	if c.Stdin != nil {
		word, err := t.word(*c.Stdin)
		if err != nil {
			return nil, fmt.Errorf("%s: standard input of its command: %w", t.tool.Name, err)
		}
		text := jen.Index().Byte().Call(word.value)
		if word.wrap == nil {
			fields = append(fields, jen.Id("Stdin").Op(":").Add(text))
		} else {
			body = append(body, word.wrap(command.Clone().Dot("Stdin").Op("=").Add(text)))
		}
	}
	var always []jen.Code // the variables that are never left out
	for _, v := range c.Env {
		entry := v.Value
		entry.Prefix = v.Name + "=" + entry.Prefix
		word, err := t.word(entry)
		if err != nil {
			return nil, fmt.Errorf("%s: environment variable %s of its command: %w", t.tool.Name, v.Name, err)
		}
		if word.wrap == nil {
			always = append(always, word.value)
			continue
		}
		env := command.Clone().Dot("Env")
		body = append(body, word.wrap(env.Clone().Op("=").Append(env.Clone(), word.value)))
	}
	if len(always) > 0 {
		fields = append(fields, jen.Id("Env").Op(":").Index().String().Values(always...))
	}
	literal := jen.Qual(t.runtime.contract, "Command").ValuesFunc(func(g *jen.Group) {
		for _, f := range fields {
			g.Line().Add(f)
		}
		g.Line()
	})
	if len(body) == 0 {
		body = []jen.Code{jen.Return(literal)}
	} else {
		body = append([]jen.Code{command.Clone().Op(":=").Add(literal)}, append(body, jen.Return(command))...)
	}
	declaration := jen.Func().Id(t.commandFunc()).Params(
		jen.Id("p").Id(paramsName(t.tool)), jen.Id("call").Qual(t.runtime.contract, "Context"),
	).Qual(t.runtime.contract, "Command").Block(body...)
	return documented(declaration, t.commandFunc()+" returns the command that "+t.tool.Name+" runs."), nil
}

// exitFailures is what exit codes mean that are not those of an answer.
func (t *toolCode) exitFailures() []jen.Code {
	var list []jen.Code
	for _, f := range t.tool.Command.Failures {
		for _, exit := range f.Exit {
			values := []jen.Code{jen.Id("Exit").Op(":").Lit(exit), jen.Id("Reason").Op(":").Lit(f.Reason)}
			if f.Caller {
				values = append(values, jen.Id("Caller").Op(":").True())
			}
			if f.Transient {
				values = append(values, jen.Id("Transient").Op(":").True())
			}
			list = append(list, jen.Line().Qual(t.runtime.contract, "ExitFailure").Values(values...))
		}
	}
	if len(list) > 0 {
		list = append(list, jen.Line())
	}
	return list
}

// arguments emits the function that builds the command line. Words that are
// always there go in together, in one literal or one append.
func (t *toolCode) arguments() (jen.Code, error) {
	name := t.tool.GoName + "Args"
	var body, pending []jen.Code
	begun := false
	flush := func() {
		switch {
		case !begun && len(pending) > 0:
			body = append(body, jen.Id("args").Op(":=").Index().String().Values(pending...))
		case !begun:
			body = append(body, jen.Var().Id("args").Index().String())
		case len(pending) > 0:
			body = append(body, add(pending...))
		}
		begun, pending = true, nil
	}
	for _, arg := range t.tool.Command.Args {
		word, err := t.word(arg)
		if err != nil {
			return nil, fmt.Errorf("%s: argument %q of its command: %w", t.tool.Name, arg.Prefix, err)
		}
		if word.wrap == nil {
			pending = append(pending, word.value)
			continue
		}
		flush()
		body = append(body, word.wrap(add(word.value)))
	}
	switch {
	case !begun && len(pending) > 0:
		body = append(body, jen.Return(jen.Index().String().Values(pending...)))
	case !begun:
		body = append(body, jen.Return(jen.Nil()))
	case len(pending) > 0:
		body = append(body, jen.Return(jen.Append(append([]jen.Code{jen.Id("args")}, pending...)...)))
	default:
		body = append(body, jen.Return(jen.Id("args")))
	}
	declaration := jen.Func().Id(name).Params(
		jen.Id("p").Id(paramsName(t.tool)), jen.Id("call").Qual(t.runtime.contract, "Context"),
	).Index().String().Block(body...)
	return documented(declaration,
		name+" returns the arguments of the command line that "+t.tool.Name+" runs. A flag and its value are one word, so that a value can never become a flag.",
	), nil
}

func add(words ...jen.Code) jen.Code {
	return jen.Id("args").Op("=").Append(append([]jen.Code{jen.Id("args")}, words...)...)
}

// word is one argument: its value, and what has to hold for it to be there. A
// nil wrap is an argument that is always there.
type word struct {
	value jen.Code
	wrap  func(jen.Code) jen.Code
}

func (t *toolCode) word(arg ir.Arg) (word, error) {
	var conditions []jen.Code
	var value jen.Code
	switch {
	case arg.Value == nil && arg.Repeat:
		return word{}, fmt.Errorf("there is nothing to repeat it for")
	case arg.Value == nil:
		value = jen.Lit(arg.Prefix)
	case arg.Value.Context != "":
		contextField, err := contextField(arg.Value.Context)
		if err != nil {
			return word{}, err
		}
		source := jen.Id("call").Dot(contextField)
		conditions = append(conditions, source.Clone().Op("!=").Lit(""))
		value = glue(arg.Prefix, source)
	default:
		p := t.tool.Param(arg.Value.Param)
		if p == nil {
			return word{}, fmt.Errorf("there is no parameter %q", arg.Value.Param)
		}
		if arg.Repeat != (p.Kind == ir.Array) {
			return word{}, fmt.Errorf("%s is of type %s: arrays, and nothing else, are repeated", p.Name, p.Kind)
		}
		source := jen.Id("p").Dot(p.GoName)
		if p.Pointer() {
			conditions = append(conditions, source.Clone().Op("!=").Nil())
			source = jen.Op("*").Add(source)
		}
		value = glue(arg.Prefix, scalarText(p.Kind, source))
	}
	for _, gate := range []struct {
		param string
		want  bool
	}{{arg.When, true}, {arg.Unless, false}} {
		if gate.param == "" {
			continue
		}
		condition, err := t.boolean(gate.param, gate.want)
		if err != nil {
			return word{}, err
		}
		conditions = append([]jen.Code{condition}, conditions...)
	}
	w := word{value: value}
	if arg.Repeat {
		list := jen.Id("p").Dot(t.tool.Param(arg.Value.Param).GoName)
		if kind := t.tool.Param(arg.Value.Param).Item().Kind; kind == ir.String && arg.Prefix == "" {
			w.value = list.Op("...")
			w.wrap = func(code jen.Code) jen.Code { return code }
		} else {
			w.value = glue(arg.Prefix, scalarText(kind, jen.Id("item")))
			w.wrap = func(code jen.Code) jen.Code {
				return jen.For(jen.List(jen.Id("_"), jen.Id("item")).Op(":=").Range().Add(list)).Block(code)
			}
		}
	}
	if len(conditions) > 0 {
		inner := w.wrap
		w.wrap = func(code jen.Code) jen.Code {
			if inner != nil {
				code = inner(code)
			}
			return jen.If(jen.Add(conjunction(conditions))).Block(code)
		}
	}
	return w, nil
}

// glue joins literal text and a value into one word.
func glue(prefix string, value jen.Code) jen.Code {
	if prefix == "" {
		return value
	}
	return jen.Lit(prefix).Op("+").Add(value)
}

func conjunction(conditions []jen.Code) jen.Code {
	s := jen.Add(conditions[0])
	for _, c := range conditions[1:] {
		s.Op("&&").Add(c)
	}
	return s
}

// scalarText is a scalar as a string.
func scalarText(kind ir.Kind, value jen.Code) jen.Code {
	switch kind {
	case ir.Integer:
		return jen.Qual("strconv", "Itoa").Call(value)
	case ir.Number:
		return jen.Qual("strconv", "FormatFloat").Call(value, jen.LitRune('f'), jen.Lit(-1), jen.Lit(64))
	case ir.Boolean:
		return jen.Qual("strconv", "FormatBool").Call(value)
	default:
		return value
	}
}

// boolean is the condition that a boolean parameter is true, or that it is not.
func (t *toolCode) boolean(name string, want bool) (jen.Code, error) {
	p := t.tool.Param(name)
	if p == nil || p.Kind != ir.Boolean {
		return nil, fmt.Errorf("%q is no boolean parameter", name)
	}
	value := jen.Id("p").Dot(p.GoName)
	switch {
	case p.Pointer() && want:
		return value.Clone().Op("!=").Nil().Op("&&").Op("*").Add(value), nil
	case p.Pointer():
		return jen.Parens(value.Clone().Op("==").Nil().Op("||").Op("!").Op("*").Add(value)), nil
	case want:
		return value, nil
	default:
		return jen.Op("!").Add(value), nil
	}
}

// contextField is the field of contract.Context that specs know by another name.
func contextField(name string) (string, error) {
	switch name {
	case "conversation_id":
		return "ConversationID", nil
	case "dir":
		return "Dir", nil
	default:
		return "", fmt.Errorf("a call's context has no field %q", name)
	}
}
