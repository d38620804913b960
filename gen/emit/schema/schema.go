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
	"slices"
	"sync"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/internal/jsontext"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// Patterns of the flags, for which JSON Schema has no keyword. They are written so
// that RE2 and ECMA-262 read them alike: explicit classes, no \s, no dot, and $
// where no newline can precede it.
const (
	notBlank           = `[^\t\n\x0b\x0c\r ]`
	singleLine         = `^[^\n\r\x00]*$`
	singleLineNotBlank = `^[^\n\r\x00]*[^\t\n\x0b\x0c\r\x00 ][^\n\r\x00]*$`
)

// Target is this package's.
func Target() emit.Target {
	to := lowering()
	return emit.Target{Name: to.Name, Lower: &to, One: file, Emit: Emit}
}

func file(c *ir.Contract, tool *ir.Tool) string {
	return path.Join(c.Targets.Generated, "schemas", tool.Name+".json")
}

// lowering: a schema has names of its own, and describes arguments, not the tool.
func lowering() lower.Target {
	return lower.Target{Name: "schema", Schema: true, Dots: true, Terse: true}
}

// Emit returns generated/schemas/<tool>.json for every tool.
func Emit(c *ir.Contract, schemas emit.Schemas) ([]emit.File, error) {
	var files []emit.File
	for _, tool := range c.Tools() {
		for _, p := range tool.Values() {
			if _, err := fallback(p); err != nil {
				return nil, fmt.Errorf("schema of %s: default of %s: %w", tool.Name, p.Name, err)
			}
		}
		files = append(files, emit.File{
			Path: file(c, tool),
			Data: pretty(tool, schemas(tool)),
		})
	}
	return files, nil
}

// Schemas returns [emit.Schemas] that makes a schema when it is first asked for it. It is
// for contracts that do not change.
func Schemas() emit.Schemas {
	var made sync.Map // jsontext.Object by *ir.Tool
	return func(tool *ir.Tool) jsontext.Object {
		if schema, ok := made.Load(tool); ok {
			return schema.(jsontext.Object)
		}
		text := lower.For(lowering(), tool)
		schema := object(&text, tool.Params, nil)
		made.Store(tool, schema)
		return schema
	}
}

// pretty returns the schema of a tool as a document of its own, ended by a newline.
func pretty(tool *ir.Tool, schema jsontext.Object) []byte {
	head := jsontext.Object{
		{Name: "$schema", Value: jsontext.String("https://json-schema.org/draft/2020-12/schema")},
		{Name: "title", Value: jsontext.String(tool.Name)},
		{Name: "description", Value: jsontext.String(lower.Brief(lowering(), tool).Description)},
	}
	return jsontext.Pretty(append(head, schema...))
}

// Compact returns the schema of a tool on one line, without the members that
// only a document of its own needs.
func Compact(tool *ir.Tool) string { return CompactOf(Schemas())(tool) }

// CompactOf is [Compact] of what schemas returns.
func CompactOf(schemas emit.Schemas) func(*ir.Tool) string {
	return func(tool *ir.Tool) string { return jsontext.Compact(schemas(tool)) }
}

// object is the schema of a closed object. before is members that stand before the
// others, all of them required.
func object(text *lower.Text, params []ir.Param, before jsontext.Object) jsontext.Object {
	properties := append(jsontext.Object{}, before...)
	var required []string
	for _, m := range before {
		required = append(required, m.Name)
	}
	for i := range params {
		p := &params[i]
		properties = append(properties, jsontext.Member{Name: p.Name, Value: property(text, p)})
		if p.Required {
			required = append(required, p.Name)
		}
	}
	object := jsontext.Object{
		{Name: "type", Value: jsontext.String(ir.Object)},
		{Name: "properties", Value: properties},
	}
	if len(required) > 0 {
		object = append(object, jsontext.Member{Name: "required", Value: jsontext.Strings(required)})
	}
	return append(object, jsontext.Member{Name: "additionalProperties", Value: jsontext.Bool(false)})
}

// property is the schema of a parameter or of a member: what it is to readers
// stands right behind its type, or before the alternatives it has.
func property(text *lower.Text, p *ir.Param) jsontext.Object {
	about := jsontext.Object{{Name: "description", Value: jsontext.String(text.Of(p))}}
	// A default of a type that JSON has no form for is an error of Emit.
	if v, err := fallback(p); err == nil && v != nil {
		about = append(about, jsontext.Member{Name: "default", Value: v})
	}
	schema := value(text, p)
	if schema[0].Name != "type" {
		return append(about, schema...)
	}
	return slices.Concat(schema[:1], about, schema[1:])
}

// value is the schema of a value without its description and default. Alternatives
// are schemas with one type each: providers refuse a list of types.
func value(text *lower.Text, p *ir.Param) jsontext.Object {
	var alternatives jsontext.Array
	if p.OneOrMany {
		alternatives = append(alternatives, value(text, p.Item()))
	}
	schema := jsontext.Object{{Name: "type", Value: jsontext.String(p.Kind)}}
	switch {
	case p.Key != "":
		for i := range p.Variants {
			alternatives = append(alternatives, variant(text, p, &p.Variants[i]))
		}
		schema = nil
	case p.Kind == ir.Object:
		schema = object(text, p.Members, nil)
	default:
		schema = append(schema, constraints(&p.Constraints)...)
		if p.Kind == ir.Array {
			schema = append(schema, jsontext.Member{Name: "items", Value: item(text, p.Item())})
		}
	}
	switch {
	case len(alternatives) == 0 && !p.Nullable:
		return schema
	case schema != nil:
		alternatives = append(alternatives, schema)
	}
	if p.Nullable {
		alternatives = append(alternatives, jsontext.Object{{Name: "type", Value: jsontext.String("null")}})
	}
	return jsontext.Object{{Name: "anyOf", Value: alternatives}}
}

// item is the schema of an array's items, which have a description where the spec
// gives them one.
func item(text *lower.Text, p *ir.Param) jsontext.Object {
	if text.Of(p) == "" {
		return value(text, p)
	}
	return property(text, p)
}

// variant is one form of an object that a member tells apart. A list of one value
// does for a constant: more providers take it.
func variant(text *lower.Text, p *ir.Param, v *ir.Variant) jsontext.Object {
	key := jsontext.Object{{Name: "type", Value: jsontext.String(ir.String)}}
	if v.Summary != "" {
		key = append(key, jsontext.Member{Name: "description", Value: jsontext.String(v.Summary)})
	}
	key = append(key, jsontext.Member{Name: "enum", Value: jsontext.Strings([]string{v.Value})})
	return object(text, v.Members, jsontext.Object{{Name: p.Key, Value: key}})
}

func constraints(c *ir.Constraints) jsontext.Object {
	var object jsontext.Object
	add := func(keyword string, v jsontext.Value) {
		object = append(object, jsontext.Member{Name: keyword, Value: v})
	}
	for _, row := range ir.ConstraintTable() {
		if row.Keyword == "" {
			continue
		}
		switch v := row.Of(c).(type) {
		case float64:
			add(row.Keyword, jsontext.Number(v))
		case string:
			add(row.Keyword, jsontext.String(v))
		case []string:
			add(row.Keyword, jsontext.Strings(v))
		}
	}
	if p := pattern(c); p != "" {
		add("pattern", jsontext.String(p))
	}
	return object
}

// pattern is the one pattern that stands for all constraints without a keyword.
// A contract that has been checked never combines a pattern of its own with
// not_blank or single_line: a pattern can say both by itself.
func pattern(c *ir.Constraints) string {
	switch {
	case c.SingleLine && c.NotBlank:
		return singleLineNotBlank
	case c.SingleLine:
		return singleLine
	case c.NotBlank:
		return notBlank
	}
	return ""
}

// fallback is the default of a value, or nil where it has none.
func fallback(p *ir.Param) (jsontext.Value, error) {
	if p.Default == nil {
		return nil, nil
	}
	return jsontext.Of(p.Default)
}
