package check

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
)

// judge holds a tool's defaults and examples against the schema that will be
// published for it, so that what the schema says is what the spec promises.
func (c *checker) judge(t *ir.Tool) {
	s := c.specs[t.Source]
	compiled, err := compile(t)
	if err != nil {
		c.reportf(s.Name.At, "CT008", "", "the JSON Schema of %s does not compile: %v", t.Name, err)
		return
	}
	defaults := map[string]any{}
	for i := range t.Params {
		if p := &t.Params[i]; p.Default != nil {
			defaults[p.Name] = plain(p.Default)
		}
	}
	for _, f := range failures(compiled, defaults) {
		if p := specParam(s, f.parameter); p != nil && p.Default.Set {
			c.reportf(f.at(p.Default.At), "CT008", "", "the default of %s is not accepted: %s", f.parameter, f.message)
		}
	}
	for i := range s.Examples {
		e := &s.Examples[i]
		arguments, _ := plain(e.Arguments.Value).(map[string]any)
		c.exampleNames(t, e)
		for _, f := range failures(compiled, arguments) {
			if _, given := e.Arguments.Value[f.parameter]; given {
				c.reportf(f.at(e.Arguments.At.Key(f.parameter)), "CT024", "", "this example is not accepted: %s: %s", f.parameter, f.message)
			}
		}
		for _, r := range t.Rules {
			var given []string
			for _, name := range r.Exclusive {
				if _, ok := e.Arguments.Value[name]; ok {
					given = append(given, name)
				}
			}
			if len(given) > 1 {
				c.reportf(e.Arguments.At, "CT024", "leave all but one out", "this example combines %s", strings.Join(given, " and "))
			}
		}
	}
}

// exampleNames demands the parameters that an example has to have, and no
// others: what a schema says about names as a whole, in words that say which.
func (c *checker) exampleNames(t *ir.Tool, e *spec.Example) {
	for _, name := range slices.Sorted(maps.Keys(e.Arguments.Value)) {
		if t.Param(name) == nil {
			at := e.Arguments.At.Key(name)
			c.reportAt(at, at.KeySpan(), "CT024", fmt.Sprintf("this example is not accepted: there is no parameter %q", name), suggest(name, "parameters", paramNames(t)))
		}
	}
	for i := range t.Params {
		if _, given := e.Arguments.Value[t.Params[i].Name]; t.Params[i].Required && !given {
			c.reportf(e.Arguments.At, "CT024", "", "this example is not accepted: it leaves out %s, which is required", t.Params[i].Name)
		}
	}
}

func specParam(s *spec.Tool, name string) *spec.Param {
	for i := range s.Params {
		if s.Params[i].Name == name {
			return &s.Params[i]
		}
	}
	return nil
}

func compile(t *ir.Tool) (*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.Draft = jsonschema.Draft2020
	url := "mem:///" + t.Name + ".json"
	if err := compiler.AddResource(url, strings.NewReader(schema.Compact(t))); err != nil {
		return nil, err
	}
	return compiler.Compile(url)
}

type failure struct {
	parameter string
	item      int // of an array; -1 where the parameter as a whole fails
	message   string
}

// at is the place of what fails, given that of the parameter.
func (f failure) at(parameter spec.Place) spec.Place {
	if f.item < 0 {
		return parameter
	}
	return parameter.Elem(f.item)
}

// failures lists what a document breaks, sorted: the library reports in random
// order, because it ranges over maps.
func failures(s *jsonschema.Schema, document map[string]any) []failure {
	if document == nil {
		document = map[string]any{}
	}
	err := s.Validate(document)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil
	}
	var out []failure
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		causes := e.Causes
		if strings.HasSuffix(e.KeywordLocation, "/anyOf") {
			// A value of the type of one alternative was meant for that one.
			causes = slices.DeleteFunc(slices.Clone(causes), func(cause *jsonschema.ValidationError) bool {
				return cause.InstanceLocation == e.InstanceLocation && strings.HasSuffix(cause.KeywordLocation, "/type")
			})
		}
		for _, cause := range causes {
			walk(cause)
		}
		if len(causes) == 0 {
			name, rest, _ := strings.Cut(strings.TrimPrefix(e.InstanceLocation, "/"), "/")
			item, err := strconv.Atoi(rest)
			if err != nil {
				item = -1
			}
			message := e.Message
			if len(e.Causes) > 0 {
				message = "expected a string or an array of strings"
			}
			out = append(out, failure{name, item, message})
		}
	}
	walk(invalid)
	slices.SortFunc(out, func(a, b failure) int {
		return cmp.Or(cmp.Compare(a.parameter, b.parameter), cmp.Compare(a.item, b.item), cmp.Compare(a.message, b.message))
	})
	return slices.Compact(out)
}

// plain turns TOML and model values into the types a JSON Schema library knows.
func plain(v any) any {
	switch v := v.(type) {
	case int64:
		return json.Number(fmt.Sprint(v))
	case []string:
		out := make([]any, len(v))
		for i := range v {
			out[i] = v[i]
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case []map[string]any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[name] = plain(value)
		}
		return out
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v) // JSON has no number for it
		}
		return v
	case bool, string, nil:
		return v
	default:
		return fmt.Sprint(v) // a date
	}
}

// example writes an example's arguments in the order the parameters have.
func example(t *ir.Tool, e *spec.Example) string {
	given := e.Arguments.Value
	names := slices.Sorted(maps.Keys(given))
	order := slices.DeleteFunc(paramNames(t), func(name string) bool { _, ok := given[name]; return !ok })
	for _, name := range names {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range order {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(jsonText(name) + ": " + jsonText(plain(given[name])))
	}
	b.WriteByte('}')
	return b.String()
}

func jsonText(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}
