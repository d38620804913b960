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

// Problems returns the problems that the spec of a tool finds in arguments, or nil. Problems in one argument come
// first: known parameters in declared order, then unknown names. Problems of the rules about several parameters follow.
func Problems(tool *contract.Tool, args Object) []contract.Problem {
	var c checker
	c.checkObject(&contract.Shape{Members: tool.Parameters}, args, "") // the problems in one argument
	for i := range tool.Rules {                                        // each sets Exclusive, AnyOf or Requires
		r := &tool.Rules[i]
		if given := args.Together(r.Exclusive...); given != nil { // two or more names of Exclusive are given
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

// checker collects problems. Paths are as in problems: "items[1].text".
type checker struct{ problems []contract.Problem }

func (c *checker) add(p contract.Problem) { c.problems = append(c.problems, p) }

// enough reports whether there are so many problems that the rest of a value need not be checked.
func (c *checker) enough() bool { return len(c.problems) >= contract.MaxProblems }

// declaredMembers returns the members that shape s declares for an object. If the shape has several forms, these are
// the members of the form that the object's key selects; if the key selects none, declaredMembers returns false.
func declaredMembers(s *contract.Shape, o Object) ([]contract.Parameter, bool) {
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

// member returns the path of a member.
func member(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// checkObject adds the problems of an object of shape s at a path. The path is empty for the object of all arguments.
// If the object's key selects none of the forms of s, only the key is checked.
func (c *checker) checkObject(s *contract.Shape, o Object, path string) {
	members, hasForm := declaredMembers(s, o)
	if !hasForm {
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
			c.checkValue(p, value, member(path, p.Name))
		} else if p.Required {
			c.add(contract.Missing(member(path, p.Name), p.Wants, fix(p)))
		}
	}
	if hasForm {
		c.checkNames(known, o, path)
	}
}

// checkNames adds a problem for each member of an object whose name is not known.
func (c *checker) checkNames(known []string, o Object, path string) {
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

// fix returns JSON of a valid value; empty if the parameter can be left out.
func fix(p *contract.Parameter) string {
	if p.Default != "" {
		return p.Default
	}
	return p.Fix
}

// checkValue adds the problems of a value at a path: the wrong type, or the problems of a value of the right type.
func (c *checker) checkValue(p *contract.Parameter, value any, path string) {
	switch typed := value.(type) { // each case returns if the parameter takes values of that type
	case nil:
		if p.Nullable {
			return
		}
	case string:
		if p.Type == "string" {
			c.checkText(p, typed, path, fix(p))
			return
		}
		if p.OneOrMany { // an array of strings, for which one string may be given
			c.checkText(p.Items, typed, path, fix(p))
			return
		}
	case json.Number:
		if n, ok := number(p, value); ok {
			c.checkRange(p, n, value, path, "", contract.CodeMinimum, contract.CodeMaximum)
			return
		}
	case bool:
		if p.Type == "boolean" {
			return
		}
	case []any:
		if p.Type == "array" {
			c.checkItems(p, typed, path)
			return
		}
	case Object:
		if p.Type == "object" {
			c.checkObject(p.Shape, typed, path)
			return
		}
	}
	c.add(contract.Type(path, p.Wants, value, fix(p)))
}

// number returns value as a number, or false if p takes no numbers or value does not have the type of p.
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

// checkItems adds the problems of an array and of its items.
func (c *checker) checkItems(p *contract.Parameter, list []any, path string) {
	c.checkRange(p, float64(len(list)), list, path, fix(p), contract.CodeMinItems, contract.CodeMaxItems)
	for i, item := range list {
		if c.enough() {
			break // there are problems already: the call is refused in any case
		}
		c.checkValue(p.Items, item, contract.Item(path, i))
	}
}

// checkText adds the problems of a string. fix is JSON of a valid value.
func (c *checker) checkText(p *contract.Parameter, s, path, fix string) {
	if p.Enum != nil {
		if !slices.Contains(p.Enum, s) {
			c.add(contract.Enum(path, s, p.Enum, fix))
		}
		return
	}
	c.checkRange(p, float64(utf8.RuneCountInString(s)), s, path, fix, contract.CodeMinLength, contract.CodeMaxLength)
	if !matches(p, s) {
		c.add(contract.Mismatch(path, p.Says, s, fix))
	}
	isTooShort := s == "" && p.Range != nil && p.Range.Least >= 1 // checkRange has added that problem
	if p.NotBlank && Blank(s) && !isTooShort {
		c.add(contract.Limit(path, contract.CodeBlank, "more than white space", s, fix))
	}
	if p.SingleLine && !SingleLine(s) {
		c.add(contract.Limit(path, contract.CodeSingleLine, "a single line without line breaks and NUL characters", s, fix))
	}
}

// matches reports whether a text has the pattern or format of a parameter.
func matches(p *contract.Parameter, s string) bool {
	if p.Pattern != "" {
		// Compiling it each time takes less time than any tool.
		ok, err := regexp.MatchString(p.Pattern, s)
		return ok && err == nil
	}
	return p.Format == "" || formats.Is(p.Format, s)
}

// checkRange adds a problem if n is outside the range of a parameter. The problem has the code below if n is too small,
// and the code above if n is too large. If value is a number, n is that number, and the fix is the nearest bound. If
// value is a string or an array, n is its length, and the fix is lengthFix, JSON of a valid value.
func (c *checker) checkRange(p *contract.Parameter, n float64, value any, path, lengthFix string, below, above contract.Code) {
	if p.Range == nil || p.Range.Least <= n && n <= p.Range.Most {
		return
	}
	code, bound := below, p.Range.Least
	if n > bound {
		code, bound = above, p.Range.Most
	}
	wants, fix := p.Range.Wants, lengthFix
	if isNumber := wants == ""; isNumber { // p.Range.Wants is only for lengths, p.Wants for numbers
		wants, fix = p.Wants, strconv.FormatFloat(bound, 'f', -1, 64)
	}
	c.add(contract.Limit(path, code, wants, value, fix))
}
