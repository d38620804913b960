package check

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
	"github.com/convtools/convtools/gen/spec"
)

// compiled is the schema of a tool, ready to judge by, or why it is none. It is
// neither where there is nothing to judge.
type compiled struct {
	schema *jsonschema.Schema
	err    error
}

// judge holds a tool's defaults and examples against the schema that will be
// published for it, so that what the schema says is what the spec promises.
func (c *checker) judge(t *ir.Tool, published compiled) {
	s := c.specs[t.Source]
	if published.err != nil {
		c.reportf(s.Name.At, "CT008", "", "the JSON Schema of %s does not compile: %v", t.Name, published.err)
		return
	}
	var keys []string
	for _, p := range t.Values() {
		if p.Key != "" {
			keys = append(keys, p.Key)
		}
	}
	defaults := map[string]any{}
	for i := range t.Params {
		if p := &t.Params[i]; p.Default != nil {
			defaults[p.Name] = plain(p.Default)
		}
	}
	for _, f := range failures(published.schema, defaults, nil) {
		if p := specParam(s, f.parameter); p != nil && p.Default.Set {
			c.reportf(f.at(p.Default.At), "CT008", "", "the default of %s is not accepted: %s", f.parameter, f.message)
		}
	}
	for i := range s.Examples {
		e := &s.Examples[i]
		arguments, _ := plain(e.Arguments.Value).(map[string]any)
		c.exampleNames(t, e)
		for _, f := range failures(published.schema, arguments, keys) {
			if _, given := e.Arguments.Value[f.parameter]; given {
				c.reportf(f.at(e.Arguments.At.Key(f.parameter)), "CT024", "", "this example is not accepted: %s: %s", f.parameter, f.message)
			}
		}
		for _, r := range t.Rules {
			if broken := brokenBy(r, e.Arguments.Value); broken != "" {
				c.report(e.Arguments.At, "CT024", "this example is not accepted: "+broken, lower.RuleSentence(r))
			}
		}
	}
}

// brokenBy is how arguments break a rule, or nothing.
func brokenBy(r ir.Rule, arguments map[string]any) string {
	given := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, ok := arguments[name]; return !ok })
	}
	_, applies := arguments[r.Given]
	switch {
	case len(given(r.Exclusive)) > 1:
		return "it combines " + strings.Join(given(r.Exclusive), " and ")
	case len(given(r.ExactlyOne)) > 1:
		return "it combines " + strings.Join(given(r.ExactlyOne), " and ")
	case len(r.ExactlyOne) > 0 && len(given(r.ExactlyOne)) == 0, len(r.AtLeastOne) > 0 && len(given(r.AtLeastOne)) == 0:
		return "it leaves out " + strings.Join(slices.Concat(r.ExactlyOne, r.AtLeastOne), " and ")
	case applies && len(given(r.Requires)) < len(r.Requires):
		return "it gives " + r.Given + " without all that it requires"
	}
	return ""
}

// judgeDefault holds the default of a member against the member's own schema.
func (c *checker) judgeDefault(s *spec.Param, p ir.Param) {
	p.Required = false
	compiled, err := compile(&ir.Tool{Params: []ir.Param{p}})
	if err != nil {
		return // what is wrong with its constraints is reported with them
	}
	for _, f := range failures(compiled, map[string]any{p.Name: plain(p.Default)}, nil) {
		c.reportf(f.at(s.Default.At), "CT008", "", "the default of %s is not accepted: %s", p.Name, f.message)
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
	compiler.AssertFormat = true
	url := "mem:///" + t.Name + ".json"
	if err := compiler.AddResource(url, strings.NewReader(schema.Compact(t))); err != nil {
		return nil, err
	}
	return compiler.Compile(url)
}

type failure struct {
	parameter string
	steps     []string // from the parameter to what fails inside of it
	message   string
}

// at is the place of what fails, given that of the parameter.
func (f failure) at(place spec.Place) spec.Place {
	for _, step := range f.steps {
		if i, err := strconv.Atoi(step); err == nil {
			place = place.Elem(i)
		} else {
			place = place.Key(step)
		}
	}
	return place
}

// failures lists what a document breaks, sorted: the library reports in random
// order, because it ranges over maps.
func failures(s *jsonschema.Schema, document map[string]any, keys []string) []failure {
	if s == nil {
		return nil
	}
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
			causes = meant(e, keys)
		}
		for _, cause := range causes {
			walk(cause)
		}
		if len(causes) == 0 {
			steps := strings.Split(strings.TrimPrefix(e.InstanceLocation, "/"), "/")
			message := e.Message
			if len(e.Causes) > 0 {
				message = unmeant(located(s, e.KeywordLocation), e)
			}
			out = append(out, failure{steps[0], steps[1:], message})
		}
	}
	walk(invalid)
	slices.SortFunc(out, func(a, b failure) int {
		return cmp.Or(cmp.Compare(a.parameter, b.parameter), slices.Compare(a.steps, b.steps), cmp.Compare(a.message, b.message))
	})
	return slices.CompactFunc(out, func(a, b failure) bool {
		return a.parameter == b.parameter && a.message == b.message && slices.Equal(a.steps, b.steps)
	})
}

// meant is the failures of the alternatives that a value was meant for: those of
// its type, and of its variant where one of keys tells alternatives apart.
func meant(e *jsonschema.ValidationError, keys []string) []*jsonschema.ValidationError {
	return slices.DeleteFunc(slices.Clone(e.Causes), func(cause *jsonschema.ValidationError) bool {
		return slices.ContainsFunc(leaves(cause), func(leaf *jsonschema.ValidationError) bool {
			above, member := path.Split(leaf.InstanceLocation)
			return leaf.InstanceLocation == e.InstanceLocation && strings.HasSuffix(leaf.KeywordLocation, "/type") ||
				above == e.InstanceLocation+"/" && slices.Contains(keys, member) && strings.HasSuffix(leaf.KeywordLocation, "/enum")
		})
	})
}

// unmeant is what to say of a value that was meant for no alternative of a schema.
func unmeant(s *jsonschema.Schema, e *jsonschema.ValidationError) string {
	for _, cause := range e.Causes {
		if !slices.ContainsFunc(leaves(cause), func(leaf *jsonschema.ValidationError) bool {
			return leaf.InstanceLocation == e.InstanceLocation && strings.HasSuffix(leaf.KeywordLocation, "/type")
		}) {
			return "no variant of the object is told apart by this value"
		}
	}
	var types []string
	for _, alternative := range s.AnyOf {
		types = append(types, alternative.Types...)
	}
	return "expected " + strings.Join(slices.Compact(types), " or ")
}

// located is the part of a schema that holds the keyword at a location, which is one
// of those that emitted schemas have.
func located(s *jsonschema.Schema, keyword string) *jsonschema.Schema {
	steps := strings.Split(keyword, "/")[1:]
	for len(steps) > 1 {
		step := steps[0]
		steps = steps[1:]
		switch step {
		case "items":
			s = s.Items2020
			continue
		case "properties":
			s = s.Properties[steps[0]]
		case "anyOf":
			i, _ := strconv.Atoi(steps[0])
			s = s.AnyOf[i]
		}
		steps = steps[1:]
	}
	return s
}

func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
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
		b.WriteString(ir.JSON(name) + ": " + ir.JSON(plain(given[name])))
	}
	b.WriteByte('}')
	return b.String()
}
