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
	codes := t.tool.Command.OKExit
	if len(codes) == 0 {
		codes = []int{0}
	}
	accepted := jen.Empty()
	for i, code := range codes {
		if i > 0 {
			accepted.Op("||")
		}
		accepted.Id("code").Op("==").Lit(code)
	}
	return []jen.Code{
		documented(jen.Const().Id(cli).Op("=").Lit(t.tool.Command.CLI), cli+" is the name of the command line that "+t.tool.Name+" runs."),
		documented(
			jen.Func().Id(exitOK).Params(jen.Id("code").Int()).Bool().Block(jen.Return(accepted)),
			exitOK+" reports whether the command line's exit code is one of an answer, and not of a failure.",
		),
		arguments,
	}, nil
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
		w.value = glue(arg.Prefix, jen.Id("item"))
		w.wrap = func(code jen.Code) jen.Code {
			return jen.For(jen.List(jen.Id("_"), jen.Id("item")).Op(":=").Range().Add(list)).Block(code)
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
