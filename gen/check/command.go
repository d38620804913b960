package check

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
	"github.com/convtools/convtools/runtime/commandline"
)

func (c *checker) command(t *ir.Tool, s *spec.Command) *commandline.Command {
	out := &commandline.Command{Line: s.CLI.Value}
	var known []string
	var ends []string
	for _, cli := range c.project.CLIs {
		known = append(known, cli.Name)
		if cli.Name == s.CLI.Value {
			ends = cli.EndOfOptions.Value
		}
	}
	if s.CLI.Set && !slices.Contains(known, s.CLI.Value) && !c.project.At.Key("cli").Doubtful() {
		c.reportf(s.CLI.At, "CT014", suggest(s.CLI.Value, "declared", known), "%s declares no command line %q", spec.ProjectFile, s.CLI.Value)
	}
	c.exits(out, s)
	c.surroundings(t, out, s)
	free := false // after the end of options
	for i := range s.Args {
		arg, ok := c.arg(t, &s.Args[i])
		if !ok {
			continue
		}
		arg.Free = free && len(arg.Value) > 0 && arg.Value[0].Value != ""
		out.Args = append(out.Args, arg)
		alone := arg.When == "" && arg.Unless == "" && (len(arg.Option) == 0 && len(arg.Value) == 1 || len(arg.Option) == 1 && len(arg.Value) == 0)
		free = free || alone && slices.ContainsFunc(ends, func(end string) bool {
			return slices.Contains(arg.Option, end) || len(arg.Value) == 1 && arg.Value[0].Text == end
		})
	}
	return out
}

// exits sets the meaning of each exit code, and reports codes with two meanings.
func (c *checker) exits(out *commandline.Command, s *spec.Command) {
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
		failure := commandline.ExitFailure{
			Exit: codes(f.Exit, "one of another failure"), Reason: strings.TrimSpace(f.Reason.Value), Caller: f.Caller.Value, Transient: f.Transient.Value,
		}
		if f.Exit.Set && len(f.Exit.Value) == 0 {
			c.report(f.Exit.At, "CT040", "the failure has no exit code", "")
		}
		if f.Reason.Set && (failure.Reason == "" || !oneLine(failure.Reason) || utf8.RuneCountInString(failure.Reason) > longestReason) {
			c.reportf(f.Reason.At, "CT040", "a model reads it: say what went wrong, and what to do about it", "a reason is one line of at most %d characters", longestReason)
		} else if f.Reason.Set && !strings.ContainsAny(failure.Reason[len(failure.Reason)-1:], ".?!") {
			failure.Reason += "."
		}
		out.Failures = append(out.Failures, failure)
	}
}

// longestReason is the maximum length, in characters, of a failure's reason.
const longestReason = 300

// longestTimeout is the maximum running time of a command, in seconds. Nobody waits longer for an answer.
const longestTimeout = 3600

// surroundings sets a command's standard input, folder, timeout and environment. Callers cannot choose these freely.
func (c *checker) surroundings(t *ir.Tool, out *commandline.Command, s *spec.Command) {
	if s.Stdin.Set {
		out.Stdin = c.template(t, s.Stdin)
		if len(out.Stdin) > 1 {
			c.scalars(t, s.Stdin, out.Stdin)
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
		parts := c.template(t, v.Value)
		c.scalars(t, v.Value, parts)
		for _, part := range parts {
			if p := t.Param(part.Value); p != nil && !c.unsound[p.Name] && p.Kind == ir.String && len(p.Enum) == 0 && p.Pattern == "" && p.Format == "" {
				c.reportf(v.Value.At, "CT039", "give it an enum, a pattern or a format, or pass it as an argument", "%s is any text, and programs run what some variables name", p.Name)
			}
		}
		out.Env = append(out.Env, commandline.Variable{Name: v.Name, Value: parts})
	}
}

// scalars reports arrays and objects among parts: only one text, number or boolean is allowed.
func (c *checker) scalars(t *ir.Tool, at spec.Field[string], parts []commandline.Part) {
	for _, part := range parts {
		if p := t.Param(part.Value); p != nil && (p.Kind == ir.Array || p.Kind == ir.Object) {
			c.reportf(at.At, "CT017", "an array or an object goes to the standard input alone, as JSON", "%s has the type %s, which is not allowed here", p.Name, p.Kind)
		}
	}
}

func (c *checker) arg(t *ir.Tool, a *spec.Arg) (commandline.Arg, bool) {
	out := commandline.Arg{Option: a.Option.Value, When: a.When.Value, Unless: a.Unless.Value, Empty: a.Empty.Value}
	if !a.Value.Set && len(a.Option.Value) == 0 {
		if a.At.Sound() {
			c.report(a.At, "CT017", "an argument is a string, or a table with an option, a value, or both", `such as { option = "-e", value = "{pattern}" }`)
		}
		return out, false
	}
	for i, option := range a.Option.Value {
		if option == "" || strings.ContainsRune(option, 0) {
			c.report(a.Option.At.Elem(i), "CT018", "an argument cannot be empty or hold a NUL", "")
		}
	}
	if a.Value.Set {
		if a.Value.Value == "" || strings.ContainsRune(a.Value.Value, 0) {
			c.report(a.Value.At, "CT018", "an argument cannot be empty or hold a NUL", "")
		}
		out.Value = c.template(t, a.Value)
		c.argValues(t, a, out)
	}
	for _, f := range []spec.Field[string]{a.When, a.Unless} {
		if !f.Set {
			continue
		}
		p := c.known(t, f.At, "CT017", f.Value)
		switch {
		case p == nil, p.Kind == "":
		case p.Kind != ir.Boolean || p.Pointer():
			c.reportf(f.At, "CT017", "it needs type = \"boolean\" and a default", "%s does not always say yes or no", f.Value)
		}
	}
	if a.When.Set && a.Unless.Set {
		c.report(a.At, "CT017", "an argument has either when or unless", "")
	}
	return out, out.Value != nil || !a.Value.Set
}

// argValues checks the values in an argument.
func (c *checker) argValues(t *ir.Tool, a *spec.Arg, arg commandline.Arg) {
	lists := 0
	for i, part := range arg.Value {
		p := t.Param(part.Value)
		if p == nil || p.Kind == "" {
			continue
		}
		if p.Kind == ir.Array {
			lists++
		}
		switch {
		case p.Kind == ir.Object || p.Kind == ir.Array && !flat(p):
			c.reportf(a.Value.At, "CT017", `pass it on standard input, as JSON: stdin = "{`+p.Name+`}"`, "%s cannot be written as an argument", p.Name)
		case lists > 1:
			c.reportf(a.Value.At, "CT017", "write an argument for each", "%s is the second array in one argument", p.Name)
		case i > 0 && arg.Value[i-1].Value == "" && choosesOption(prefix(arg.Value[:i])) && !listed(p):
			c.reportf(a.Value.At, "CT016", `end the option's name with =, such as "--name={`+p.Name+`}", or write { option = "--name", value = "{`+p.Name+`}" }`, "%s would choose the option", p.Name)
		}
	}
}

// prefix returns the literal text of parts, or "" if a placeholder is among them.
func prefix(parts []commandline.Part) string {
	if len(parts) != 1 {
		return ""
	}
	return parts[0].Text
}

// choosesOption reports whether text appended to begin becomes part of an option's name. It does after hyphens alone,
// in a long name without =, and after several letters, such as -rf, where each letter may be an option. After one
// letter, such as -L, and after -DNAME= the text is a value.
func choosesOption(begin string) bool {
	name := strings.TrimLeft(begin, "-")
	switch {
	case begin == name:
		return false
	case name == "" || strings.HasPrefix(begin, "--"):
		return !strings.Contains(name, "=")
	}
	last, size := utf8.DecodeLastRuneInString(name)
	return size < len(name) && (last == '-' || unicode.IsLetter(last) || unicode.IsDigit(last))
}

// listed reports whether the values of p are an enumeration or only digits.
func listed(p *ir.Param) bool {
	if p.Kind == ir.Array {
		p = p.Item()
	}
	return len(p.Enum) > 0 || p.Kind == ir.Boolean || p.Kind == ir.Integer && p.Minimum != nil && *p.Minimum >= 0
}

// template splits text into literal parts and placeholders. {{ and }} are literal braces. It returns nil if the text
// is malformed.
func (c *checker) template(t *ir.Tool, f spec.Field[string]) []commandline.Part {
	var parts []commandline.Part
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			parts = append(parts, commandline.Part{Text: text.String()})
			text.Reset()
		}
	}
	for rest := f.Value; rest != ""; {
		at := strings.IndexAny(rest, "{}")
		if at < 0 {
			text.WriteString(rest)
			break
		}
		text.WriteString(rest[:at])
		if doubled := rest[at : at+1]; strings.HasPrefix(rest[at+1:], doubled) {
			text.WriteString(doubled)
			rest = rest[at+2:]
			continue
		}
		name, after, closed := strings.Cut(rest[at+1:], "}")
		if rest[at] == '}' || !closed || strings.Contains(name, "{") {
			c.reportf(f.At, "CT015", `{name} stands for a parameter, and {{ and }} for braces, such as "--limit={limit}" or "%{{http_code}}"`, "the placeholder in %q is malformed", f.Value)
			return nil
		}
		flush()
		if !c.source(t, f, name) {
			return nil
		}
		parts = append(parts, commandline.Part{Value: name})
		rest = after
	}
	flush()
	return parts
}

// source reports whether a placeholder names a parameter or a known value of the context.
func (c *checker) source(t *ir.Tool, at spec.Field[string], name string) bool {
	field, ok := strings.CutPrefix(name, "ctx.")
	if !ok {
		return c.known(t, at.At, "CT015", name) != nil
	}
	if name != commandline.CallingConversation {
		c.reportf(at.At, "CT015", "there is: "+commandline.CallingConversation, "a call's context has no %q", field)
	}
	return name == commandline.CallingConversation
}
