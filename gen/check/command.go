package check

import (
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
)

// contextFields are what a command may take from the call's context.
func contextFields() []string { return []string{"conversation_id"} }

func (c *checker) command(t *ir.Tool, s *spec.Command) *ir.Command {
	out := &ir.Command{CLI: s.CLI.Value}
	var known []string
	for _, cli := range c.project.CLIs {
		known = append(known, cli.Name)
	}
	if s.CLI.Set && !slices.Contains(known, s.CLI.Value) {
		if !c.project.File.Broken {
			c.reportf(s.CLI.At, "CT014", suggest(s.CLI.Value, "declared", known), "%s declares no command line %q", spec.ProjectFile, s.CLI.Value)
		}
	}
	for i, code := range s.OKExit.Value {
		if code < 0 || code > 255 {
			c.reportf(s.OKExit.At.Elem(i), "CT007", "", "%d is not an exit code", code)
			continue
		}
		out.OKExit = append(out.OKExit, int(code))
	}
	if len(out.OKExit) == 0 {
		out.OKExit = []int{0}
	}
	slices.Sort(out.OKExit)
	out.OKExit = slices.Compact(out.OKExit)
	positional := false // behind "--"
	for i := range s.Args {
		a := &s.Args[i]
		arg, ok := c.arg(t, a)
		if !ok {
			continue
		}
		if arg.Value != nil && !positional && !guarded(arg.Prefix) {
			c.reportf(a.At, "CT016", `write "--flag={…}", or put "--" before it`, "the value of %s could be taken for a flag", valueName(arg.Value))
		}
		if arg.Prefix == "--" && arg.Value == nil && arg.When == "" && arg.Unless == "" {
			positional = true
		}
		out.Args = append(out.Args, arg)
	}
	return out
}

// guarded reports whether a word with such a beginning is never taken for a flag, or
// is one whose value is what follows. That does not go for "-n": what follows may
// be more flags.
func guarded(prefix string) bool {
	if prefix == "" || prefix[0] != '-' {
		return prefix != ""
	}
	return strings.HasSuffix(prefix, "=") && strings.Trim(prefix, "-") != "="
}

func valueName(s *ir.Source) string {
	if s.Param != "" {
		return s.Param
	}
	return "ctx." + s.Context
}

func (c *checker) arg(t *ir.Tool, a *spec.Arg) (ir.Arg, bool) {
	template, forms := a.Literal, 0
	for _, f := range []spec.Field[string]{a.Literal, a.Flag, a.Repeat} {
		if f.Set {
			template = f
			forms++
		}
	}
	if forms != 1 {
		c.report(a.At, "CT017", "an argument is a string, or a table with either flag or repeat", "")
		return ir.Arg{}, false
	}
	arg := ir.Arg{Prefix: template.Value, Repeat: a.Repeat.Set, When: a.When.Value, Unless: a.Unless.Value}
	if strings.ContainsRune(template.Value, 0) || template.Value == "" {
		c.report(template.At, "CT018", "an argument cannot be empty or hold a NUL", "")
	}
	if open := strings.IndexAny(template.Value, "{}"); open >= 0 {
		arg.Prefix = template.Value[:open]
		name, ends := strings.CutSuffix(template.Value[open:], "}")
		name, begins := strings.CutPrefix(name, "{")
		if !begins || !ends || strings.ContainsAny(name, "{}") {
			c.reportf(template.At, "CT015", `one {name} at the end, such as "--limit={limit}"`, "the placeholder in %q is not readable", template.Value)
			return ir.Arg{}, false
		}
		arg.Value = c.source(t, template, name)
		if arg.Value == nil {
			return ir.Arg{}, false
		}
	}
	c.argKinds(t, a, arg, template)
	return arg, true
}

func (c *checker) source(t *ir.Tool, at spec.Field[string], name string) *ir.Source {
	if field, ok := strings.CutPrefix(name, "ctx."); ok {
		if !slices.Contains(contextFields(), field) {
			c.reportf(at.At, "CT015", "there is: ctx."+strings.Join(contextFields(), ", ctx."), "a call's context has no %q", field)
			return nil
		}
		return &ir.Source{Context: field}
	}
	p := t.Param(name)
	if p == nil {
		c.dangling(at.At, "CT015", suggest(name, "parameters", paramNames(t)), "there is no parameter %q", name)
		return nil
	}
	if !safeInArgv(p) {
		c.reportf(at.At, "CT018", "give "+name+" single_line = true, an enum, or a pattern of classes", "%s may hold a NUL, which no command line can carry", name)
	}
	return &ir.Source{Param: name}
}

// safeInArgv reports whether no accepted value of p holds a NUL.
func safeInArgv(p *ir.Param) bool {
	text := &p.Constraints
	switch p.Kind {
	case ir.String:
	case ir.Array:
		if p.Item().Kind != ir.String {
			return true
		}
		text = &p.Item().Constraints
	default:
		return true
	}
	return text.SingleLine || len(text.Enum) > 0 || text.Format != "" || excludesNUL(text.Pattern)
}

func (c *checker) argKinds(t *ir.Tool, a *spec.Arg, arg ir.Arg, template spec.Field[string]) {
	if arg.Value != nil && arg.Value.Param != "" {
		p := t.Param(arg.Value.Param)
		kind, isArray := p.Kind, p.Kind == ir.Array
		switch {
		case kind == "":
		case kind == ir.Object || isArray && !flat(p):
			c.reportf(template.At, "CT017", "an argument is text, a number or a boolean, or one of many: anything else needs handler = \"go\"", "%s cannot be written as an argument", arg.Value.Param)
		case isArray && !arg.Repeat:
			c.reportf(template.At, "CT017", "use { repeat = … }: one argument for each value", "%s is an array", arg.Value.Param)
		case !isArray && arg.Repeat:
			c.reportf(template.At, "CT017", "use { flag = … }", "%s is no array", arg.Value.Param)
		}
	} else if arg.Repeat {
		c.report(template.At, "CT017", "repeat needs a parameter that is an array", "")
	}
	for _, f := range []spec.Field[string]{a.When, a.Unless} {
		if !f.Set {
			continue
		}
		p := t.Param(f.Value)
		switch {
		case p == nil:
			c.dangling(f.At, "CT017", suggest(f.Value, "parameters", paramNames(t)), "there is no parameter %q", f.Value)
		case p.Kind == "":
		case p.Kind != ir.Boolean || p.Pointer():
			c.reportf(f.At, "CT017", "it needs type = \"boolean\" and a default", "%s does not always say yes or no", f.Value)
		}
	}
	if a.When.Set && a.Unless.Set {
		c.report(a.At, "CT017", "an argument has either when or unless", "")
	}
}
