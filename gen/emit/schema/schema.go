// Package schema emits the JSON Schema (2020-12) of each tool's arguments.
//
// It is what callers are told and what the generated validators agree with.
// Rules between parameters are not part of it: they would need combinators at
// the top level, which several model providers refuse, as they refuse a type
// that is a list of types.
package schema

import (
	"fmt"
	"path"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/internal/jsontext"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// Patterns of the constraints that JSON Schema has no keyword for. They are
// written so that RE2 and ECMA-262 read them alike: explicit classes, no \s, no
// dot, and $ where no newline can precede it.
const (
	notBlank           = `[^\t\n\x0b\x0c\r ]`
	singleLine         = `^[^\n\r\x00]*$`
	singleLineNotBlank = `^[^\n\r\x00]*[^\t\n\x0b\x0c\r\x00 ][^\n\r\x00]*$`
)

// Emit returns generated/schemas/<tool>.json for every tool.
func Emit(c *ir.Contract) ([]emit.File, error) {
	var files []emit.File
	for _, tool := range c.Tools() {
		for i := range tool.Params {
			if _, err := value(tool.Params[i].Default); err != nil {
				return nil, fmt.Errorf("schema of %s: default of %s: %w", tool.Name, tool.Params[i].Name, err)
			}
		}
		files = append(files, emit.File{
			Path: path.Join(c.Targets.Generated, "schemas", tool.Name+".json"),
			Data: Pretty(tool),
		})
	}
	return files, nil
}

// Pretty returns the schema of a tool as a document of its own, ended by a
// newline.
func Pretty(tool *ir.Tool) []byte {
	head := jsontext.Object{
		{Name: "$schema", Value: jsontext.String("https://json-schema.org/draft/2020-12/schema")},
		{Name: "title", Value: jsontext.String(tool.Name)},
		{Name: "description", Value: jsontext.String(lower.For(lower.Schema, tool).Description)},
	}
	return jsontext.Pretty(append(head, Object(tool)...))
}

// Compact returns the schema of a tool on one line, without the members that
// only a document of its own needs.
func Compact(tool *ir.Tool) string { return jsontext.Compact(Object(tool)) }

// Object returns the schema of a tool for embedding in a larger document.
func Object(tool *ir.Tool) jsontext.Object {
	texts := lower.For(lower.Schema, tool).Parameters
	properties := jsontext.Object{}
	var required []string
	for i := range tool.Params {
		p := &tool.Params[i]
		properties = append(properties, jsontext.Member{Name: p.Name, Value: property(p, texts[i])})
		if p.Required {
			required = append(required, p.Name)
		}
	}
	object := jsontext.Object{
		{Name: "type", Value: jsontext.String("object")},
		{Name: "properties", Value: properties},
	}
	if len(required) > 0 {
		object = append(object, jsontext.Member{Name: "required", Value: jsontext.Strings(required)})
	}
	return append(object, jsontext.Member{Name: "additionalProperties", Value: jsontext.Bool(false)})
}

func property(p *ir.Param, text string) jsontext.Object {
	var object jsontext.Object
	if !p.OneOrMany {
		object = append(object, jsontext.Member{Name: "type", Value: jsontext.String(string(p.Kind))})
	}
	object = append(object, jsontext.Member{Name: "description", Value: jsontext.String(text)})
	// A default of a type that JSON has no form for is an error of Emit.
	if v, err := value(p.Default); err == nil && v != nil {
		object = append(object, jsontext.Member{Name: "default", Value: v})
	}
	if p.Kind != ir.Array {
		return append(object, constraints(&p.Constraints)...)
	}
	item := jsontext.Object{{Name: "type", Value: jsontext.String(string(ir.String))}}
	if p.Items != nil {
		item = append(item, constraints(p.Items)...)
	}
	array := append(constraints(&p.Constraints), jsontext.Member{Name: "items", Value: item})
	if !p.OneOrMany {
		return append(object, array...)
	}
	// Two schemas with one type each: providers refuse a list of types.
	array = append(jsontext.Object{{Name: "type", Value: jsontext.String(string(ir.Array))}}, array...)
	return append(object, jsontext.Member{Name: "anyOf", Value: jsontext.Array{item, array}})
}

func constraints(c *ir.Constraints) jsontext.Object {
	var object jsontext.Object
	if len(c.Enum) > 0 {
		object = append(object, jsontext.Member{Name: "enum", Value: jsontext.Strings(c.Enum)})
	}
	for _, bound := range []struct {
		keyword string
		value   *int64
	}{
		{"minimum", c.Minimum},
		{"maximum", c.Maximum},
		{"minLength", c.MinLength},
		{"maxLength", c.MaxLength},
		{"minItems", c.MinItems},
		{"maxItems", c.MaxItems},
	} {
		if bound.value != nil {
			object = append(object, jsontext.Member{Name: bound.keyword, Value: jsontext.Int(*bound.value)})
		}
	}
	if p := pattern(c); p != "" {
		object = append(object, jsontext.Member{Name: "pattern", Value: jsontext.String(p)})
	}
	return object
}

// pattern is the one pattern that stands for all constraints without a keyword.
// A contract that has been checked never combines a pattern of its own with
// not_blank or single_line: a pattern can say both by itself.
func pattern(c *ir.Constraints) string {
	switch {
	case c.Pattern != "":
		return c.Pattern
	case c.SingleLine && c.NotBlank:
		return singleLineNotBlank
	case c.SingleLine:
		return singleLine
	case c.NotBlank:
		return notBlank
	}
	return ""
}

func value(v any) (jsontext.Value, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case bool:
		return jsontext.Bool(v), nil
	case int64:
		return jsontext.Int(v), nil
	case string:
		return jsontext.String(v), nil
	case []string:
		return jsontext.Strings(v), nil
	}
	return nil, fmt.Errorf("no JSON for a value of type %T", v)
}
