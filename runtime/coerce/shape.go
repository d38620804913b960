package coerce

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/coerce/formats"
	"github.com/convtools/convtools/runtime/contract"
)

// Shape is what an object may hold: the arguments of a tool, or an object within them.
type Shape struct {
	Members []Value // in the order they are declared
	Rules   []Rule  // of arguments, about several of them together
	// Key is the member whose value tells apart the forms that an object may have.
	// It is no member of a form.
	Key   string
	Forms []Form // those there are, in the place of Members
}

// Form is one of the forms that an object may have.
type Form struct {
	Value   string // of the key
	Members []Value
}

// Value is what a member of an object, or an item of an array, may be.
type Value struct {
	Name     string // of a member
	Type     string // of JSON Schema
	Required bool
	Nullable bool   // it may be null
	Wants    string // completes "it must be …"
	Fix      string // JSON of what would do; empty where leaving it out is best

	// Default is JSON of the value of a member that is not given; empty where there is
	// none. A tool with a handler in Go fills in its defaults itself.
	Default string

	Enum       []string
	Range      *Range            // of a number, of the characters of a string, of the items of an array
	Matches    func(string) bool // a pattern or a format
	Pattern    *Pattern          // the same, as data
	Format     string            // the same, by the name of a format
	Says       string            // what it asks for; completes "it must …"
	NotBlank   bool              // more than ASCII white space
	SingleLine bool              // no line break and no NUL

	Items *Value // of an array
	// OneOrMany reports whether one string may stand in the place of an array.
	OneOrMany bool
	Shape     *Shape // of an object

	Repairs []Declared // in the order they are tried
	Clamp   *[2]int64  // what [ToBounds] puts an integer between; nil lowers it to its maximum
}

// Pattern is a regular expression, which is compiled when it is first needed.
type Pattern struct {
	Source string

	once sync.Once
	re   *regexp.Regexp
}

func (p *Pattern) matches(s string) bool {
	p.once.Do(func() { p.re = regexp.MustCompile(p.Source) }) // it was checked with the spec
	return p.re.MatchString(s)
}

// Range is the least and the greatest number there may be, of what is counted.
type Range struct {
	Least, Most float64
	Wants       string // completes "it must be …"; empty for a number, whose value says it
}

// Unbounded is the bound of a [Range] that has none above; -Unbounded that of one that
// has none below.
const Unbounded = math.MaxFloat64

// Rule is a relation between arguments. Exactly one of its first three fields is set.
type Rule struct {
	Exclusive []string // at most one of these is given
	AnyOf     []string // one or more of these are given
	Requires  string   // it is given where Given is
	Given     string
	Fix       string // JSON for what is required, or for the first of AnyOf
}

// Declared is a repair that a spec declares for a value.
type Declared string

// The repairs that a spec may declare.
const (
	FromString  Declared = "from_string"
	FromInteger Declared = "from_integer"
	FromScalar  Declared = "from_scalar"
	ToBounds    Declared = "clamp"
	ToSpelling  Declared = "spelling"
)

// Parameters returns what fronts have to know of the arguments.
func (s *Shape) Parameters() []contract.Parameter {
	var parameters []contract.Parameter
	for i := range s.Members {
		v := &s.Members[i]
		p := contract.Parameter{Name: v.Name, Type: v.Type, OneOrMany: v.OneOrMany, Required: v.Required, Enum: v.Enum}
		if v.Items != nil {
			p.Enum = v.Items.Enum
			if v.Items.Type != "string" {
				p.Items = v.Items.Type
			}
		}
		parameters = append(parameters, p)
	}
	return parameters
}

// WithDefaults returns an object with the defaults of members that are not given, and of
// those inside of it.
func (s *Shape) WithDefaults(o Object) Object {
	members, _ := s.members(o)
	full := slices.Clone(o)
	for i := range members {
		v := &members[i]
		value, given := o.Get(v.Name)
		switch {
		case given:
			full.set(v.Name, v.withDefaults(value))
		case v.Default != "":
			if value, err := decode([]byte(v.Default)); err == nil {
				full = append(full, Field{v.Name, value})
			}
		}
	}
	return full
}

func (v *Value) withDefaults(value any) any {
	switch value := value.(type) {
	case Object:
		if v.Shape != nil {
			return v.Shape.WithDefaults(value)
		}
	case []any:
		if v.Items == nil {
			break
		}
		list := make([]any, len(value))
		for i := range value {
			list[i] = v.Items.withDefaults(value[i])
		}
		return list
	}
	return value
}

// members are those of the form that an object has. The second result is false where it
// has none of the forms there are.
func (s *Shape) members(o Object) ([]Value, bool) {
	if s.Key == "" {
		return s.Members, true
	}
	key := o.Text(s.Key)
	for i := range s.Forms {
		if s.Forms[i].Value == key {
			return s.Forms[i].Members, true
		}
	}
	return nil, false
}

// Repair makes the repairs that are declared for the arguments, and for what is inside
// of them, and notes each.
func (s *Shape) Repair(args *Args) {
	members, ok := s.members(args.Object)
	if !ok {
		return
	}
	var nullable []string
	for i := range members {
		if members[i].Nullable {
			nullable = append(nullable, members[i].Name)
		}
	}
	args.DropNulls(nullable...)
	for i := range members {
		members[i].repair(args)
	}
}

func (v *Value) repair(args *Args) {
	if v.OneOrMany {
		args.OneOrMany(v.Name)
	}
	for _, declared := range v.Repairs {
		switch declared {
		case FromString:
			switch v.Type {
			case "integer":
				args.IntegerFromString(v.Name)
			case "number":
				args.NumberFromString(v.Name)
			case "boolean":
				args.BooleanFromString(v.Name)
			case "object":
				args.ObjectFromString(v.Name)
			case "array":
				args.ArrayFromString(v.Name)
			}
		case FromInteger:
			if v.Type == "string" || v.OneOrMany {
				args.StringFromInteger(v.Name)
			}
			if v.Type == "array" {
				args.ItemsFromIntegers(v.Name)
			}
		case FromScalar:
			if v.Items.Type == "string" {
				args.ArrayFromScalar(v.Name)
			} else {
				args.ArrayFromItem(v.Name)
			}
		case ToBounds:
			if v.Clamp != nil {
				args.Clamp(v.Name, v.Clamp[0], v.Clamp[1])
			} else {
				args.ClampMaximum(v.Name, int64(v.Range.Most))
			}
		case ToSpelling:
			words := v.Enum
			if v.Items != nil {
				words = v.Items.Enum
			}
			args.Spelling(v.Name, words...)
		}
	}
	inner := v
	for inner.Items != nil {
		inner = inner.Items
	}
	if inner.Shape != nil {
		args.within(v.Name, inner.Shape)
	}
}

// Problems returns everything wrong with the arguments: members in the order they are
// declared, then names that are none of theirs, then rules. It allocates nothing where
// nothing is wrong.
func (s *Shape) Problems(args Object) []contract.Problem {
	var c checker
	if !c.accepts(s, args) {
		c = checker{inOrder: true}
		c.object(s, args)
	}
	for i := range s.Rules {
		r := &s.Rules[i]
		if given := args.Together(r.Exclusive...); given != nil {
			c.add(contract.Exclusive(given))
		}
		if r.AnyOf != nil && !args.Any(r.AnyOf...) {
			c.add(contract.NoneOf(r.AnyOf, r.Fix))
		}
		if r.Requires != "" && args.Any(r.Given) && !args.Any(r.Requires) {
			c.add(contract.Requires(r.Given, r.Requires, r.Fix))
		}
	}
	return c.problems
}

// checker finds problems: whether there is one, or all in the order in which members are
// declared. Where it is in the arguments becomes text only where there is one.
type checker struct {
	problems []contract.Problem
	inOrder  bool
	path     []step // to where it is; of one that works in order
}

// step is one from a value to what it holds: to a member, or to an item.
type step struct {
	to    *Value
	index int // of an item
}

// at is where the checker is, as problems show it: "items[1].text".
func (c *checker) at() string {
	path := ""
	for i, s := range c.path {
		switch {
		case s.to.Name == "":
			path = contract.Item(path, s.index)
		case i > 0:
			path += "." + s.to.Name
		default:
			path = s.to.Name
		}
	}
	return path
}

func (c *checker) add(p contract.Problem) { c.problems = append(c.problems, p) }

func (c *checker) enough() bool { return len(c.problems) >= contract.MaxProblems }

// accepts reports whether there is no problem with an object. It looks at what is given,
// which is less than what is declared, and stops at the first problem.
func (c *checker) accepts(s *Shape, o Object) bool {
	members, ok := s.members(o)
	if !ok {
		return false
	}
	required := 0
	for i := range members {
		if members[i].Required {
			required++
		}
	}
given:
	for i := range o {
		f := &o[i]
		for j := range members {
			if v := &members[j]; v.Name == f.Name {
				if c.value(v, f.Value); c.problems != nil {
					return false
				}
				if v.Required {
					required--
				}
				continue given
			}
		}
		if s.Key == "" || s.Key != f.Name {
			return false
		}
	}
	return required == 0
}

// object checks an object: all arguments, or one within them.
func (c *checker) object(s *Shape, o Object) {
	members, ok := s.members(o)
	if !ok {
		c.formless(s, o)
		return
	}
	for i := range members {
		v := &members[i]
		c.path = append(c.path, step{to: v})
		if value, given := o.Get(v.Name); given {
			c.value(v, value)
		} else if v.Required {
			c.add(contract.Missing(c.at(), v.Wants, v.Fix))
		}
		c.path = c.path[:len(c.path)-1]
	}
	c.names(s.Key, members, o)
}

// names finds names that an object does not have.
func (c *checker) names(key string, members []Value, o Object) {
	var known []string
	if key != "" {
		known = append(known, key)
	}
	for i := range members {
		known = append(known, members[i].Name)
	}
	for _, f := range o {
		switch {
		case c.enough():
			return
		case slices.Contains(known, f.Name):
		case len(c.path) == 0:
			c.add(contract.Unknown(f.Name, known))
		default:
			c.add(contract.UnknownMember(c.at(), f.Name, known))
		}
	}
}

// formless reports that the key of an object has none of the values that tell its forms
// apart.
func (c *checker) formless(s *Shape, o Object) {
	values := make([]string, len(s.Forms))
	for i := range s.Forms {
		values[i] = s.Forms[i].Value
	}
	key := Shape{Members: []Value{{Name: s.Key, Type: "string", Required: true, Wants: "one of " + strings.Join(values, ", "), Enum: values}}}
	v, given := o.Get(s.Key)
	if given {
		c.object(&key, Object{{Name: s.Key, Value: v}})
	} else {
		c.object(&key, nil)
	}
}

// value checks a value that is there.
func (c *checker) value(v *Value, value any) {
	switch is := value.(type) {
	case nil:
		if v.Nullable {
			return
		}
	case string:
		if v.Type == "string" {
			c.text(v, is, v.Fix)
			return
		}
		if v.OneOrMany {
			c.text(v.Items, is, v.Fix)
			return
		}
	case json.Number:
		n, ok := 0.0, false
		switch v.Type {
		case "integer":
			var whole int64
			whole, ok = Int(value)
			n = float64(whole)
		case "number":
			n, ok = Float(value)
		}
		if ok {
			if !v.Range.holds(n) {
				c.limit(v, n, value, "", contract.CodeMinimum, contract.CodeMaximum)
			}
			return
		}
	case bool:
		if v.Type == "boolean" {
			return
		}
	case []any:
		if v.Type == "array" {
			c.items(v, is)
			return
		}
	case Object:
		if v.Type == "object" {
			if c.inOrder {
				c.object(v.Shape, is)
			} else if !c.accepts(v.Shape, is) {
				c.add(contract.Problem{})
			}
			return
		}
	}
	c.add(contract.Type(c.at(), v.Wants, value, v.Fix))
}

func (c *checker) items(v *Value, list []any) {
	if n := float64(len(list)); !v.Range.holds(n) {
		c.limit(v, n, list, v.Fix, contract.CodeMinItems, contract.CodeMaxItems)
	}
	for i, item := range list {
		if c.enough() {
			break // what is valid is never cut short by it
		}
		if !c.inOrder {
			c.value(v.Items, item)
			continue
		}
		c.path = append(c.path, step{v.Items, i})
		c.value(v.Items, item)
		c.path = c.path[:len(c.path)-1]
	}
}

// text checks a string. fix is JSON of what would do in its place.
func (c *checker) text(v *Value, s, fix string) {
	if v.Enum != nil {
		if !slices.Contains(v.Enum, s) {
			c.add(contract.Enum(c.at(), s, v.Enum, fix))
		}
		return
	}
	if v.Range != nil {
		if n := float64(utf8.RuneCountInString(s)); !v.Range.holds(n) {
			c.limit(v, n, s, fix, contract.CodeMinLength, contract.CodeMaxLength)
		}
	}
	if v.Matches != nil && !v.Matches(s) || v.Pattern != nil && !v.Pattern.matches(s) || v.Format != "" && !formats.Has(v.Format, s) {
		c.add(contract.Mismatch(c.at(), v.Says, s, fix))
	}
	// Of an empty text that is too short, once is enough.
	if v.NotBlank && Blank(s) && (s != "" || v.Range == nil || v.Range.Least < 1) {
		c.add(contract.Limit(c.at(), contract.CodeBlank, "more than white space", s, fix))
	}
	if v.SingleLine && !SingleLine(s) {
		c.add(contract.Limit(c.at(), contract.CodeSingleLine, "a single line without line breaks and NUL characters", s, fix))
	}
}

// holds reports whether a number is in the range. Every number is where there is none.
func (r *Range) holds(n float64) bool { return r == nil || r.Least <= n && n <= r.Most }

// limit reports a number, or how many of something there are, beyond its range. The
// nearest bound would do in the place of a number.
func (c *checker) limit(v *Value, n float64, value any, fix string, below, above contract.Code) {
	code, bound := below, v.Range.Least
	if n > bound {
		code, bound = above, v.Range.Most
	}
	wants := v.Range.Wants
	if wants == "" {
		wants, fix = v.Wants, strconv.FormatFloat(bound, 'f', -1, 64)
	}
	c.add(contract.Limit(c.at(), code, wants, value, fix))
}
