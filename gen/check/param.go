package check

import (
	"math"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/contract"
)

// deepest is the maximum depth of nested values below a parameter. Models fill deeper values badly, and clients show
// them badly.
const deepest = 4

// params checks the parameters of a tool, or the members of an object. The Go names of nested types begin with owner.
func (c *checker) params(list []spec.Param, owner string, depth int) []ir.Param {
	names := map[string]string{}
	var out []ir.Param
	for i := range list {
		before := len(c.diags)
		p := c.param(&list[i], owner, depth)
		if depth == 0 && (!c.sound(&list[i], before) || list[i].Default.Set && p.Default == nil) {
			c.unsound[p.Name] = true
		}
		out = append(out, p)
		if before, taken := names[p.GoName]; taken {
			c.reportName(list[i].At, "CT026", "rename one of them", "%s and %s have the same Go name %s", before, p.Name, p.GoName)
		}
		names[p.GoName] = p.Name
	}
	return out
}

// sound reports whether the possible values of s are known: no diagnostic since before is about them.
func (c *checker) sound(s *spec.Param, before int) bool {
	return s.At.Sound() && !slices.ContainsFunc(c.diags[before:], func(d diag.Diagnostic) bool {
		return slices.Contains([]string{"CT002", "CT006", "CT007", "CT010", "CT011", "CT032", "CT033"}, d.Rule)
	})
}

func (c *checker) param(s *spec.Param, owner string, depth int) ir.Param {
	switch {
	case !isSnake(s.Name, longestOther):
		c.reportName(s.At, "CT005", nameHint(s.Name, longestOther), "%q is not a parameter name", s.Name)
	case depth == 0 && slices.Contains([]string{"ctx", "action", "answers", "options"}, s.Name):
		c.reportName(s.At, "CT005", "give it another name", "hosts use %q for something else", s.Name)
	}
	p := ir.Param{
		Name: s.Name, GoName: ir.GoName(s.Name), Summary: c.summary(s.Summary, parameterSummary),
		Kind: ir.Kind(c.choice(s.Type, "type", kinds()...)), Required: s.Required.Value,
	}
	before := len(c.diags)
	c.within(s, &p, owner+p.GoName, depth)
	if s.OfResult {
		c.presence(s, &p, depth)
		return p
	}
	if s.Default.Set && p.Kind != "" {
		if p.Required {
			c.reportf(s.Default.At, "CT009", "drop required, or the default", "%s is required and has a default", s.Name)
		}
		p.Default = c.defaultValue(s, &p)
		if p.Default != nil && c.sound(s, before) {
			c.judgeDefault(s, p)
		}
	}
	c.oneOrMany(s, &p)
	p.Clamp = c.clamp(s, &p)
	p.Repairs = c.repairs(s, &p)
	return p
}

// presence sets when a field of a result is written.
func (c *checker) presence(s *spec.Param, p *ir.Param, depth int) {
	presence := ir.Always
	if s.Presence.Set {
		presence = ir.Presence(c.choice(s.Presence, "presence", string(ir.Always), string(ir.NonZero), string(ir.Nullable)))
	}
	p.Required, p.Nullable = presence != ir.NonZero, presence == ir.Nullable
	if depth == 0 && slices.Contains([]string{"ok", "code", "reason", "notes"}, s.Name) {
		c.reportName(s.At, "CT036", "give it another name", "%s is written by the generator", s.Name)
	}
}

// within checks the constraints of a value and its nested values. The Go names of nested types begin with name.
func (c *checker) within(s *spec.Param, p *ir.Param, name string, depth int) {
	p.Nullable = s.Nullable.Value
	p.Constraints = c.constraints(s, p.Kind)
	if depth > deepest {
		c.reportName(s.At, "CT032", "", "values are nested more than %d levels deep here", deepest)
		return
	}
	switch {
	case s.Items != nil:
		p.Items = c.items(s, name, depth+1)
		if p.Kind != ir.Array && p.Kind != "" {
			c.reportName(s.Items.At, "CT006", "", "%s is no array and has no items", s.Name)
		}
	case p.Kind == ir.Array:
		p.Items = &ir.Param{Kind: ir.String}
	}
	c.members(s, p, name, depth+1)
}

// items checks the table of an array's items and returns their parameter: its type, which is a string by
// default, its summary and its constraints.
func (c *checker) items(s *spec.Param, name string, depth int) *ir.Param {
	p := &ir.Param{Kind: ir.String}
	if s.Items.Type.Set || s.Items.At.Key("type").Doubtful() {
		p.Kind = ir.Kind(c.choice(s.Items.Type, "type", kinds()...))
	}
	if s.Items.Summary.Set {
		p.Summary = c.summary(s.Items.Summary, parameterSummary)
	}
	c.within(s.Items, p, singular(name), depth)
	return p
}

// members checks the members of an object, or the variants that a key selects.
func (c *checker) members(s *spec.Param, p *ir.Param, name string, depth int) {
	if p.Kind != ir.Object {
		switch {
		case p.Kind == "":
		case len(s.Members) > 0:
			c.reportName(s.At.Key("members"), "CT006", "", "members do not apply to the type %s", p.Kind)
		case s.Key.Set || len(s.Variants) > 0:
			c.reportName(s.At, "CT006", "", "key and variants do not apply to the type %s", p.Kind)
		}
		return
	}
	what := "an object of " + c.spec.Name.Value
	p.TypeName, p.Key = c.declare(name, "Object", what), s.Key.Value
	p.Members = c.params(s.Members, p.TypeName, depth)
	switch {
	case !s.Key.Set && len(s.Variants) == 0:
		if len(s.Members) == 0 && s.At.Sound() {
			c.reportf(s.At, "CT032", "add a table to members, or a key with variants", "the object has no members")
		}
		return
	case s.At.Key("key").Doubtful():
	case !s.Key.Set:
		c.reportName(s.At, "CT032", `add key = "…", the member whose value tells them apart`, "nothing tells the variants of the object apart")
	case len(s.Members) > 0:
		c.reportName(s.At.Key("members"), "CT032", "put them into every variant", "an object with variants has no members beside them")
	case !isSnake(p.Key, longestOther):
		c.reportf(s.Key.At, "CT005", nameHint(p.Key, longestOther), "%q is not a member name", p.Key)
	case len(s.Variants) < 2 && s.At.Sound():
		c.reportf(s.Key.At, "CT032", "add another, or make it an object with members", "there is nothing to tell apart: the object needs two variants")
	}
	names := map[string]string{"": ""}
	for i := range s.Variants {
		v := &s.Variants[i]
		variant := ir.Variant{Value: v.Name, GoName: ir.GoName(v.Name), Summary: c.summary(v.Summary, parameterSummary)}
		if !isSnake(v.Name, longestOther) {
			c.reportName(v.At, "CT005", nameHint(v.Name, longestOther), "%q is not a name for a variant", v.Name)
		}
		if before, taken := names[variant.GoName]; taken {
			c.reportName(v.At, "CT026", "rename one of them", "%s and %s have the same Go name %s", before, v.Name, variant.GoName)
		}
		names[variant.GoName] = v.Name
		variant.TypeName = c.declare(p.TypeName+variant.GoName, "Object", what)
		variant.Members = c.params(v.Members, variant.TypeName, depth)
		for j := range v.Members {
			if v.Members[j].Name == p.Key {
				c.reportName(v.Members[j].At, "CT032", "leave it out", "the key %s is a member of every variant already", p.Key)
			}
		}
		p.Variants = append(p.Variants, variant)
	}
}

// oneOrMany checks a parameter that takes one item as well as an array.
func (c *checker) oneOrMany(s *spec.Param, p *ir.Param) {
	p.OneOrMany = s.OneOrMany.Value && p.Texts()
	least, most := s.Constraints["min_items"], s.Constraints["max_items"]
	switch {
	case !s.OneOrMany.Set:
	case p.Kind != ir.Array && p.Kind != "":
		c.reportf(s.OneOrMany.At, "CT006", "", "one_or_many does not apply to the type %s", p.Kind)
	case s.OneOrMany.Value && p.Kind == ir.Array && !p.OneOrMany:
		c.report(s.OneOrMany.At, "CT006", "one_or_many is of arrays of strings alone", "from_scalar among the repairs reads one value as an array")
	case !p.OneOrMany:
	case p.Nullable:
		c.report(s.OneOrMany.At, "CT006", "one_or_many reads null as not given, so that nullable means nothing", "drop one of the two")
	case least.Set && least.Value.(float64) > 1:
		c.reportf(least.At, "CT007", "drop one of the two", "one_or_many takes one item, and min_items asks for %v", least.Value)
	case most.Set && most.Value.(float64) == 0:
		c.report(most.At, "CT007", "one_or_many takes one item, and max_items allows none", "drop one of the two")
	}
}

func (c *checker) defaultValue(s *spec.Param, p *ir.Param) any {
	wants := "a " + string(p.Kind)
	switch p.Kind {
	case ir.Object:
		c.reportf(s.Default.At, "CT008", "give its members defaults", "the object %s cannot have a default of its own", s.Name)
		return nil
	case ir.Integer:
		wants = "an integer"
	case ir.Array:
		wants = "an array of " + string(p.Item().Kind) + "s"
		if !flat(p) {
			c.reportf(s.Default.At, "CT008", "an array of scalars can have one", "%s cannot have a default", s.Name)
			return nil
		}
	case ir.String, ir.Number, ir.Boolean:
	}
	if v := typed(s.Default.Value, p); v != nil {
		return v
	}
	if p.Kind == ir.Array && (p.Item().Kind == "" || s.At.Key("items").Doubtful()) {
		return nil
	}
	c.reportf(s.Default.At, "CT008", "", "the default of %s must be %s", s.Name, wants)
	return nil
}

// flat reports whether the items of an array are scalars that cannot be null.
func flat(p *ir.Param) bool {
	item := p.Item()
	return item.Kind != ir.Array && item.Kind != ir.Object && !item.Nullable
}

// typed returns a value of a spec in the form of a default in the model, or nil if it has another type.
func typed(v any, p *ir.Param) any {
	switch v := v.(type) {
	case string:
		if p.Kind == ir.String {
			return v
		}
	case bool:
		if p.Kind == ir.Boolean {
			return v
		}
	case int64:
		switch p.Kind {
		case ir.Integer:
			return v
		case ir.Number:
			return float64(v)
		}
	case float64:
		if p.Kind == ir.Number && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	case []any:
		if p.Kind == ir.Array {
			return typedList(v, p)
		}
	}
	return nil
}

func typedList(list []any, p *ir.Param) any {
	values, texts := make([]any, 0, len(list)), make([]string, 0, len(list))
	for _, item := range list {
		value := typed(item, p.Item())
		if value == nil {
			return nil
		}
		values = append(values, value)
		if text, ok := value.(string); ok {
			texts = append(texts, text)
		}
	}
	if p.Texts() {
		return texts
	}
	return values
}

// constraints checks the constraints of a value of the given type.
func (c *checker) constraints(s *spec.Param, kind ir.Kind) ir.Constraints {
	var out ir.Constraints
	var low spec.Field[any] // the lower bound, which comes right before its upper bound
	for _, row := range ir.ConstraintTable() {
		f := s.Constraints[row.Key]
		if f.Set {
			row.Set(&out, f.Value)
			if !row.Applies(kind) && kind != "" {
				c.reportf(f.At, "CT006", "", "%s does not apply to the type %s", row.Key, kind)
			}
		}
		switch row.Form {
		case ir.Least:
			c.bound(f, row, kind)
			low = f
		case ir.Most:
			c.bound(f, row, kind)
			if low.Set && f.Set && low.Value.(float64) > f.Value.(float64) {
				c.reportf(f.At, "CT007", "", "no value fits: the lower bound %v is above the upper bound %v", low.Value, f.Value)
			}
		case ir.Flag, ir.Text, ir.List, ir.Remark:
		}
	}
	c.enum(s, out)
	c.pattern(s, out)
	c.format(s, out)
	return out
}

// largest is the greatest integer that every JSON reader keeps exactly. Readers that use floating point lose digits
// above it.
const largest = 1<<53 - 1

// bound checks one bound.
func (c *checker) bound(f spec.Field[any], row ir.Constraint, kind ir.Kind) {
	if !f.Set {
		return
	}
	n := f.Value.(float64)
	switch {
	case row.Unit != "" && n < 0:
		c.report(f.At, "CT007", "a size cannot be negative", "")
	case math.IsNaN(n) || math.IsInf(n, 0):
		c.report(f.At, "CT007", "JSON has no such number", "")
	case kind == ir.Number, kind == "":
	case n != math.Trunc(n):
		c.reportf(f.At, "CT007", `write a whole number, or type = "number"`, "an integer cannot have the bound %v", n)
	case math.Abs(n) > largest:
		c.reportf(f.At, "CT007", "", "this is beyond the integers that every JSON reader keeps exact, which end at %d", largest)
	}
}

// others reports whether a string has constraints beside the given ones.
func others(c ir.Constraints, kind ir.Kind, but ...string) bool {
	for _, row := range ir.ConstraintTable() {
		if row.Applies(kind) && row.Form != ir.Remark && !slices.Contains(but, row.Key) && row.Of(&c) != nil {
			return true
		}
	}
	return false
}

func (c *checker) enum(s *spec.Param, out ir.Constraints) {
	f := s.Constraints["enum"]
	if !f.Set {
		return
	}
	if len(out.Enum) == 0 {
		c.report(f.At, "CT010", "the enum allows nothing", "")
	}
	for i, v := range out.Enum {
		switch {
		case v == "" || strings.TrimSpace(v) != v || !oneLine(v):
			c.reportf(f.At.Elem(i), "CT010", "", "%q cannot be typed reliably", v)
		case slices.Contains(out.Enum[:i], v):
			c.reportf(f.At.Elem(i), "CT010", "", "%q is in the enum twice", v)
		}
	}
	if others(out, ir.String, "enum") {
		c.report(f.At, "CT010", "an enum says all there is to say: no other constraint goes with it", "drop the other one")
	}
}

func (c *checker) pattern(s *spec.Param, out ir.Constraints) {
	says, pattern := s.Constraints["pattern_says"], s.Constraints["pattern"]
	switch {
	case !says.Set, s.At.Key("pattern").Doubtful():
	case !pattern.Set:
		c.report(says.At, "CT011", "there is no pattern for pattern_says to explain", "")
	case strings.TrimSpace(out.PatternSays) == "" || !oneLine(out.PatternSays):
		c.report(says.At, "CT011", "pattern_says is one line of text", `it completes "must …"`)
	}
	if !pattern.Set {
		return
	}
	hint := ""
	if !says.Set && !s.At.Key("pattern_says").Doubtful() {
		hint = `add pattern_says, which completes "must …": a regular expression is no error message`
	}
	if why := notPortable(out.Pattern); why != "" {
		c.reportf(pattern.At, "CT011", hint, "the pattern %s", why)
	} else if hint != "" {
		c.report(pattern.At, "CT011", "pattern_says is missing", hint)
	}
	if out.NotBlank || out.SingleLine {
		c.report(pattern.At, "CT011", "a pattern cannot be combined with not_blank or single_line", "put both into the pattern")
	}
}

func (c *checker) format(s *spec.Param, out ir.Constraints) {
	f := s.Constraints["format"]
	if !f.Set {
		return
	}
	var names []string
	for _, format := range ir.Formats() {
		names = append(names, format.Name)
	}
	c.choice(spec.Field[string]{Value: out.Format, Set: true, At: f.At}, "format", names...)
	if others(out, ir.String, "format", "max_length", "enum") {
		c.report(f.At, "CT033", "a format says all there is to say: only max_length goes with it", "drop the other one")
	}
}

// clamp returns the bounds that integers are clamped to, or nil.
func (c *checker) clamp(s *spec.Param, p *ir.Param) *[2]int64 {
	if !s.Clamp.Set {
		return nil
	}
	bounds := s.Clamp.Value
	n, isNumber := p.Default.(int64)
	switch {
	case p.Kind != ir.Integer:
		c.report(s.Clamp.At, "CT012", "only an integer is put between bounds", "drop clamp")
	case p.Minimum != nil || p.Maximum != nil:
		c.report(s.Clamp.At, "CT012", "clamp excludes minimum and maximum", "drop these, or clamp")
	case len(bounds) != 2 || bounds[0] >= bounds[1]:
		c.report(s.Clamp.At, "CT012", "clamp is the least and the greatest number", "such as clamp = [1, 200]")
	case isNumber && (n < bounds[0] || n > bounds[1]):
		c.reportf(s.Default.At, "CT012", "choose one within them", "the default %d is not between the bounds of clamp", n)
	case !slices.Contains(s.Repairs.Value, string(contract.ToBounds)):
		c.report(s.Clamp.At, "CT012", "clamp is given, and repairs does not list it", `add repairs = ["clamp"]`)
	default:
		return &[2]int64{bounds[0], bounds[1]}
	}
	return nil
}

func (c *checker) repairs(s *spec.Param, p *ir.Param) []contract.Repair {
	fits := map[contract.Repair]bool{
		contract.FromString:  p.Kind != ir.String && !p.OneOrMany,
		contract.FromInteger: p.Kind == ir.String || p.Texts(),
		contract.FromScalar:  p.Kind == ir.Array && !p.OneOrMany,
		contract.ToBounds:    p.Kind == ir.Integer && p.Maximum != nil || s.Clamp.Set,
		contract.ToSpelling:  len(p.Enum) > 0 || p.Texts() && len(p.Items.Enum) > 0,
	}
	var out []contract.Repair
	for i, name := range s.Repairs.Value {
		at := s.Repairs.At.Elem(i)
		repair := contract.Repair(c.choice(spec.Field[string]{Value: name, Set: true, At: at}, "a repair",
			"from_string", "from_integer", "from_scalar", "clamp", "spelling"))
		switch {
		case repair == "", p.Kind == "", !fits[repair] && !s.At.Sound():
		case !fits[repair] && p.OneOrMany && (repair == contract.FromString || repair == contract.FromScalar):
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

// unfit describes the parameters that a repair applies to.
func unfit(r contract.Repair) string {
	switch r {
	case contract.FromString:
		return "it reads numbers, booleans, arrays and objects from strings"
	case contract.FromInteger:
		return "it writes integers as strings"
	case contract.FromScalar:
		return "it makes an array of one value"
	case contract.ToBounds:
		return "it puts an integer between the bounds of clamp, or lowers it to its maximum"
	case contract.ToSpelling:
		return "it finds the value of an enum"
	}
	return ""
}
