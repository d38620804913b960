package schema_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/ir/irtest"
	"github.com/convtools/convtools/gen/lower"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := schema.Emit(irtest.Contract(), schema.Of)
	if err != nil {
		t.Fatal(err)
	}
	irtest.Golden(t, files)
}

func compile(t *testing.T, text string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	if err := c.AddResource("mem:///tool.json", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///tool.json")
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return s
}

func decode(t *testing.T, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// Both forms are equivalent schemas, and accept the examples and defaults of the spec.
func TestSchemasCompileAndAcceptExamplesAndDefaults(t *testing.T) {
	t.Parallel()
	c := irtest.Contract()
	files, err := schema.Emit(c, schema.Of)
	if err != nil {
		t.Fatal(err)
	}
	for i, tool := range c.Tools() {
		pretty, compact := string(files[i].Data), schema.Compact(tool)
		whole, bare := decode(t, pretty).(map[string]any), decode(t, compact).(map[string]any)
		for _, key := range []string{"$schema", "title", "description"} {
			delete(whole, key)
		}
		if diff := cmp.Diff(whole, bare); diff != "" {
			t.Errorf("%s: the two forms differ:\n%s", tool.Name, diff)
		}
		for _, s := range []*jsonschema.Schema{compile(t, pretty), compile(t, compact)} {
			for _, e := range tool.Examples {
				if err := s.Validate(decode(t, e.Arguments)); err != nil {
					t.Errorf("%s: example %s: %v", tool.Name, e.Arguments, err)
				}
			}
			for i := range tool.Params {
				p := &tool.Params[i]
				if p.Default == nil {
					continue
				}
				text, err := json.Marshal(p.Default)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Properties[p.Name].Validate(decode(t, string(text))); err != nil {
					t.Errorf("%s: default of %s: %v", tool.Name, p.Name, err)
				}
			}
			if err := s.Validate(decode(t, `{"no_such_parameter": 1}`)); err == nil {
				t.Errorf("%s: an unknown parameter is accepted", tool.Name)
			}
		}
	}
}

// Text constraints have the meaning that package ir documents, for any characters.
func TestTextConstraints(t *testing.T) {
	t.Parallel()
	accepts := func(c ir.Constraints) func(string) bool {
		s := compile(t, schema.Compact(&ir.Tool{Params: []ir.Param{{Name: "p", Kind: ir.String, Constraints: c}}}))
		return func(v string) bool { return s.Validate(map[string]any{"p": v}) == nil }
	}
	notBlank := accepts(ir.Constraints{NotBlank: true})
	singleLine := accepts(ir.Constraints{SingleLine: true})
	both := accepts(ir.Constraints{NotBlank: true, SingleLine: true})
	short := accepts(ir.Constraints{MaxLength: new(int64)})

	isNotBlank := func(v string) bool { return strings.Trim(v, "\t\n\v\f\r ") != "" }
	isSingleLine := func(v string) bool { return !strings.ContainsAny(v, "\n\r\x00") }
	for _, v := range []string{
		"", " ", "\t\n\v\f\r ", "a", " a ", "a\n", "\na", "a\rb", "a\x00b", "\x00", " \x00 ", "\u00a0", "\u2028", "\u0085",
		"日本", "a\tb", "\v", "x\v", "\x1b", "😀\n😀", "\\n", "\\x00", "-", "^$",
	} {
		if got, want := notBlank(v), isNotBlank(v); got != want {
			t.Errorf("not_blank accepts %q: %v, want %v", v, got, want)
		}
		if got, want := singleLine(v), isSingleLine(v); got != want {
			t.Errorf("single_line accepts %q: %v, want %v", v, got, want)
		}
		if got, want := both(v), isNotBlank(v) && isSingleLine(v); got != want {
			t.Errorf("both accept %q: %v, want %v", v, got, want)
		}
		if got, want := short(v), v == ""; got != want {
			t.Errorf("a maximum length of 0 accepts %q: %v, want %v", v, got, want)
		}
	}
}

// Providers refuse the whole request for these. A parameter may have alternatives with one type each.
func TestNoListsOfTypesAndNoTopLevelCombinators(t *testing.T) {
	t.Parallel()
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if _, ok := v["type"].([]any); ok {
				t.Errorf("%s.type is a list", path)
			}
			for _, key := range []string{"allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependentRequired"} {
				if _, ok := v[key]; ok && !(key == "anyOf" && strings.Count(path, ".") == 2) {
					t.Errorf("%s has %s", path, key)
				}
			}
			for k, child := range v {
				walk(path+"."+k, child)
			}
		case []any:
			for _, child := range v {
				walk(path+"[]", child)
			}
		}
	}
	for _, tool := range irtest.Contract().Tools() {
		walk(tool.Name, decode(t, schema.Compact(tool)))
	}
}

func TestHostileTextStaysText(t *testing.T) {
	t.Parallel()
	c := irtest.Hostile()
	files, err := schema.Emit(c, schema.Of)
	if err != nil {
		t.Fatal(err)
	}
	for i, tool := range c.Tools() {
		if bytes.IndexByte(files[i].Data, '\t') >= 0 || strings.Contains(schema.Compact(tool), "\n") {
			t.Errorf("%s: white space of a text stands bare", tool.Name)
		}
		compile(t, string(files[i].Data))
		var got struct {
			Properties map[string]struct {
				Description string
				Default     any
				Enum        []string
				Items       struct{ Enum []string }
			}
		}
		if err := json.Unmarshal(files[i].Data, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Properties) != len(tool.Params) {
			t.Errorf("%s has properties %v", tool.Name, got.Properties)
		}
		texts := lower.For(*schema.Target().Lower, tool).Parameters
		for i, p := range tool.Params {
			g := got.Properties[p.Name]
			if g.Description != texts[i] || !strings.HasPrefix(g.Description, irtest.HostileText) {
				t.Errorf("%s.%s: description %q", tool.Name, p.Name, g.Description)
			}
			if text, ok := p.Default.(string); ok && g.Default != text {
				t.Errorf("%s.%s: default %q", tool.Name, p.Name, g.Default)
			}
			if diff := cmp.Diff(p.Enum, g.Enum); diff != "" {
				t.Errorf("%s.%s: enum\n%s", tool.Name, p.Name, diff)
			}
			if p.Items != nil {
				if diff := cmp.Diff(p.Items.Enum, g.Items.Enum); diff != "" {
					t.Errorf("%s.%s: enum of items\n%s", tool.Name, p.Name, diff)
				}
			}
		}
	}
}
