package check

import (
	"slices"
	"strings"
	"unicode/utf8"

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
	c.exits(out, s)
	c.surroundings(t, out, s)
	positional := false // behind "--"
	for i := range s.Args {
		a := &s.Args[i]
		arg, ok := c.arg(t, a)
		if !ok {
			continue
		}
		if arg.Value != nil && !positional && !guarded(arg.Prefix) && !isFlagWithNumber(t, arg) {
			c.reportf(a.At, "CT016", `write "--flag={…}", or put "--" before it`, "the value of %s could be taken for a flag", valueName(arg.Value))
		}
		if endsFlags(arg.Prefix) && arg.Value == nil && arg.When == "" && arg.Unless == "" {
			positional = true
		}
		out.Args = append(out.Args, arg)
	}
	return out
}

// exits settles what the exit codes mean, of which each means one thing.
func (c *checker) exits(out *ir.Command, s *spec.Command) {
	meaning := map[int]string{}
	codes := func(f spec.Field[[]int64], means string) []int {
		var list []int
		for i, code := range f.Value {
			at := f.At.Elem(i)
			switch before, taken := meaning[int(code)]; {
			case code < 0 || code > 255:
				c.reportf(at, "CT007", "", "%d is not an exit code", code)
				continue
			case taken:
				c.reportf(at, "CT040", "", "the exit code %d is %s already", code, before)
				continue
			}
			meaning[int(code)] = means
			list = append(list, int(code))
		}
		return list
	}
	out.OKExit = codes(s.OKExit, "one of an answer")
	if !s.OKExit.Set {
		out.OKExit, meaning[0] = []int{0}, "one of an answer"
		if slices.Contains(s.EmptyExit.Value, 0) {
			out.OKExit = nil
			delete(meaning, 0)
		}
	}
	out.EmptyExit = codes(s.EmptyExit, "one of an answer without records")
	if s.OKExit.Set && len(s.OKExit.Value) == 0 {
		c.report(s.OKExit.At, "CT040", "no exit code is one of an answer", "leave ok_exit out for 0")
	}
	out.OKExit = append(out.OKExit, out.EmptyExit...)
	slices.Sort(out.OKExit)
	slices.Sort(out.EmptyExit)
	for _, f := range s.Failures {
		failure := ir.ExitFailure{
			Exit: codes(f.Exit, "one of another failure"), Reason: strings.TrimSpace(f.Reason.Value), Caller: f.Caller.Value, Transient: f.Transient.Value,
		}
		if f.Exit.Set && len(f.Exit.Value) == 0 {
			c.report(f.Exit.At, "CT040", "the failure has no exit code", "")
		}
		if f.Reason.Set && (failure.Reason == "" || !oneLine(failure.Reason) || utf8.RuneCountInString(failure.Reason) > longestReason) {
			c.reportf(f.Reason.At, "CT040", "a model reads it: say what went wrong, and what to do about it", "a reason is one line of at most %d characters", longestReason)
		} else if f.Reason.Set && !strings.HasSuffix(failure.Reason, ".") {
			failure.Reason += "."
		}
		out.Failures = append(out.Failures, failure)
	}
}

// longestReason is the most characters of what an exit code means.
const longestReason = 300

// longestTimeout is the most seconds a command may run: nobody waits longer for an
// answer.
const longestTimeout = 3600

// surroundings settles what a command has around it. None of it is for callers to
// choose freely.
func (c *checker) surroundings(t *ir.Tool, out *ir.Command, s *spec.Command) {
	if t.Handler == ir.HandlerGo {
		for _, f := range []struct {
			key string
			set bool
			at  spec.Place
		}{
			{"stdin", s.Stdin.Set, s.Stdin.At},
			{"dir", s.Dir.Set, s.Dir.At},
			{"timeout", s.Timeout.Set, s.Timeout.At},
			{"env", len(s.Env) > 0, s.At.Key("env")},
			{"failures", len(s.Failures) > 0, s.At.Key("failures")},
			{"empty_exit", s.EmptyExit.Set, s.EmptyExit.At},
		} {
			if f.set {
				c.reportAt(f.at, f.at.KeySpan(), "CT039", "the handler in Go runs the command, and "+f.key+" means nothing to it", "drop it")
			}
		}
	}
	if s.Stdin.Set {
		if arg, ok := c.template(t, s.Stdin); ok {
			c.scalar(t, s.Stdin, arg)
			out.Stdin = &arg
		}
	}
	if s.Dir.Set {
		out.Dir = s.Dir.Value
		switch {
		case strings.ContainsAny(s.Dir.Value, "{}"):
			c.report(s.Dir.At, "CT039", "a caller cannot choose where a command runs", "write a folder, or run the command with a flag that takes one")
		case !isClean(s.Dir.Value) || strings.IndexFunc(s.Dir.Value, unusual) >= 0:
			c.reportf(s.Dir.At, "CT039", "a relative path with slashes, such as docs/notes", "%q is no folder below the one that a call comes from", s.Dir.Value)
		}
	}
	if s.Timeout.Set {
		out.Timeout = int(s.Timeout.Value)
		if s.Timeout.Value < 1 || s.Timeout.Value > longestTimeout {
			c.reportf(s.Timeout.At, "CT039", "", "a command may run 1 to %d seconds", longestTimeout)
		}
	}
	var names []string
	for _, v := range s.Env {
		switch {
		case !isEnvName(v.Name):
			c.reportName(v.At, "CT039", "use letters, digits and _, such as NO_COLOR", "%q is not a name for an environment variable", v.Name)
		case slices.Contains(names, strings.ToUpper(v.Name)):
			c.reportName(v.At, "CT039", "Windows takes them for one", "%q is there in another case", v.Name)
		}
		names = append(names, strings.ToUpper(v.Name))
		if strings.ContainsRune(v.Value.Value, 0) {
			c.report(v.Value.At, "CT018", "no environment variable can hold a NUL", "")
		}
		arg, ok := c.template(t, v.Value)
		if !ok {
			continue
		}
		c.scalar(t, v.Value, arg)
		if arg.Value != nil && !bounded(t, arg.Value) {
			c.reportf(v.Value.At, "CT039", "give it an enum, a pattern or a format, or pass it as an argument", "%s is any text, and programs run what some variables name", valueName(arg.Value))
		}
		out.Env = append(out.Env, ir.Variable{Name: v.Name, Value: arg})
	}
}

// bounded reports whether a spec says what a value can be.
func bounded(t *ir.Tool, s *ir.Source) bool {
	p := t.Param(s.Param)
	if p == nil {
		return s.Context != ""
	}
	return p.Kind != ir.String || len(p.Enum) > 0 || p.Pattern != "" && excludesNUL(p.Pattern) || p.Format != ""
}

// scalar demands a value that is one text, number or boolean.
func (c *checker) scalar(t *ir.Tool, at spec.Field[string], arg ir.Arg) {
	if arg.Value == nil || arg.Value.Param == "" {
		return
	}
	switch kind := t.Param(arg.Value.Param).Kind; kind {
	case ir.Array, ir.Object:
		c.reportf(at.At, "CT017", "it can be text, a number or a boolean: anything else needs handler = \"go\"", "%s, of the type %s, cannot stand here", arg.Value.Param, kind)
	case ir.String, ir.Integer, ir.Number, ir.Boolean:
	}
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

// endsFlags reports whether no word behind one is taken for a flag: POSIX, Utility
// Syntax Guideline 10, and gitcli(7), where "--" sets paths apart from revisions.
func endsFlags(word string) bool { return word == "--" || word == "--end-of-options" }

// isFlagWithNumber reports whether an argument is a flag of one letter with a number
// glued to it, such as -n20. Digits are no flags.
func isFlagWithNumber(t *ir.Tool, a ir.Arg) bool {
	p := t.Param(a.Value.Param)
	return p != nil && p.Kind == ir.Integer && len(a.Prefix) == 2 && a.Prefix[0] == '-' && a.Prefix[1] != '-'
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
	if strings.ContainsRune(template.Value, 0) || template.Value == "" {
		c.report(template.At, "CT018", "an argument cannot be empty or hold a NUL", "")
	}
	arg, ok := c.template(t, template)
	if !ok {
		return ir.Arg{}, false
	}
	arg.Repeat, arg.When, arg.Unless = a.Repeat.Set, a.When.Value, a.Unless.Value
	if arg.Value != nil && arg.Value.Param != "" && !safeInArgv(t.Param(arg.Value.Param)) {
		p := t.Param(arg.Value.Param)
		c.reportf(template.At, "CT018", "give "+p.Name+" single_line = true, an enum, or a pattern of classes", "%s may hold a NUL, which no command line can carry", p.Name)
	}
	c.argKinds(t, a, arg, template)
	return arg, true
}

// template reads text with one placeholder at its end, or none.
func (c *checker) template(t *ir.Tool, f spec.Field[string]) (ir.Arg, bool) {
	open := strings.IndexAny(f.Value, "{}")
	if open < 0 {
		return ir.Arg{Prefix: f.Value}, f.Set
	}
	name, ends := strings.CutSuffix(f.Value[open:], "}")
	name, begins := strings.CutPrefix(name, "{")
	if !begins || !ends || strings.ContainsAny(name, "{}") {
		c.reportf(f.At, "CT015", `one {name} at the end, such as "--limit={limit}"`, "the placeholder in %q is not readable", f.Value)
		return ir.Arg{}, false
	}
	value := c.source(t, f, name)
	return ir.Arg{Prefix: f.Value[:open], Value: value}, value != nil
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
