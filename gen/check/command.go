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

// command checks a [command] table and returns the command, without arguments that could not be read.
func (c *checker) command(t *ir.Tool, s *spec.Command) *commandline.Command {
	out := &commandline.Command{Line: s.CLI.Value}
	var declared []string
	var ends []string // the arguments after which the program of s reads no options
	for _, cli := range c.project.CLIs {
		declared = append(declared, cli.Name)
		if cli.Name == s.CLI.Value {
			ends = cli.EndOfOptions.Value
		}
	}
	if s.CLI.Set && !slices.Contains(declared, s.CLI.Value) && !c.project.At.Key("cli").Doubtful() {
		c.reportf(s.CLI.At, "CT014", nameSuggestion(s.CLI.Value, "declared", declared), "%s declares no command line %q", spec.ProjectFile, s.CLI.Value)
	}
	c.exits(out, s)
	c.surroundings(t, out, s)
	optionsEnded := false // true after an argument, such as --, that ends the options in every call
	for i := range s.Args {
		arg, ok := c.arg(t, &s.Args[i])
		if !ok {
			continue
		}
		beginsWithValue := len(arg.Value) > 0 && arg.Value[0].Value != "" // its first part is the value of a parameter
		arg.Free = optionsEnded && beginsWithValue                        // this value may begin with a hyphen
		out.Args = append(out.Args, arg)
		optionsEnded = optionsEnded || endsOptions(arg, ends)
	}
	return out
}

// endsOptions reports whether arg ends the options of the program in every call: arg has no condition, and is one of the
// words in ends. These are the words after which the program reads no options, such as --.
func endsOptions(arg commandline.Arg, ends []string) bool {
	isConditional := arg.When != "" || arg.Unless != ""
	words := slices.Clone(arg.Option)
	for _, part := range arg.Value {
		words = append(words, part.Text) // "" for the value of a parameter, and "" is never in ends
	}
	return !isConditional && len(words) == 1 && slices.Contains(ends, words[0])
}

// exits sets the exit codes of out. OKExit has the codes of an answer: 0 if the spec gives none. EmptyExit has the codes
// of an answer without records, and OKExit includes these. Failures has the other codes. exits reports a code with two
// meanings, a number that is no exit code, and a failure without a code or with an unfit reason.
func (c *checker) exits(out *commandline.Command, s *spec.Command) {
	meanings := map[int]string{} // by code
	out.OKExit = c.claimCodes(s.OKExit, meanings, "one of an answer")
	if !s.OKExit.Set && !slices.Contains(s.EmptyExit.Value, 0) {
		out.OKExit, meanings[0] = []int{0}, "one of an answer"
	}
	out.EmptyExit = c.claimCodes(s.EmptyExit, meanings, "one of an answer without records")
	if s.OKExit.Set && len(s.OKExit.Value) == 0 {
		c.report(s.OKExit.At, "CT040", "no exit code is one of an answer", "leave ok_exit out for 0")
	}
	out.OKExit = append(out.OKExit, out.EmptyExit...)
	slices.Sort(out.OKExit)
	slices.Sort(out.EmptyExit)
	for _, f := range s.Failures {
		failure := commandline.ExitFailure{
			Exit: c.claimCodes(f.Exit, meanings, "one of another failure"), Reason: strings.TrimSpace(f.Reason.Value), Caller: f.Caller.Value, Transient: f.Transient.Value,
		}
		if f.Exit.Set && len(f.Exit.Value) == 0 {
			c.report(f.Exit.At, "CT040", "the failure has no exit code", "")
		}
		switch reason := failure.Reason; {
		case !f.Reason.Set: // reported already
		case reason == "" || !oneLine(reason) || utf8.RuneCountInString(reason) > longestReason:
			c.reportf(f.Reason.At, "CT040", "a model reads it: say what went wrong, and what to do about it", "a reason is one line of at most %d characters", longestReason)
		case !strings.ContainsAny(reason[len(reason)-1:], ".?!"): // its last character
			failure.Reason += "."
		}
		out.Failures = append(out.Failures, failure)
	}
}

// claimCodes returns the exit codes in f, and gives each the given meaning in meanings. It reports a code that already
// has a meaning and a number that is no exit code, and leaves both out.
func (c *checker) claimCodes(f spec.Field[[]int64], meanings map[int]string, meaning string) []int {
	var codes []int
	for i, code := range f.Value {
		switch before, taken := meanings[int(code)]; {
		case code < 0 || code > 255:
			c.reportf(f.At.Elem(i), "CT007", "", "%d is not an exit code", code)
		case taken:
			c.reportf(f.At.Elem(i), "CT040", "", "the exit code %d is %s already", code, before)
		default:
			meanings[int(code)] = meaning
			codes = append(codes, int(code))
		}
	}
	return codes
}

// longestReason is the maximum length, in characters, of a failure's reason.
const longestReason = 300

// longestTimeout is the maximum running time of a command, in seconds. Nobody waits longer for an answer.
const longestTimeout = 3600

// surroundings sets the standard input, folder, timeout and environment of out. It reports those that a caller could
// choose freely or that no command can have.
func (c *checker) surroundings(t *ir.Tool, out *commandline.Command, s *spec.Command) {
	if s.Stdin.Set {
		out.Stdin = c.template(t, s.Stdin)
		if len(out.Stdin) > 1 { // one parameter alone may be an array or an object: it is written as JSON
			c.reportNonScalars(t, s.Stdin, out.Stdin)
		}
	}
	if s.Dir.Set {
		out.Dir = s.Dir.Value
		switch {
		case strings.ContainsAny(s.Dir.Value, "{}"):
			c.report(s.Dir.At, "CT039", "a caller cannot choose where a command runs", "write a folder, or run the command with a flag that takes one")
		case !isClean(s.Dir.Value) || strings.IndexFunc(s.Dir.Value, isUnusual) >= 0:
			c.reportf(s.Dir.At, "CT039", "a relative path with slashes, such as docs/notes", "%q is no folder below the one that a call comes from", s.Dir.Value)
		}
	}
	if s.Timeout.Set {
		out.Timeout = int(s.Timeout.Value)
		if s.Timeout.Value < 1 || s.Timeout.Value > longestTimeout {
			c.reportf(s.Timeout.At, "CT039", "", "a command may run 1 to %d seconds", longestTimeout)
		}
	}
	var names []string // in upper case
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
		c.reportNonScalars(t, v.Value, parts)
		for _, part := range parts {
			if p := t.Param(part.Value); p != nil && !c.unsound[p.Name] && isAnyText(p) {
				c.reportf(v.Value.At, "CT039", "give it an enum, a pattern or a format, or pass it as an argument", "%s is any text, and programs run what some variables name", p.Name)
			}
		}
		out.Env = append(out.Env, commandline.Variable{Name: v.Name, Value: parts})
	}
}

// isAnyText reports whether p is a string whose text a caller chooses freely.
func isAnyText(p *ir.Param) bool {
	return p.Kind == ir.String && len(p.Enum) == 0 && p.Pattern == "" && p.Format == ""
}

// reportNonScalars reports each array and object among the parts of f, a text of strings, numbers and booleans.
func (c *checker) reportNonScalars(t *ir.Tool, f spec.Field[string], parts []commandline.Part) {
	for _, part := range parts {
		if p := t.Param(part.Value); p != nil && (p.Kind == ir.Array || p.Kind == ir.Object) {
			c.reportf(f.At, "CT017", "an array or an object goes to the standard input alone, as JSON", "%s has the type %s, which is not allowed here", p.Name, p.Kind)
		}
	}
}

// arg checks an entry of args and returns the argument. The second result is false if the entry has neither option nor
// value, or if its value is empty or malformed.
func (c *checker) arg(t *ir.Tool, a *spec.Arg) (commandline.Arg, bool) {
	out := commandline.Arg{Option: a.Option.Value, When: a.When.Value, Unless: a.Unless.Value, Empty: a.Empty.Value}
	if !a.Value.Set && len(a.Option.Value) == 0 {
		if a.At.Sound() { // otherwise an option or a value could not be read
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
		switch p := c.knownParam(t, f.At, "CT017", f.Value); {
		case p == nil, p.Kind == "": // an unknown parameter or type is reported already
		case p.Kind == ir.Boolean && !p.Pointer(): // in every call the parameter is true or false
		default:
			c.reportf(f.At, "CT017", "it needs type = \"boolean\" and a default", "%s does not always say yes or no", f.Value)
		}
	}
	if a.When.Set && a.Unless.Set {
		c.report(a.At, "CT017", "an argument has either when or unless", "")
	}
	malformed := a.Value.Set && out.Value == nil
	return out, !malformed
}

// argValues reports parameters that the value of an argument cannot contain: an object, a nested array, a second array,
// and a parameter that would become part of an option's name.
func (c *checker) argValues(t *ir.Tool, a *spec.Arg, arg commandline.Arg) {
	arrays := 0
	for i, part := range arg.Value {
		p := t.Param(part.Value)
		if p == nil || p.Kind == "" { // literal text, a value of the context, or an unknown type
			continue
		}
		isAfterText := i == 1 // p is the first value, and only literal text comes before it
		if p.Kind == ir.Array {
			arrays++
		}
		switch {
		case p.Kind == ir.Object || p.Kind == ir.Array && !hasScalarItems(p):
			c.reportf(a.Value.At, "CT017", `pass it on standard input, as JSON: stdin = "{`+p.Name+`}"`, "%s cannot be written as an argument", p.Name)
		case arrays > 1:
			c.reportf(a.Value.At, "CT017", "write an argument for each", "%s is the second array in one argument", p.Name)
		case isAfterText && choosesOption(arg.Value[0].Text) && takesFreeText(p):
			c.reportf(a.Value.At, "CT016", `end the option's name with =, such as "--name={`+p.Name+`}", or write { option = "--name", value = "{`+p.Name+`}" }`, "%s would choose the option", p.Name)
		}
	}
}

// choosesOption reports whether a value that directly follows prefix in an argument can become part of an option's name.
func choosesOption(prefix string) bool {
	name := strings.TrimLeft(prefix, "-")
	switch {
	case name == prefix: // without a hyphen, the argument is no option
		return false
	case name == "": // after hyphens alone, the value is the name
		return true
	case strings.HasPrefix(prefix, "--"): // a long name, such as --sort, ends at =
		return !strings.Contains(name, "=")
	}
	last, size := utf8.DecodeLastRuneInString(name)
	isOneLetter := size == len(name) // such as -L: the value is the option's value
	// After -rf, the value can be one more option. After -DNAME=, the value is the option's value.
	endsInName := last == '-' || unicode.IsLetter(last) || unicode.IsDigit(last) // a name can contain hyphens
	return endsInName && !isOneLetter
}

// takesFreeText reports whether a caller can give p, or an item if p is an array, other text than a value of an enum, a
// boolean, or digits without a sign.
func takesFreeText(p *ir.Param) bool {
	if p.Kind == ir.Array {
		p = p.Item()
	}
	isUnsigned := p.Kind == ir.Integer && p.Minimum != nil && *p.Minimum >= 0
	return len(p.Enum) == 0 && p.Kind != ir.Boolean && !isUnsigned
}

// template splits the text of f into literal parts and placeholders such as {name}. {{ and }} are literal braces. If a
// placeholder is malformed or has an unknown name, template reports that and returns nil.
func (c *checker) template(t *ir.Tool, f spec.Field[string]) []commandline.Part {
	var parts []commandline.Part
	var text strings.Builder // the literal part that is being read
	endText := func() {
		if text.Len() > 0 {
			parts = append(parts, commandline.Part{Text: text.String()})
			text.Reset()
		}
	}
	for rest := f.Value; rest != ""; {
		brace := strings.IndexAny(rest, "{}")
		if brace < 0 {
			text.WriteString(rest)
			break
		}
		text.WriteString(rest[:brace])
		if char := rest[brace]; strings.HasPrefix(rest[brace+1:], string(char)) { // a doubled brace is a literal one
			text.WriteByte(char)
			rest = rest[brace+2:]
			continue
		}
		name, following, closed := strings.Cut(rest[brace+1:], "}")
		if rest[brace] == '}' || !closed || strings.Contains(name, "{") {
			c.reportf(f.At, "CT015", `{name} stands for a parameter, and {{ and }} for braces, such as "--limit={limit}" or "%{{http_code}}"`, "the placeholder in %q is malformed", f.Value)
			return nil
		}
		endText()
		if !c.knownPlaceholder(t, f, name) {
			return nil
		}
		parts = append(parts, commandline.Part{Value: name})
		rest = following
	}
	endText()
	return parts
}

// knownPlaceholder reports whether a placeholder in f names a parameter or a known value of a call's context. If not, it
// adds a diagnostic, unless the parameter may be in a part of the spec that could not be read.
func (c *checker) knownPlaceholder(t *ir.Tool, f spec.Field[string], name string) bool {
	field, ofContext := strings.CutPrefix(name, "ctx.")
	if !ofContext {
		return c.knownParam(t, f.At, "CT015", name) != nil
	}
	if name != commandline.CallingConversation {
		c.reportf(f.At, "CT015", "there is: "+commandline.CallingConversation, "a call's context has no %q", field)
	}
	return name == commandline.CallingConversation
}
