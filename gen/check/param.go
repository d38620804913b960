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

// maxDepth is the maximum depth of values nested in a parameter. Models fill, and clients show, deeper values badly.
const maxDepth = 4

// params checks the parameters of a tool, the fields of a result, or the members of an object, and returns them. The Go
// names of nested types begin with owner. depth is the number of arrays and objects around list, 0 for parameters and
// fields. At depth 0, params adds those with a mistake in their type, constraints or default to c.unsound.
func (c *checker) params(list []spec.Param, owner string, depth int) []ir.Param {
	names := map[string]string{} // by Go name: the name of the parameter
	var out []ir.Param
	for i := range list {
		diagsBefore := len(c.diags)
		p := c.param(&list[i], owner, depth)
		badDefault := list[i].Default.Set && p.Default == nil // param returns no default that is wrong
		isSound := !badDefault && c.valuesKnown(&list[i], diagsBefore)
		if depth == 0 && !isSound {
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

// valuesKnown reports whether it is known which values s allows: all of s could be read, and the diagnostics about s,
// which are c.diags[before:], report no mistake in a type, in constraints or in members.
func (c *checker) valuesKnown(s *spec.Param, before int) bool {
	return s.At.Sound() && !slices.ContainsFunc(c.diags[before:], func(d diag.Diagnostic) bool {
		return slices.Contains([]string{"CT002", "CT006", "CT007", "CT010", "CT011", "CT032", "CT033"}, d.Rule) // rules of these mistakes
	})
}

// param checks the table of a parameter of a tool, a field of a result or a member of an object, and returns it. The Go
// names of the types in it begin with owner. depth is the number of values around it.
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
	diagsBefore := len(c.diags)
	c.valueAndNested(s, &p, owner+p.GoName, depth)
	if s.OfResult {
		c.presence(s, &p, depth)
		return p
	}
	if s.Default.Set && p.Kind != "" {
		if p.Required {
			c.reportf(s.Default.At, "CT009", "drop required, or the default", "%s is required and has a default", s.Name)
		}
		p.Default = c.defaultValue(s, &p)
		if p.Default != nil && c.valuesKnown(s, diagsBefore) {
			c.checkDefault(s, p)
		}
	}
	c.oneOrMany(s, &p)
	p.Clamp = c.clamp(s, &p)
	p.Repairs = c.repairs(s, &p)
	return p
}

// presence sets whether the field p of a result is always written, and whether it may be null. It reports a field that
// the generator writes itself.
func (c *checker) presence(s *spec.Param, p *ir.Param, depth int) {
	written := ir.Always
	if s.Presence.Set {
		written = ir.Presence(c.choice(s.Presence, "presence", string(ir.Always), string(ir.NonZero), string(ir.Nullable)))
	}
	p.Required, p.Nullable = written != ir.NonZero, written == ir.Nullable
	if depth == 0 && slices.Contains([]string{"ok", "code", "reason", "notes"}, s.Name) {
		c.reportName(s.At, "CT036", "give it another name", "%s is written by the generator", s.Name)
	}
}

// valueAndNested sets the constraints of the value p, and its items, members or variants. s declares the value. The Go
// names of nested types begin with name. depth is the number of values around p. If it is too large, valueAndNested
// reports p and does not check the values in it.
func (c *checker) valueAndNested(s *spec.Param, p *ir.Param, name string, depth int) {
	p.Nullable = s.Nullable.Value
	p.Constraints = c.constraints(s, p.Kind)
	if depth > maxDepth {
		c.reportName(s.At, "CT032", "", "values are nested more than %d levels deep here", maxDepth)
		return
	}
	switch {
	case s.Items != nil:
		p.Items = c.items(s, name, depth+1)
		if p.Kind != ir.Array && p.Kind != "" {
			c.reportName(s.Items.At, "CT006", "", "%s is no array and has no items", s.Name)
		}
	case p.Kind == ir.Array:
		p.Items = &ir.Param{Kind: ir.String} // the default
	}
	c.members(s, p, name, depth+1)
}

// items checks the table of the items of the array s, and returns the type, summary and constraints of an item. The
// type is string by default. name is the Go name of the array, and depth the number of values around an item.
func (c *checker) items(s *spec.Param, name string, depth int) *ir.Param {
	p := &ir.Param{Kind: ir.String}
	if s.Items.Type.Set || s.Items.At.Key("type").Doubtful() {
		p.Kind = ir.Kind(c.choice(s.Items.Type, "type", kinds()...)) // "" for a type that could not be read
	}
	if s.Items.Summary.Set {
		p.Summary = c.summary(s.Items.Summary, parameterSummary)
	}
	c.valueAndNested(s.Items, p, singular(name), depth)
	return p
}

// members sets the members of the object p, or the variants that a key selects, and the Go name of the object. name is
// the Go name to begin with, and depth is the number of values around a member. If p is not an object, members reports
// the members, the key and the variants that s declares.
func (c *checker) members(s *spec.Param, p *ir.Param, name string, depth int) {
	if p.Kind != ir.Object {
		switch {
		case p.Kind == "": // an unknown type is reported already
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
	switch { // reports the first mistake; mistakes inside variants are reported below
	case !s.Key.Set && len(s.Variants) == 0:
		if len(s.Members) == 0 && s.At.Sound() {
			c.reportf(s.At, "CT032", "add a table to members, or a key with variants", "the object has no members")
		}
		return
	case s.At.Key("key").Doubtful(): // an unreadable key is reported already
	case !s.Key.Set:
		c.reportName(s.At, "CT032", `add key = "…", the member whose value tells them apart`, "nothing tells the variants of the object apart")
	case len(s.Members) > 0:
		c.reportName(s.At.Key("members"), "CT032", "put them into every variant", "an object with variants has no members beside them")
	case !isSnake(p.Key, longestOther):
		c.reportf(s.Key.At, "CT005", nameHint(p.Key, longestOther), "%q is not a member name", p.Key)
	case len(s.Variants) < 2 && s.At.Sound():
		c.reportf(s.Key.At, "CT032", "add another, or make it an object with members", "there is nothing to tell apart: the object needs two variants")
	}
	names := map[string]string{} // by Go name: the variant
	for i := range s.Variants {
		v := &s.Variants[i]
		variant := ir.Variant{Value: v.Name, GoName: ir.GoName(v.Name), Summary: c.summary(v.Summary, parameterSummary)}
		if !isSnake(v.Name, longestOther) {
			c.reportName(v.At, "CT005", nameHint(v.Name, longestOther), "%q is not a name for a variant", v.Name)
		} else if before, taken := names[variant.GoName]; taken {
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

// oneOrMany sets whether p takes one string as well as an array of strings. It reports one_or_many for a value of
// another type or one that may be null, and limits on the number of items that exclude one item.
func (c *checker) oneOrMany(s *spec.Param, p *ir.Param) {
	isTexts := p.Texts() // p is an array of strings, and no item may be null
	p.OneOrMany = s.OneOrMany.Value && isTexts
	minItems, maxItems := s.Constraints["min_items"], s.Constraints["max_items"]
	switch {
	case !s.OneOrMany.Set, p.Kind == "": // an unknown type is reported already
	case p.Kind != ir.Array:
		c.reportf(s.OneOrMany.At, "CT006", "", "one_or_many does not apply to the type %s", p.Kind)
	case !s.OneOrMany.Value: // one_or_many = false is right for every array
	case !isTexts:
		c.report(s.OneOrMany.At, "CT006", "one_or_many is of arrays of strings alone", "from_scalar among the repairs reads one value as an array")
	case p.Nullable:
		c.report(s.OneOrMany.At, "CT006", "one_or_many reads null as not given, so that nullable means nothing", "drop one of the two")
	case minItems.Set && minItems.Value.(float64) > 1:
		c.reportf(minItems.At, "CT007", "drop one of the two", "one_or_many takes one item, and min_items asks for %v", minItems.Value)
	case maxItems.Set && maxItems.Value.(float64) == 0:
		c.report(maxItems.At, "CT007", "one_or_many takes one item, and max_items allows none", "drop one of the two")
	}
}

// defaultValue returns the default that s declares for p, converted to the type of p. If p cannot have a default, or if
// the default has another type, it reports that and returns nil. If the type of an array's items is unknown, it returns
// nil without a report.
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
		if !hasScalarItems(p) {
			c.reportf(s.Default.At, "CT008", "an array of scalars can have one", "%s cannot have a default", s.Name)
			return nil
		}
	case ir.String, ir.Number, ir.Boolean:
	}
	if v := typed(s.Default.Value, p); v != nil {
		return v
	}
	if p.Kind == ir.Array && (p.Item().Kind == "" || s.At.Key("items").Doubtful()) {
		return nil // the type of the items is unknown
	}
	c.reportf(s.Default.At, "CT008", "", "the default of %s must be %s", s.Name, wants)
	return nil
}

// hasScalarItems reports whether the items of an array are scalars that cannot be null.
func hasScalarItems(p *ir.Param) bool {
	item := p.Item()
	return item.Kind != ir.Array && item.Kind != ir.Object && !item.Nullable
}

// typed returns the value v of a spec as a default of p: a string, bool, int64, float64, []string or []any. It returns
// nil if v does not have the type of p.
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

// typedList returns list as a default of the array p: []string for texts, otherwise []any. It returns nil if an item
// does not have the type of p's items.
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

// constraints checks the constraints of a value, and returns them. kind is the value's type, or "" if it is unknown.
func (c *checker) constraints(s *spec.Param, kind ir.Kind) ir.Constraints {
	var out ir.Constraints
	var low spec.Field[any] // the last lower bound, set or not; the next row has its upper bound: max_items after min_items
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

// maxExact is the greatest integer that every JSON reader keeps exactly: above it, floating point loses digits.
const maxExact = 1<<53 - 1

// bound reports a bound that no value of the given type can have: a negative size, an infinity, a fraction for an
// integer, or an integer that not every JSON reader keeps.
func (c *checker) bound(f spec.Field[any], row ir.Constraint, kind ir.Kind) {
	if !f.Set {
		return
	}
	n := f.Value.(float64)
	switch {
	case row.Unit != "" && n < 0: // a number of characters or items
		c.report(f.At, "CT007", "a size cannot be negative", "")
	case math.IsNaN(n) || math.IsInf(n, 0):
		c.report(f.At, "CT007", "JSON has no such number", "")
	case kind == ir.Number, kind == "": // any number will do
	case n != math.Trunc(n):
		c.reportf(f.At, "CT007", `write a whole number, or type = "number"`, "an integer cannot have the bound %v", n)
	case math.Abs(n) > maxExact:
		c.reportf(f.At, "CT007", "", "this is beyond the integers that every JSON reader keeps exact, which end at %d", maxExact)
	}
}

// hasOthers reports whether a value of the given type has constraints with other keys than the listed ones.
func hasOthers(constraints ir.Constraints, kind ir.Kind, listed ...string) bool {
	return slices.ContainsFunc(ir.ConstraintTable(), func(row ir.Constraint) bool {
		return row.Applies(kind) && row.Form != ir.Remark && !slices.Contains(listed, row.Key) && row.Of(&constraints) != nil
	})
}

// enum reports an enum that is empty, has a value twice or one that is hard to type, or is not the only constraint.
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
	if hasOthers(out, ir.String, "enum") {
		c.report(f.At, "CT010", "an enum says all there is to say: no other constraint goes with it", "drop the other one")
	}
}

// pattern reports a pattern that is not portable, a pattern without pattern_says, and a pattern beside not_blank or
// single_line. It also reports a pattern_says that is empty or has no pattern.
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
	unexplained := !says.Set && !s.At.Key("pattern_says").Doubtful()
	if unexplained {
		hint = `add pattern_says, which completes "must …": a regular expression is no error message`
	}
	if why := notPortable(out.Pattern); why != "" {
		c.reportf(pattern.At, "CT011", hint, "the pattern %s", why)
	} else if unexplained {
		c.report(pattern.At, "CT011", "pattern_says is missing", hint)
	}
	if out.NotBlank || out.SingleLine {
		c.report(pattern.At, "CT011", "a pattern cannot be combined with not_blank or single_line", "put both into the pattern")
	}
}

// format reports an unknown format, and a format that has another constraint beside it than max_length. It does not
// report an enum beside a format, because the method enum does.
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
	if hasOthers(out, ir.String, "format", "max_length", "enum") {
		c.report(f.At, "CT033", "a format says all there is to say: only max_length goes with it", "drop the other one")
	}
}

// clamp returns the bounds to which the repair clamp changes the integers of p, or nil if the spec gives none. It
// reports bounds that are not valid, and returns nil for them.
func (c *checker) clamp(s *spec.Param, p *ir.Param) *[2]int64 {
	if !s.Clamp.Set {
		return nil
	}
	bounds := s.Clamp.Value
	fallback, hasDefault := p.Default.(int64)
	switch {
	case p.Kind != ir.Integer:
		c.report(s.Clamp.At, "CT012", "only an integer is put between bounds", "drop clamp")
	case p.Minimum != nil || p.Maximum != nil:
		c.report(s.Clamp.At, "CT012", "clamp excludes minimum and maximum", "drop these, or clamp")
	case len(bounds) != 2 || bounds[0] >= bounds[1]:
		c.report(s.Clamp.At, "CT012", "clamp is the least and the greatest number", "such as clamp = [1, 200]")
	case hasDefault && (fallback < bounds[0] || fallback > bounds[1]):
		c.reportf(s.Default.At, "CT012", "choose one within them", "the default %d is not between the bounds of clamp", fallback)
	case !slices.Contains(s.Repairs.Value, string(contract.ToBounds)):
		c.report(s.Clamp.At, "CT012", "clamp is given, and repairs does not list it", `add repairs = ["clamp"]`)
	default:
		return &[2]int64{bounds[0], bounds[1]}
	}
	return nil
}

// repairs returns the repairs that s lists and that fit the type and constraints of p. It reports repairs that do not
// fit and repairs that are listed twice.
func (c *checker) repairs(s *spec.Param, p *ir.Param) []contract.Repair {
	fits := map[contract.Repair]bool{
		contract.FromString:  p.Kind != ir.String && !p.OneOrMany,
		contract.FromInteger: p.Kind == ir.String || p.Texts(),
		contract.FromScalar:  p.Kind == ir.Array && !p.OneOrMany,
		contract.ToBounds:    s.Clamp.Set || (p.Kind == ir.Integer && p.Maximum != nil),
		contract.ToSpelling:  len(p.Enum) > 0 || (p.Texts() && len(p.Items.Enum) > 0),
	}
	var out []contract.Repair
	for i, name := range s.Repairs.Value {
		place := s.Repairs.At.Elem(i)
		repair := contract.Repair(c.choice(spec.Field[string]{Value: name, Set: true, At: place}, "a repair",
			"from_string", "from_integer", "from_scalar", "clamp", "spelling"))
		switch {
		case repair == "", p.Kind == "": // an unknown repair or type is reported already
		case !fits[repair] && !s.At.Sound(): // the repair may fit a part of s that could not be read
		case !fits[repair] && p.OneOrMany && (repair == contract.FromString || repair == contract.FromScalar):
			c.reportf(place, "CT012", "leave it out: one_or_many takes a string, and an array inside of one, as they are", "%s has nothing to repair in %s", name, s.Name)
		case !fits[repair]:
			c.reportf(place, "CT012", repairHint(repair), "%s cannot repair %s", name, s.Name)
		case slices.Contains(out, repair):
			c.reportf(place, "CT012", "", "%s is listed twice", name)
		default:
			out = append(out, repair)
		}
	}
	return out
}

// repairHint returns the hint for a repair that does not fit its parameter: what the repair does.
func repairHint(r contract.Repair) string {
	return map[contract.Repair]string{
		contract.FromString:  "it reads numbers, booleans, arrays and objects from strings",
		contract.FromInteger: "it writes integers as strings",
		contract.FromScalar:  "it makes an array of one value",
		contract.ToBounds:    "it puts an integer between the bounds of clamp, or lowers it to its maximum",
		contract.ToSpelling:  "it finds the value of an enum",
	}[r]
}
