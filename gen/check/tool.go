package check

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
)

const (
	longestName        = 50
	longestParameter   = 40
	longestDescription = 2048
	toolSummary        = 120
	parameterSummary   = 160
)

func (c *checker) tool(t *spec.Tool, family string) ir.Tool {
	name := t.Name.Value
	if t.Name.Set && !isSnake(name, longestName) {
		c.reportf(t.Name.At, "CT001", "use lower-case letters, digits and _, beginning with a letter", "%q is not a tool name", name)
	}
	short := strings.TrimPrefix(name, family+"_")
	tool := ir.Tool{
		Name: name, Family: family, Short: short, GoName: goName(short), Source: t.File.Name,
		Summary:     c.summary(t.Summary, toolSummary),
		Description: c.description(t.Description),
		Effect:      ir.Effect(c.choice(t.Effect, "effect", "read", "write")),
		Enable:      c.choice(t.Enable, "enable", "on", "off", "always", "explicit"),
		Run:         c.choice(t.Run, "run", "ask", "unattended", "edit", "skip"),
		Handler:     ir.HandlerCommand,
	}
	if t.Handler.Set {
		tool.Handler = ir.Handler(c.choice(t.Handler, "handler", "command", "go"))
	}
	for i := range t.Params {
		tool.Params = append(tool.Params, c.param(&t.Params[i]))
	}
	names := map[string]string{}
	for i, p := range tool.Params {
		if before, taken := names[p.GoName]; taken {
			c.reportf(t.Params[i].At, "CT026", "rename one of them", "%s and %s have the same Go name %s", before, p.Name, p.GoName)
		}
		names[p.GoName] = p.Name
	}
	for _, r := range t.Rules {
		tool.Rules = append(tool.Rules, c.rule(&tool, r))
	}
	if t.Command != nil {
		tool.Command = c.command(&tool, t.Command)
	}
	if t.Envelope != nil {
		tool.Envelope = c.envelope(&tool, t.Envelope)
	}
	c.handler(&tool, t)
	return tool
}

func (c *checker) description(f spec.Field[string]) string {
	text := paragraphs(f.Value)
	switch {
	case !f.Set:
	case text == "":
		c.report(f.At, "CT004", "the description is empty", "say what the tool does, when to use it, and what it returns")
	case utf8.RuneCountInString(text) > longestDescription:
		c.reportf(f.At, "CT004", "", "the description has %d characters; %d are allowed", utf8.RuneCountInString(text), longestDescription)
	case strings.IndexFunc(text, func(r rune) bool { return r < 0x20 && r != '\n' || r == 0x7f }) >= 0:
		c.report(f.At, "CT004", "the description has control characters", "")
	}
	return text
}

func (c *checker) param(s *spec.Param) ir.Param {
	if !isSnake(s.Name, longestParameter) || slices.Contains([]string{"ctx", "action", "answers", "options"}, s.Name) {
		c.reportf(s.At, "CT005", "use lower-case letters, digits and _, beginning with a letter", "%q is not a parameter name", s.Name)
	}
	p := ir.Param{
		Name: s.Name, GoName: goName(s.Name), Summary: c.summary(s.Summary, parameterSummary),
		Kind: ir.Kind(c.choice(s.Type, "type", "string", "integer", "boolean", "array")), Required: s.Required.Value,
	}
	p.Constraints = c.constraints(&s.Constraints, p.Kind)
	if s.Items != nil {
		if p.Kind == ir.Array {
			items := c.constraints(s.Items, ir.String)
			p.Items = &items
		} else {
			c.reportf(s.ItemsAt, "CT006", "", "%s is no array and has no items", s.Name)
		}
	}
	if p.Kind == ir.Array && p.Items == nil {
		p.Items = &ir.Constraints{}
	}
	if s.Default.Set {
		if p.Required {
			c.reportf(s.Default.At, "CT009", "drop required, or the default", "%s is required and has a default", s.Name)
		}
		p.Default = c.defaultValue(s, p.Kind)
	}
	p.Repairs = c.repairs(s, &p)
	return p
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
	is := func(kinds ...ir.Kind) bool { return slices.Contains(kinds, kind) }
	misplaced := func(set bool, at spec.Place, key string, kinds ...ir.Kind) {
		if set && !is(kinds...) {
			c.reportf(at, "CT006", "", "%s does not apply to the type %s", key, kind)
		}
	}
	misplaced(s.Minimum.Set, s.Minimum.At, "minimum", ir.Integer)
	misplaced(s.Maximum.Set, s.Maximum.At, "maximum", ir.Integer)
	misplaced(s.MinLength.Set, s.MinLength.At, "min_length", ir.String)
	misplaced(s.MaxLength.Set, s.MaxLength.At, "max_length", ir.String)
	misplaced(s.MinItems.Set, s.MinItems.At, "min_items", ir.Array)
	misplaced(s.MaxItems.Set, s.MaxItems.At, "max_items", ir.Array)
	misplaced(s.Enum.Set, s.Enum.At, "enum", ir.String)
	misplaced(s.Pattern.Set, s.Pattern.At, "pattern", ir.String)
	misplaced(s.NotBlank.Set, s.NotBlank.At, "not_blank", ir.String)
	misplaced(s.SingleLine.Set, s.SingleLine.At, "single_line", ir.String)
	out := ir.Constraints{
		Minimum: bound(s.Minimum), Maximum: bound(s.Maximum),
		MinLength: bound(s.MinLength), MaxLength: bound(s.MaxLength),
		MinItems: bound(s.MinItems), MaxItems: bound(s.MaxItems),
		Enum: s.Enum.Value, Pattern: s.Pattern.Value, PatternSays: s.PatternSays.Value,
		NotBlank: s.NotBlank.Value, SingleLine: s.SingleLine.Value,
	}
	c.order(s.Minimum, s.Maximum, false)
	c.order(s.MinLength, s.MaxLength, true)
	c.order(s.MinItems, s.MaxItems, true)
	c.enum(s.Enum)
	if s.Pattern.Set {
		if why := notPortable(s.Pattern.Value); why != "" {
			c.reportf(s.Pattern.At, "CT011", "", "the pattern %s", why)
		}
		if !s.PatternSays.Set {
			c.report(s.Pattern.At, "CT011", "the pattern does not say what it asks for", `add pattern_says, which completes "must …": a regular expression is no error message`)
		}
		if s.NotBlank.Value || s.SingleLine.Value {
			c.report(s.Pattern.At, "CT011", "a pattern cannot be combined with not_blank or single_line", "put both into the pattern")
		}
	}
	return out
}

func bound(f spec.Field[int64]) *int64 {
	if !f.Set {
		return nil
	}
	v := f.Value
	return &v
}

func (c *checker) order(low, high spec.Field[int64], size bool) {
	if size && low.Set && low.Value < 0 {
		c.report(low.At, "CT007", "a size cannot be negative", "")
	}
	if size && high.Set && high.Value < 0 {
		c.report(high.At, "CT007", "a size cannot be negative", "")
	}
	if low.Set && high.Set && low.Value > high.Value {
		c.reportf(high.At, "CT007", "", "no value fits: the lower bound %d is above the upper bound %d", low.Value, high.Value)
	}
}

func (c *checker) enum(f spec.Field[[]string]) {
	if f.Set && len(f.Value) == 0 {
		c.report(f.At, "CT010", "the enum allows nothing", "")
	}
	for i, v := range f.Value {
		switch {
		case v == "" || strings.TrimSpace(v) != v || strings.IndexFunc(v, func(r rune) bool { return r < 0x20 || r == 0x7f }) >= 0:
			c.reportf(f.At.Elem(i), "CT010", "", "%q cannot be typed reliably", v)
		case slices.Contains(f.Value[:i], v):
			c.reportf(f.At.Elem(i), "CT010", "", "%q is in the enum twice", v)
		}
	}
}

// notPortable says why a pattern is refused. Only constructs that RE2 and
// ECMA-262 read alike pass: no Perl classes (\s and \w differ on Unicode), no
// flags, no named groups, no \A, \z, \b or POSIX classes.
func notPortable(pattern string) string {
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return "is not a regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '\\':
			i++
			if i < len(pattern) && !strings.ContainsRune(`\/.*+?()[]{}|^$-nrt`, rune(pattern[i])) {
				return fmt.Sprintf("uses \\%c, which regular expression dialects read differently", pattern[i])
			}
		case strings.HasPrefix(pattern[i:], "(?") && !strings.HasPrefix(pattern[i:], "(?:"):
			return "uses a (?…) construct, which regular expression dialects read differently"
		case strings.HasPrefix(pattern[i:], "[[:"):
			return "uses a POSIX class, which ECMA-262 does not have"
		case pattern[i] >= 0x80:
			return "has characters outside ASCII"
		}
	}
	return ""
}

func (c *checker) repairs(s *spec.Param, p *ir.Param) []ir.Repair {
	fits := map[ir.Repair]bool{
		ir.RepairFromString:  p.Kind != ir.String,
		ir.RepairFromInteger: p.Kind == ir.String || p.Kind == ir.Array,
		ir.RepairFromScalar:  p.Kind == ir.Array,
		ir.RepairClamp:       p.Kind == ir.Integer && p.Maximum != nil,
		ir.RepairSpelling:    len(p.Enum) > 0 || p.Items != nil && len(p.Items.Enum) > 0,
	}
	var out []ir.Repair
	for i, name := range s.Repairs.Value {
		at := s.Repairs.At.Elem(i)
		repair := ir.Repair(c.choice(spec.Field[string]{Value: name, Set: true, At: at}, "a repair",
			"from_string", "from_integer", "from_scalar", "clamp", "spelling"))
		ok, known := fits[repair]
		switch {
		case !known:
		case !ok:
			c.reportf(at, "CT012", "", "%s cannot repair %s", name, s.Name)
		case slices.Contains(out, repair):
			c.reportf(at, "CT012", "", "%s is listed twice", name)
		default:
			out = append(out, repair)
		}
	}
	return out
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
			c.reportf(at, "CT013", "parameters: "+strings.Join(paramNames(t), ", "), "there is no parameter %q", name)
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

// handler demands that something does the tool's work.
func (c *checker) handler(tool *ir.Tool, t *spec.Tool) {
	required := slices.ContainsFunc(tool.Params, func(p ir.Param) bool { return p.Required })
	if required && len(t.Examples) == 0 {
		c.report(t.Name.At, "CT025", "the tool has a required parameter and no example", "add an [[examples]] table")
	}
	if tool.Handler != ir.HandlerCommand {
		return
	}
	if t.Command == nil {
		c.report(t.Name.At, "CT023", "the tool has neither a command nor a handler", `add a [command] table, or handler = "go"`)
		return
	}
	root := tool.Envelope.Element(tool.Envelope.Root)
	if root == nil {
		return
	}
	records := 0
	for _, child := range root.Children {
		if child.From == "records" {
			records++
		}
	}
	if records != 1 {
		c.report(t.Envelope.At, "CT023", "without a handler, the root needs exactly one child whose element has from = \"records\"", "")
	}
}
