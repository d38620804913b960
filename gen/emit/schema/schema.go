// Package schema emits the JSON Schema (2020-12) of each tool's arguments.
//
// Callers see the schema, and the generated validators must agree with it. It does not include rules between
// parameters: they need combinators at the top level, which several model providers refuse. Those providers also
// refuse a list of types.
package schema

import (
	"path"
	"slices"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/internal/jsontext"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// Patterns for the flags, for which JSON Schema has no keyword. RE2 and ECMA-262 read them alike: explicit classes,
// no \s, no dot, and $ only where no newline can precede it.
const (
	notBlank           = `[^\t\n\x0b\x0c\r ]`
	singleLine         = `^[^\n\r\x00]*$`
	singleLineNotBlank = `^[^\n\r\x00]*[^\t\n\x0b\x0c\r\x00 ][^\n\r\x00]*$`
)

// Target returns the target schema.
func Target() emit.Target {
	to := lowering()
	return emit.Target{Name: to.Name, Lower: &to, Define: define, Emit: Emit}
}

// lowering describes how tools are lowered for a schema, which has no limits on names and describes only the arguments.
func lowering() lower.Target {
	return lower.Target{Name: "schema", Schema: true, Dots: true, Terse: true}
}

// Emit returns generated/schemas/<tool>.json for every tool.
func Emit(c *ir.Contract, schemas emit.Schemas) ([]emit.File, error) {
	var files []emit.File
	for _, tool := range c.Tools() {
		files = append(files, emit.File{Path: path.Join(c.Targets.Generated, "schemas", tool.Name+".json"), Data: define(c, tool, schemas)})
	}
	return files, nil
}

// define returns the schema of a tool as a document of its own.
func define(_ *ir.Contract, tool *ir.Tool, schemas emit.Schemas) []byte {
	head := jsontext.New("$schema", "https://json-schema.org/draft/2020-12/schema", "title", tool.Name,
		"description", lower.Brief(lowering(), tool).Description)
	return jsontext.Pretty(append(head, schemas(tool)...))
}

// Of returns the schema of a tool without the members that only a separate document needs.
func Of(tool *ir.Tool) jsontext.Object {
	text := lower.For(lowering(), tool)
	return object(&text, tool.Params, nil)
}

// Compact returns the schema of a tool on one line.
func Compact(tool *ir.Tool) string { return ir.JSON(Of(tool)) }

// object returns the schema of an object that has only the given members: those in first, which are required, and then
// params. first has the schema of each of its members.
func object(text *lower.Text, params []ir.Param, first jsontext.Object) jsontext.Object {
	properties := append(jsontext.Object{}, first...)
	var required []string
	for _, m := range first {
		required = append(required, m.Name)
	}
	for i := range params {
		p := &params[i]
		properties = properties.With(p.Name, property(text, p))
		if p.Required {
			required = append(required, p.Name)
		}
	}
	object := jsontext.New("type", ir.Object, "properties", properties)
	if len(required) > 0 {
		object = object.With("required", required)
	}
	return object.With("additionalProperties", false)
}

// property returns the schema of a parameter or member. The description and the default come right after the type or, if
// there are alternatives, before them.
func property(text *lower.Text, p *ir.Param) jsontext.Object {
	var about jsontext.Object
	if words := text.Of(p); words != "" {
		about = jsontext.New("description", words)
	}
	if p.Default != nil {
		about = about.With("default", p.Default)
	}
	schema := value(text, p)
	if schema[0].Name != "type" { // alternatives
		return append(about, schema...)
	}
	return slices.Concat(schema[:1], about, schema[1:])
}

// value returns the schema of a value without its description and default. The schema has alternatives if the value may
// also be null, may be one string in place of an array, or has variants: providers refuse a list of types.
func value(text *lower.Text, p *ir.Param) jsontext.Object {
	var alternatives []any
	if p.OneOrMany {
		alternatives = append(alternatives, value(text, p.Item()))
	}
	schema := jsontext.New("type", p.Kind)
	switch {
	case p.Key != "": // p has variants, and Key is the member that selects one
		for i := range p.Variants {
			alternatives = append(alternatives, variant(text, p, &p.Variants[i]))
		}
		schema = nil // the variants take its place
	case p.Kind == ir.Object:
		schema = object(text, p.Members, nil)
	default:
		schema = append(schema, constraints(&p.Constraints)...)
		if p.Kind == ir.Array {
			schema = schema.With("items", property(text, p.Item()))
		}
	}
	if len(alternatives) == 0 && !p.Nullable {
		return schema
	}
	if schema != nil {
		alternatives = append(alternatives, schema)
	}
	if p.Nullable {
		alternatives = append(alternatives, jsontext.New("type", "null"))
	}
	return jsontext.New("anyOf", alternatives)
}

// variant returns the schema of one variant of an object. The key member is an enum with one value, which more
// providers support than a constant.
func variant(text *lower.Text, p *ir.Param, v *ir.Variant) jsontext.Object {
	key := jsontext.New("type", ir.String)
	if v.Summary != "" {
		key = key.With("description", v.Summary)
	}
	return object(text, v.Members, jsontext.New(p.Key, key.With("enum", []string{v.Value})))
}

func constraints(c *ir.Constraints) jsontext.Object {
	var object jsontext.Object
	for _, row := range ir.ConstraintTable() {
		if v := row.Of(c); v != nil && row.Keyword != "" {
			object = object.With(row.Keyword, v)
		}
	}
	if p := pattern(c); p != "" {
		object = object.With("pattern", p)
	}
	return object
}

// pattern returns one pattern for not_blank and single_line, which have no keyword, or "" if c has neither. A checked
// contract never combines them with a pattern of its own.
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
