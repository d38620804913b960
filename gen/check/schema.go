package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
)

// judge holds a tool's defaults and examples against the schema that will be
// published for it, so that what the schema says is what the spec promises.
func (c *checker) judge(t *ir.Tool) {
	s := c.specs[t.Name]
	if c.diags.HasErrors() {
		// A schema made from a broken spec would only repeat what is known.
		return
	}
	compiled, err := compile(t)
	if err != nil {
		c.reportf(s.Name.At, "CT008", "", "the JSON Schema of %s does not compile: %v", t.Name, err)
		return
	}
	defaults := map[string]any{}
	for i := range t.Params {
		if p := &t.Params[i]; p.Default != nil {
			defaults[p.Name] = plain(p.Default)
		} else if p.Required && len(s.Examples) > 0 {
			// Stands in, so that only defaults are judged here.
			defaults[p.Name] = plain(s.Examples[0].Arguments.Value[p.Name])
		}
	}
	for _, leaf := range failures(compiled, defaults) {
		if p := specParam(s, leaf.parameter); p != nil && p.Default.Set {
			c.reportf(p.Default.At, "CT008", "", "the default of %s is not accepted: %s", leaf.parameter, leaf.message)
		}
	}
	for i := range s.Examples {
		e := &s.Examples[i]
		t.Examples = append(t.Examples, ir.Example{Summary: c.summary(e.Summary, toolSummary), Arguments: c.example(t, e)})
		arguments, _ := plain(e.Arguments.Value).(map[string]any)
		for _, leaf := range failures(compiled, arguments) {
			at := e.Arguments.At
			if _, given := e.Arguments.Value[leaf.parameter]; given {
				at = at.Key(leaf.parameter)
			}
			c.reportf(at, "CT024", "", "this example is not accepted: %s%s", prefix(leaf.parameter), leaf.message)
		}
		for _, r := range t.Rules {
			var given []string
			for _, name := range r.Exclusive {
				if _, ok := e.Arguments.Value[name]; ok {
					given = append(given, name)
				}
			}
			if len(given) > 1 {
				c.reportf(e.Arguments.At, "CT024", "", "this example combines %s", strings.Join(given, " and "))
			}
		}
	}
}

func prefix(parameter string) string {
	if parameter == "" {
		return ""
	}
	return parameter + ": "
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
	message   string
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
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) == 0 {
			name, _, _ := strings.Cut(strings.TrimPrefix(e.InstanceLocation, "/"), "/")
			out = append(out, failure{name, e.Message})
		}
	}
	walk(invalid)
	sort.Slice(out, func(i, j int) bool {
		return out[i].parameter+"\x00"+out[i].message < out[j].parameter+"\x00"+out[j].message
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
	case bool, string, nil:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// example writes an example's arguments in the order the parameters have.
func (c *checker) example(t *ir.Tool, e *spec.Example) string {
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
