package check

import (
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/commandline"
)

// tool checks a spec and returns its tool. family is the name of the spec's folder. The order matters: the parameters
// come before the rules, the command, the answer and the examples, which all refer to parameters.
func (c *checker) tool(t *spec.Tool, family string) ir.Tool {
	short := strings.TrimPrefix(strings.TrimPrefix(t.Name.Value, family+"."), family+"_")
	short = ir.Flat(short)
	c.toolName(t, short)
	tool := ir.Tool{
		Name: t.Name.Value, Family: family, Short: short, GoName: ir.GoName(short), Source: t.File.Name,
		Summary: c.summary(t.Summary, toolSummary),
		Description: c.prose(t.Description, "description", longestDescription,
			"say what the tool does, when to use it, and what it returns"),
		Keywords:  c.prose(t.Keywords, "text of keywords", longestKeywords, "name what a model would search for"),
		Effect:    ir.Effect(c.choice(t.Effect, "effect", "read", "write")),
		OpenWorld: t.OpenWorld.Value, Handler: ir.HandlerCommand,
	}
	tool.JP = ir.JPTool{
		Enable: c.choice(t.JP.Enable, "enable", "on", "off", "always", "explicit"),
		Run:    c.choice(t.JP.Run, "run", "ask", "unattended", "edit", "skip"),
	}
	if t.Handler.Set {
		tool.Handler = ir.Handler(c.choice(t.Handler, "handler", "command", "go"))
	}
	tool.Answer = ir.EnvelopeAnswer
	if t.Answer.Set {
		tool.Answer = ir.Answer(c.choice(t.Answer, "answer", "envelope", "text", "json"))
	}
	c.declareTool(&tool)
	tool.Aliases = c.aliases(t)
	tool.Params = c.params(t.Params, tool.GoName, 0)
	for _, r := range t.Rules {
		diagsBefore := len(c.diags)
		if rule := c.rule(&tool, r); len(c.diags) == diagsBefore && r.At.Sound() { // the rule is valid
			tool.Rules = append(tool.Rules, rule)
		}
	}
	c.answer(&tool, t)
	if t.Command != nil {
		tool.Command = c.command(&tool, t.Command)
		tool.Output = c.output(&tool, t)
	}
	diagsBeforeAnswer := len(c.diags)
	if t.Result != nil && tool.Answer == ir.JSONAnswer {
		tool.Result = c.result(&tool, t.Result)
	}
	if t.Envelope != nil && tool.Answer == ir.EnvelopeAnswer {
		tool.Envelope = c.envelope(&tool, t.Envelope)
	} else if tool.Command != nil && tool.Answer == ir.EnvelopeAnswer {
		tool.Envelope = plainEnvelope(&tool)
	}
	soundEnvelope := len(c.diags) == diagsBeforeAnswer
	for i := range t.Examples {
		e := &t.Examples[i]
		tool.Examples = append(tool.Examples, ir.Example{Summary: c.summary(e.Summary, toolSummary), Arguments: exampleJSON(&tool, e)})
	}
	if t.Command != nil { // the tool is generated as one variable, and needs none of the Go names declared above
		c.declared = map[string]string{tool.GoName + "Tool": "the tool " + tool.Name}
	}
	c.completeness(&tool, t, soundEnvelope)
	c.reportUnused(&tool, t)
	c.checkExamples(&tool, t)
	return tool
}

// aliases reports former names and dates that are not valid, and returns all aliases.
func (c *checker) aliases(t *spec.Tool) []ir.Alias {
	var aliases []ir.Alias
	for _, a := range t.Aliases {
		if a.Name.Set && !isToolName(a.Name.Value) {
			c.reportf(a.Name.At, "CT035", nameHint(a.Name.Value, longestTool), "%q cannot have been the name of a tool", a.Name.Value)
		}
		if _, err := time.Parse(time.DateOnly, a.Until.Value); a.Until.Set && err != nil {
			c.reportf(a.Until.At, "CT035", `the last day on which the old name works for sure, such as "2027-06-30"`, "%q is not a date", a.Until.Value)
		}
		aliases = append(aliases, ir.Alias{Name: a.Name.Value, Until: a.Until.Value})
	}
	return aliases
}

// result checks a [result] table, and returns the fields and the codes in the table. It leaves out codes that it reports.
func (c *checker) result(t *ir.Tool, s *spec.Result) ir.Result {
	out := ir.Result{Fields: c.params(s.Fields, t.GoName+"Result", 0), Plain: s.Plain.Value}
	if out.Plain && !slices.ContainsFunc(out.Fields, func(p ir.Param) bool { return p.Required }) {
		c.report(s.Plain.At, "CT036", "a success may have nothing in it, as no field is always there", "leave plain out")
	}
	names := map[string]string{} // by Go name: the code
	for i, code := range s.Codes.Value {
		place := s.Codes.At.Elem(i)
		name := ir.GoName(code)
		switch before, taken := names[name]; {
		case !isSnake(code, longestOther):
			c.reportf(place, "CT036", nameHint(code, longestOther), "%q is not a code", code)
		case slices.Contains([]string{"invalid_arguments", "too_large", "failed"}, code):
			c.reportf(place, "CT036", "leave it out", "every tool that answers in JSON has the code %s", code)
		case before == code:
			c.reportf(place, "CT036", "", "%s is listed twice", code)
		case taken: // by another code
			c.reportf(place, "CT026", "rename one of them", "%s and %s have the same Go name %s", before, code, name)
		default:
			out.Codes = append(out.Codes, code)
		}
		names[name] = code
	}
	return out
}

// kinds returns the names of the types that a value can have.
func kinds() []string {
	return []string{string(ir.String), string(ir.Integer), string(ir.Number), string(ir.Boolean), string(ir.Array), string(ir.Object)}
}

// rule returns a rule between parameters of t. It reports a rule that does not make exactly one demand, and a name in
// the rule that is no parameter, is there twice or always has a value.
func (c *checker) rule(t *ir.Tool, r spec.Rule) ir.Rule {
	for _, list := range []spec.Field[[]string]{r.Exclusive, r.AtLeastOne, r.ExactlyOne} {
		if list.Set && len(list.Value) < 2 {
			c.report(list.At, "CT013", "a rule needs two parameters", "")
		}
	}
	demands := 0
	for _, list := range []spec.Field[[]string]{r.Exclusive, r.AtLeastOne, r.ExactlyOne, r.Requires} {
		if list.Set {
			demands++
		}
		for i, name := range list.Value {
			c.ruleParam(t, list.At.Elem(i), name, slices.Contains(list.Value[:i], name))
		}
	}
	switch {
	case !r.At.Sound(): // a part of the rule could not be read
	case demands == 0:
		c.report(r.At, "CT013", "the rule demands nothing", "one of: exclusive, at_least_one, exactly_one, or given with requires")
	case demands > 1:
		c.report(r.At, "CT013", "a rule demands one thing", "write a [[rules]] table for each")
	case r.Requires.Set != r.Given.Set:
		c.reportf(r.At, "CT013", `such as given = "page", requires = ["size"]`, "given and requires go together")
	case r.Requires.Set && len(r.Requires.Value) == 0:
		c.report(r.Requires.At, "CT013", "the rule demands nothing", "")
	}
	if r.Given.Set {
		c.ruleParam(t, r.Given.At, r.Given.Value, slices.Contains(r.Requires.Value, r.Given.Value))
	}
	return ir.Rule{
		Exclusive: r.Exclusive.Value, AtLeastOne: r.AtLeastOne.Value, ExactlyOne: r.ExactlyOne.Value,
		Requires: r.Requires.Value, Given: r.Given.Value,
	}
}

// ruleParam reports a name in a rule that is no parameter of t, is in the rule twice, or has a value in every call.
func (c *checker) ruleParam(t *ir.Tool, place spec.Place, name string, twice bool) {
	switch p := c.knownParam(t, place, "CT013", name); {
	case p == nil: // reported by knownParam
	case p.Required || p.Default != nil:
		c.reportf(place, "CT013", "", "%s always has a value, so no rule can depend on whether it is given", name)
	case twice:
		c.reportf(place, "CT013", "", "%s is named twice", name)
	}
}

// reportUnused reports each parameter that neither the tool's command nor its envelope uses. It skips a tool with a
// handler in Go. It reports nothing if a use may be in a part that could not be read, or in a part reported before.
func (c *checker) reportUnused(t *ir.Tool, s *spec.Tool) {
	if t.Command == nil || t.Handler == ir.HandlerGo {
		return
	}
	useReported := slices.ContainsFunc(c.diags, func(d diag.Diagnostic) bool { return slices.Contains([]string{"CT015", "CT017", "CT021"}, d.Rule) })
	allRead := s.Command.At.Sound() && s.At.Key("envelope").Sound()
	if useReported || !allRead {
		return
	}
	used := map[string]bool{}
	markUsed := func(parts []commandline.Part) {
		for _, part := range parts {
			used[part.Value] = true
		}
	}
	for _, arg := range t.Command.Args {
		used[arg.When], used[arg.Unless] = true, true
		markUsed(arg.Value)
	}
	for _, v := range t.Command.Env {
		markUsed(v.Value)
	}
	markUsed(t.Command.Stdin)
	for _, e := range t.Envelope.Elements {
		for _, a := range e.Attributes {
			used[a.Param] = true
		}
	}
	for i, p := range t.Params {
		if !used[p.Name] {
			c.reportName(s.Params[i].At, "CT041", `write it into an argument, such as "--`+p.Name+`={`+p.Name+`}", or leave it out`, "%s is used by no argument, variable, standard input or answer", p.Name)
		}
	}
}

// paramNames returns the names of a tool's parameters, in their order.
func paramNames(t *ir.Tool) []string {
	names := make([]string, 0, len(t.Params))
	for _, p := range t.Params {
		names = append(names, p.Name)
	}
	return names
}

// completeness reports a tool with a required parameter and without an example, a tool with both a command and a
// handler, and a tool with neither. If soundEnvelope is true, it also reports an envelope that a command cannot fill.
func (c *checker) completeness(tool *ir.Tool, t *spec.Tool, soundEnvelope bool) {
	required := slices.ContainsFunc(tool.Params, func(p ir.Param) bool { return p.Required })
	if required && len(t.Examples) == 0 && !t.At.Key("examples").Doubtful() {
		c.reportf(t.Name.At, "CT025", "add an [[examples]] table", "the tool has a required parameter and no example")
	}
	// certain is false if an unreadable or misspelt key may have been meant for one of the two.
	certain := !t.At.Key("command").Doubtful() && !t.At.Key("handler").Doubtful()
	switch {
	case tool.Handler == ir.HandlerGo && t.Command != nil:
		c.reportName(t.Command.At, "CT023", `drop one of the two`, "the tool has a command, and a handler in Go")
	case tool.Handler == ir.HandlerCommand && t.Command == nil && certain:
		c.reportf(t.Name.At, "CT023", `add a [command] table, or handler = "go"`, "the tool has neither a command nor a handler")
	}
	wasRead := tool.Answer == ir.EnvelopeAnswer && t.Envelope != nil && t.Envelope.At.Sound() // every part of it
	hasRoot := tool.Envelope.Element(tool.Envelope.Root) != nil
	if tool.Handler == ir.HandlerCommand && soundEnvelope && wasRead && hasRoot {
		c.reportUnfilled(tool, t.Envelope)
	}
}
