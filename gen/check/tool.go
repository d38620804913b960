package check

import (
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
)

func (c *checker) tool(t *spec.Tool, family string) ir.Tool {
	short := strings.TrimPrefix(t.Name.Value, family+"_")
	c.toolName(t, short)
	tool := ir.Tool{
		Name: t.Name.Value, Family: family, Short: short, GoName: goName(short), Source: t.File.Name,
		Summary: c.summary(t.Summary, toolSummary),
		Description: c.prose(t.Description, "description", longestDescription,
			"say what the tool does, when to use it, and what it returns"),
		Effect:  ir.Effect(c.choice(t.Effect, "effect", "read", "write")),
		Enable:  c.choice(t.Enable, "enable", "on", "off", "always", "explicit"),
		Run:     c.choice(t.Run, "run", "ask", "unattended", "edit", "skip"),
		Handler: ir.HandlerCommand,
	}
	if t.Handler.Set {
		tool.Handler = ir.Handler(c.choice(t.Handler, "handler", "command", "go"))
	}
	names := map[string]string{}
	for i := range t.Params {
		p := c.param(&t.Params[i])
		tool.Params = append(tool.Params, p)
		if before, taken := names[p.GoName]; taken {
			c.reportName(t.Params[i].At, "CT026", "rename one of them", "%s and %s have the same Go name %s", before, p.Name, p.GoName)
		}
		names[p.GoName] = p.Name
	}
	for _, r := range t.Rules {
		tool.Rules = append(tool.Rules, c.rule(&tool, r))
	}
	if t.Command != nil {
		tool.Command = c.command(&tool, t.Command)
	}
	c.answer(&tool, t)
	before := len(c.diags)
	if t.Envelope != nil && tool.Answer != ir.TextAnswer {
		tool.Envelope = c.envelope(&tool, t.Envelope)
	}
	sound := len(c.diags) == before
	for i := range t.Examples {
		e := &t.Examples[i]
		tool.Examples = append(tool.Examples, ir.Example{Summary: c.summary(e.Summary, toolSummary), Arguments: example(&tool, e)})
	}
	c.works(&tool, t, sound)
	return tool
}

func (c *checker) param(s *spec.Param) ir.Param {
	switch {
	case !isSnake(s.Name, longestOther):
		c.reportName(s.At, "CT005", nameHint(s.Name, longestOther), "%q is not a parameter name", s.Name)
	case slices.Contains([]string{"ctx", "action", "answers", "options"}, s.Name):
		c.reportName(s.At, "CT005", "give it another name", "hosts use %q for something else", s.Name)
	}
	p := ir.Param{
		Name: s.Name, GoName: goName(s.Name), Summary: c.summary(s.Summary, parameterSummary),
		Kind: ir.Kind(c.choice(s.Type, "type", "string", "integer", "boolean", "array")), Required: s.Required.Value,
	}
	p.Constraints = c.constraints(&s.Constraints, p.Kind)
	if s.Items != nil {
		items := c.constraints(s.Items, ir.String)
		p.Items = &items
		if p.Kind != ir.Array && p.Kind != "" {
			c.reportName(s.ItemsAt, "CT006", "", "%s is no array and has no items", s.Name)
		}
	}
	if p.Kind == ir.Array && p.Items == nil {
		p.Items = &ir.Constraints{}
	}
	if s.Default.Set && p.Kind != "" {
		if p.Required {
			c.reportf(s.Default.At, "CT009", "drop required, or the default", "%s is required and has a default", s.Name)
		}
		p.Default = c.defaultValue(s, p.Kind)
	}
	c.oneOrMany(s, &p)
	p.Repairs = c.repairs(s, &p)
	return p
}

// oneOrMany judges a parameter that also takes one item in the place of an
// array.
func (c *checker) oneOrMany(s *spec.Param, p *ir.Param) {
	p.OneOrMany = s.OneOrMany.Value && p.Kind == ir.Array
	switch {
	case !s.OneOrMany.Set:
	case p.Kind != ir.Array && p.Kind != "":
		c.reportf(s.OneOrMany.At, "CT006", "", "one_or_many does not apply to the type %s", p.Kind)
	case !p.OneOrMany:
	case s.MinItems.Set && s.MinItems.Value > 1:
		c.reportf(s.MinItems.At, "CT007", "drop one of the two", "one_or_many takes one item, and min_items asks for %d", s.MinItems.Value)
	case s.MaxItems.Set && s.MaxItems.Value == 0:
		c.report(s.MaxItems.At, "CT007", "one_or_many takes one item, and max_items allows none", "drop one of the two")
	}
}

func (c *checker) defaultValue(s *spec.Param, kind ir.Kind) any {
	v := s.Default.Value
	switch kind {
	case ir.String:
		if v, ok := v.(string); ok {
			return v
		}
	case ir.Integer:
		if v, ok := v.(int64); ok {
			return v
		}
	case ir.Boolean:
		if v, ok := v.(bool); ok {
			return v
		}
	case ir.Array:
		if list, ok := v.([]any); ok {
			words := make([]string, 0, len(list))
			for _, item := range list {
				word, ok := item.(string)
				if !ok {
					break
				}
				words = append(words, word)
			}
			if len(words) == len(list) {
				return words
			}
		}
	}
	want := map[ir.Kind]string{ir.String: "a string", ir.Integer: "an integer", ir.Boolean: "a boolean", ir.Array: "an array of strings"}[kind]
	c.reportf(s.Default.At, "CT008", "", "the default of %s must be %s", s.Name, want)
	return nil
}

func (c *checker) constraints(s *spec.Constraints, kind ir.Kind) ir.Constraints {
	belongs := func(set bool, at spec.Place, key string, to ir.Kind) {
		if set && kind != to && kind != "" {
			c.reportf(at, "CT006", "", "%s does not apply to the type %s", key, kind)
		}
	}
	belongs(s.Minimum.Set, s.Minimum.At, "minimum", ir.Integer)
	belongs(s.Maximum.Set, s.Maximum.At, "maximum", ir.Integer)
	belongs(s.MinLength.Set, s.MinLength.At, "min_length", ir.String)
	belongs(s.MaxLength.Set, s.MaxLength.At, "max_length", ir.String)
	belongs(s.MinItems.Set, s.MinItems.At, "min_items", ir.Array)
	belongs(s.MaxItems.Set, s.MaxItems.At, "max_items", ir.Array)
	belongs(s.Enum.Set, s.Enum.At, "enum", ir.String)
	belongs(s.Pattern.Set, s.Pattern.At, "pattern", ir.String)
	belongs(s.PatternSays.Set, s.PatternSays.At, "pattern_says", ir.String)
	belongs(s.NotBlank.Set, s.NotBlank.At, "not_blank", ir.String)
	belongs(s.SingleLine.Set, s.SingleLine.At, "single_line", ir.String)
	out := ir.Constraints{
		Minimum: bound(s.Minimum), Maximum: bound(s.Maximum),
		MinLength: bound(s.MinLength), MaxLength: bound(s.MaxLength),
		MinItems: bound(s.MinItems), MaxItems: bound(s.MaxItems),
		Enum: s.Enum.Value, Pattern: s.Pattern.Value, PatternSays: s.PatternSays.Value,
		NotBlank: s.NotBlank.Value, SingleLine: s.SingleLine.Value,
	}
	c.order(s.Minimum, s.Maximum, -largest)
	c.order(s.MinLength, s.MaxLength, 0)
	c.order(s.MinItems, s.MaxItems, 0)
	c.enum(s)
	c.pattern(s)
	return out
}

func bound(f spec.Field[int64]) *int64 {
	if !f.Set {
		return nil
	}
	v := f.Value
	return &v
}

// largest is the greatest integer that every JSON reader keeps: those that read
// numbers as floating point are exact up to here.
const largest = 1<<53 - 1

// order demands that two bounds leave room between them. least is the smallest
// number either may be.
func (c *checker) order(low, high spec.Field[int64], least int64) {
	for _, f := range []spec.Field[int64]{low, high} {
		switch {
		case f.Set && f.Value < 0 && least == 0:
			c.report(f.At, "CT007", "a size cannot be negative", "")
		case f.Set && (f.Value < least || f.Value > largest):
			c.reportf(f.At, "CT007", "", "%d is beyond the integers that every JSON reader keeps exact, which end at %d", f.Value, largest)
		}
	}
	if low.Set && high.Set && low.Value > high.Value {
		c.reportf(high.At, "CT007", "", "no value fits: the lower bound %d is above the upper bound %d", low.Value, high.Value)
	}
}

func (c *checker) enum(s *spec.Constraints) {
	f := s.Enum
	if !f.Set {
		return
	}
	if len(f.Value) == 0 {
		c.report(f.At, "CT010", "the enum allows nothing", "")
	}
	for i, v := range f.Value {
		switch {
		case v == "" || strings.TrimSpace(v) != v || !oneLine(v):
			c.reportf(f.At.Elem(i), "CT010", "", "%q cannot be typed reliably", v)
		case slices.Contains(f.Value[:i], v):
			c.reportf(f.At.Elem(i), "CT010", "", "%q is in the enum twice", v)
		}
	}
	if s.MinLength.Set || s.MaxLength.Set || s.Pattern.Set || s.NotBlank.Set || s.SingleLine.Set {
		c.report(f.At, "CT010", "an enum says all there is to say: no other constraint goes with it", "drop the other one")
	}
}

func (c *checker) pattern(s *spec.Constraints) {
	says := s.PatternSays
	switch {
	case !says.Set:
	case !s.Pattern.Set:
		c.report(says.At, "CT011", "there is no pattern for pattern_says to explain", "")
	case strings.TrimSpace(says.Value) == "" || !oneLine(says.Value):
		c.report(says.At, "CT011", "pattern_says is one line of text", `it completes "must …"`)
	}
	if !s.Pattern.Set {
		return
	}
	if why := notPortable(s.Pattern.Value); why != "" {
		c.reportf(s.Pattern.At, "CT011", "", "the pattern %s", why)
	}
	if !says.Set {
		c.report(s.Pattern.At, "CT011", "the pattern does not say what it asks for", `add pattern_says, which completes "must …": a regular expression is no error message`)
	}
	if s.NotBlank.Value || s.SingleLine.Value {
		c.report(s.Pattern.At, "CT011", "a pattern cannot be combined with not_blank or single_line", "put both into the pattern")
	}
}

func (c *checker) repairs(s *spec.Param, p *ir.Param) []ir.Repair {
	fits := map[ir.Repair]bool{
		ir.RepairFromString:  p.Kind != ir.String && !p.OneOrMany,
		ir.RepairFromInteger: p.Kind == ir.String || p.Kind == ir.Array,
		ir.RepairFromScalar:  p.Kind == ir.Array && !p.OneOrMany,
		ir.RepairClamp:       p.Kind == ir.Integer && p.Maximum != nil,
		ir.RepairSpelling:    len(p.Enum) > 0 || p.Items != nil && len(p.Items.Enum) > 0,
	}
	var out []ir.Repair
	for i, name := range s.Repairs.Value {
		at := s.Repairs.At.Elem(i)
		repair := ir.Repair(c.choice(spec.Field[string]{Value: name, Set: true, At: at}, "a repair",
			"from_string", "from_integer", "from_scalar", "clamp", "spelling"))
		switch {
		case repair == "" || p.Kind == "":
		case !fits[repair] && p.OneOrMany && (repair == ir.RepairFromString || repair == ir.RepairFromScalar):
			c.reportf(at, "CT012", "leave it out: one_or_many takes a string, and an array inside of one, as they are", "%s has nothing to repair in %s", name, s.Name)
		case !fits[repair]:
			c.reportf(at, "CT012", unfit(repair), "%s cannot repair %s", name, s.Name)
		case slices.Contains(out, repair):
			c.reportf(at, "CT012", "", "%s is listed twice", name)
		default:
			out = append(out, repair)
		}
	}
	return out
}

// unfit returns what a repair is for.
func unfit(r ir.Repair) string {
	switch r {
	case ir.RepairFromString:
		return "it reads integers, booleans and arrays from strings"
	case ir.RepairFromInteger:
		return "it writes integers as strings"
	case ir.RepairFromScalar:
		return "it makes an array of one value"
	case ir.RepairClamp:
		return "it lowers an integer to its maximum"
	case ir.RepairSpelling:
		return "it finds the value of an enum"
	}
	return ""
}

func (c *checker) rule(t *ir.Tool, r spec.Rule) ir.Rule {
	names := r.Exclusive.Value
	if r.Exclusive.Set && len(names) < 2 {
		c.report(r.Exclusive.At, "CT013", "a rule needs two parameters", "")
	}
	for i, name := range names {
		at := r.Exclusive.At.Elem(i)
		switch p := t.Param(name); {
		case p == nil:
			c.dangling(at, "CT013", suggest(name, "parameters", paramNames(t)), "there is no parameter %q", name)
		case p.Required || p.Default != nil:
			c.reportf(at, "CT013", "", "%s always has a value, so it cannot exclude others", name)
		case slices.Contains(names[:i], name):
			c.reportf(at, "CT013", "", "%s is named twice", name)
		}
	}
	return ir.Rule{Exclusive: names}
}

func paramNames(t *ir.Tool) []string {
	names := make([]string, 0, len(t.Params))
	for _, p := range t.Params {
		names = append(names, p.Name)
	}
	return names
}

// works demands that something does the tool's work, and that the answer of a
// tool without a handler can be made from its command's records alone. The
// latter is only asked of an envelope that is sound, in a file that is.
func (c *checker) works(tool *ir.Tool, t *spec.Tool, sound bool) {
	required := slices.ContainsFunc(tool.Params, func(p ir.Param) bool { return p.Required })
	if required && len(t.Examples) == 0 {
		c.dangling(t.Name.At, "CT025", "add an [[examples]] table", "the tool has a required parameter and no example")
	}
	if tool.Handler != ir.HandlerCommand || tool.Answer == ir.TextAnswer {
		return
	}
	if t.Command == nil {
		c.dangling(t.Name.At, "CT023", `add a [command] table, or handler = "go"`, "the tool has neither a command nor a handler")
	}
	if sound && !t.File.Broken && tool.Envelope.Element(tool.Envelope.Root) != nil {
		c.filled(tool, t.Envelope)
	}
}
