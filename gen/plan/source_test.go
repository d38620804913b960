package plan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// compileSchema compiles a schema and requires every format in it to hold.
func compileSchema(schema string) (*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat = true
	if err := compiler.AddResource("mem:///schema.json", strings.NewReader(schema)); err != nil {
		return nil, err
	}
	return compiler.Compile("mem:///schema.json")
}

// holds reports whether arguments are valid for a schema. It returns an error if they are no JSON.
func holds(judge *jsonschema.Schema, arguments []byte) (bool, error) {
	dec := json.NewDecoder(bytes.NewReader(arguments))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return false, fmt.Errorf("reading the arguments: %w", err)
	}
	return judge.Validate(value) == nil, nil
}

// source generates random arguments, many valid and the others nearly valid.
type source struct {
	rng  *rand.Rand
	root *shape
}

// newSource returns a source for the schema of a tool's arguments.
func newSource(schema string, seed uint64) (*source, error) {
	root, err := readSchema(schema)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	return &source{rng: rand.New(rand.NewPCG(seed, seed)), root: root}, nil
}

// arguments returns one random JSON object.
func (s *source) arguments() []byte { return []byte(s.object(s.root)) }

// object returns a random JSON object. It rarely lacks a required member, and rarely has an unknown one.
func (s *source) object(o *shape) string {
	var members []string
	add := func(name, value string) { members = append(members, quote(name)+":"+value) }
	for _, i := range s.rng.Perm(len(o.names)) {
		name := o.names[i]
		p := o.Properties[name]
		if slices.Contains(o.Required, name) && !s.oneIn(12) || s.oneIn(3) {
			add(name, s.value(&p))
		}
	}
	if s.oneIn(12) {
		name := "extra"
		if len(o.names) > 0 {
			name = pick(s, o.names) + "_"
		}
		add(name, s.anything())
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (s *source) oneIn(n int) bool { return s.rng.IntN(n) == 0 }

func pick[T any](s *source, list []T) T { return list[s.rng.IntN(len(list))] }

// value returns a random value for a schema, usually of its type.
func (s *source) value(p *shape) string {
	if s.oneIn(15) {
		return s.anything()
	}
	if len(p.AnyOf) > 0 {
		p = &p.AnyOf[s.rng.IntN(len(p.AnyOf))]
	}
	switch p.Type {
	case "integer", "number":
		return s.number(p)
	case "boolean":
		return pick(s, []string{"true", "false"})
	case "null":
		return "null"
	case "object":
		return s.object(p)
	case "array":
		items := make([]string, s.length(p.MinItems, p.MaxItems, 4))
		for i := range items {
			items[i] = s.value(p.Items)
			if s.oneIn(30) {
				items[i] = s.anything()
			}
		}
		return "[" + strings.Join(items, ",") + "]"
	default:
		if len(p.AnyOf) > 0 {
			return s.value(p)
		}
		return s.text(p)
	}
}

// anything returns a random value of any type.
func (s *source) anything() string {
	return pick(s, []string{
		"null", "true", "false", "0", "1", "-1", "1.5", "1.0", "1e0", "10e-1", "-0", "1e30", "9223372036854775808",
		`""`, `"x"`, `"5"`, `"true"`, `"[]"`, `"null"`, `"[\"x\"]"`, "[]", `["x"]`, "[1]", "[null]", "{}", `{"x":1}`,
	})
}

// number returns a number near the bounds, in one of JSON's forms.
func (s *source) number(c *shape) string {
	near := []float64{0}
	for _, bound := range []*float64{c.Minimum, c.Maximum} {
		if bound != nil {
			near = append(near, *bound, *bound)
		}
	}
	n := pick(s, near)
	if n != math.Trunc(n) && s.oneIn(2) {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	whole := int64(n) + int64(s.rng.IntN(5)) - 2
	switch s.rng.IntN(8) {
	case 0:
		return fmt.Sprintf("%d.0", whole)
	case 1:
		return fmt.Sprintf("%d.0e1", whole)
	case 2:
		return fmt.Sprintf("%d.5", whole)
	default:
		return fmt.Sprint(whole)
	}
}

// length returns a count near its bounds.
func (s *source) length(low, high *int64, usual int) int {
	near := []int{usual / 2}
	for _, bound := range []*int64{low, high} {
		if bound != nil {
			near = append(near, int(*bound))
		}
	}
	return max(0, pick(s, near)+s.rng.IntN(4)-1)
}

// text returns a JSON string: a word of the enum, a string that may match the pattern, or characters that constraints
// treat differently.
func (s *source) text(c *shape) string {
	if len(c.Enum) > 0 && !s.oneIn(8) {
		return quote(pick(s, c.Enum))
	}
	alphabet := []rune("ab-_.09 Zé日😀\n\r\t\v\x00\u00a0\u3000")
	if !s.oneIn(3) {
		alphabet = []rune("abcz019.-")
	}
	if len(c.near) > 0 && !s.oneIn(4) {
		return quote(pick(s, c.near))
	}
	runes := make([]rune, s.length(c.MinLength, c.MaxLength, 6))
	for i := range runes {
		runes[i] = pick(s, alphabet)
	}
	return quote(string(runes))
}
