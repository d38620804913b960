package coerce

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/coerce/formats"
	"github.com/convtools/convtools/runtime/contract"
)

// Problems returns everything wrong with the arguments of a tool: parameters in the order they
// are declared, then names that are none of theirs, then rules.
func Problems(tool *contract.Tool, args Object) []contract.Problem {
	var c checker
	c.object(&contract.Shape{Members: tool.Parameters}, args, "")
	for i := range tool.Rules {
		r := &tool.Rules[i]
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

// checker finds problems. Paths are as problems show them: "items[1].text".
type checker struct{ problems []contract.Problem }

func (c *checker) add(p contract.Problem) { c.problems = append(c.problems, p) }

func (c *checker) enough() bool { return len(c.problems) >= contract.MaxProblems }

// members are those of the form that an object has. The second result is false where it
// has none of the forms there are.
func members(s *contract.Shape, o Object) ([]contract.Parameter, bool) {
	if s.Key == "" {
		return s.Members, true
	}
	for i := range s.Forms {
		if s.Forms[i].Value == o.Text(s.Key) {
			return s.Forms[i].Members, true
		}
	}
	return nil, false
}

// member is the path of a member.
func member(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// object checks an object: all arguments, or one within them.
func (c *checker) object(s *contract.Shape, o Object, path string) {
	members, ok := members(s, o)
	if !ok {
		// The key has none of the values that tell the forms apart.
		values := make([]string, len(s.Forms))
		for i := range s.Forms {
			values[i] = s.Forms[i].Value
		}
		members = []contract.Parameter{{Name: s.Key, Type: "string", Required: true, Wants: "one of " + strings.Join(values, ", "), Enum: values}}
	}
	var known []string
	if s.Key != "" {
		known = append(known, s.Key)
	}
	for i := range members {
		p := &members[i]
		known = append(known, p.Name)
		if value, given := o.Get(p.Name); given {
			c.value(p, value, member(path, p.Name))
		} else if p.Required {
			c.add(contract.Missing(member(path, p.Name), p.Wants, fix(p)))
		}
	}
	if ok {
		c.names(known, o, path)
	}
}

// names finds names that an object does not have.
func (c *checker) names(known []string, o Object, path string) {
	for _, f := range o {
		switch {
		case c.enough():
			return
		case slices.Contains(known, f.Name):
		case path == "":
			c.add(contract.Unknown(f.Name, known))
		default:
			c.add(contract.UnknownMember(path, f.Name, known))
		}
	}
}

// fix is JSON of what would do in the place of a value.
func fix(p *contract.Parameter) string {
	if p.Default != "" {
		return p.Default
	}
	return p.Fix
}

// value checks a value that is there.
func (c *checker) value(p *contract.Parameter, value any, path string) {
	switch is := value.(type) {
	case nil:
		if p.Nullable {
			return
		}
	case string:
		if p.Type == "string" {
			c.text(p, is, path, fix(p))
			return
		}
		if p.OneOrMany {
			c.text(p.Items, is, path, fix(p))
			return
		}
	case json.Number:
		if n, ok := number(p, value); ok {
			c.limit(p, n, value, path, "", contract.CodeMinimum, contract.CodeMaximum)
			return
		}
	case bool:
		if p.Type == "boolean" {
			return
		}
	case []any:
		if p.Type == "array" {
			c.items(p, is, path)
			return
		}
	case Object:
		if p.Type == "object" {
			c.object(p.Shape, is, path)
			return
		}
	}
	c.add(contract.Type(path, p.Wants, value, fix(p)))
}

// number is the number that a value is, where it is of the type of a parameter.
func number(p *contract.Parameter, value any) (float64, bool) {
	switch p.Type {
	case "integer":
		n, ok := Int(value)
		return float64(n), ok
	case "number":
		return Float(value)
	}
	return 0, false
}

func (c *checker) items(p *contract.Parameter, list []any, path string) {
	c.limit(p, float64(len(list)), list, path, fix(p), contract.CodeMinItems, contract.CodeMaxItems)
	for i, item := range list {
		if c.enough() {
			break // what is valid is never cut short by it
		}
		c.value(p.Items, item, contract.Item(path, i))
	}
}

// text checks a string. fix is JSON of what would do in its place.
func (c *checker) text(p *contract.Parameter, s, path, fix string) {
	if p.Enum != nil {
		if !slices.Contains(p.Enum, s) {
			c.add(contract.Enum(path, s, p.Enum, fix))
		}
		return
	}
	c.limit(p, float64(utf8.RuneCountInString(s)), s, path, fix, contract.CodeMinLength, contract.CodeMaxLength)
	if !matches(p, s) {
		c.add(contract.Mismatch(path, p.Says, s, fix))
	}
	// Of an empty text that is too short, once is enough.
	if p.NotBlank && Blank(s) && (s != "" || p.Range == nil || p.Range.Least < 1) {
		c.add(contract.Limit(path, contract.CodeBlank, "more than white space", s, fix))
	}
	if p.SingleLine && !SingleLine(s) {
		c.add(contract.Limit(path, contract.CodeSingleLine, "a single line without line breaks and NUL characters", s, fix))
	}
}

// matches reports whether a text has the form that a parameter asks for.
func matches(p *contract.Parameter, s string) bool {
	if p.Pattern != "" {
		// It is compiled for every text: that takes less than anything that a tool does.
		ok, err := regexp.MatchString(p.Pattern, s)
		return ok && err == nil
	}
	return p.Format == "" || formats.Is(p.Format, s)
}

// limit reports a number, or how many of something there are, beyond the range of a parameter.
// The nearest bound would do in the place of a number.
func (c *checker) limit(p *contract.Parameter, n float64, value any, path, fix string, below, above contract.Code) {
	if p.Range == nil || p.Range.Least <= n && n <= p.Range.Most {
		return
	}
	code, bound := below, p.Range.Least
	if n > bound {
		code, bound = above, p.Range.Most
	}
	wants := p.Range.Wants
	if wants == "" {
		wants, fix = p.Wants, strconv.FormatFloat(bound, 'f', -1, 64)
	}
	c.add(contract.Limit(path, code, wants, value, fix))
}
