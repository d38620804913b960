// Package editor makes a JSON Schema of the spec format for editors, and a reference of all keys. Both come from the
// table of keys that the loader uses.
//
// The schema describes single keys. Package check judges how keys depend on each other.
package editor

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/emit/internal/jsontext"
	"github.com/convtools/convtools/gen/emit/internal/markdown"
	"github.com/convtools/convtools/gen/spec"
)

// Schema returns the JSON Schema of a kind of file, [spec.ToolKind] or [spec.ProjectKind]. It uses draft 7, which the
// language servers for TOML support.
func Schema(kind string) []byte {
	keys := spec.Keys()
	definitions := jsontext.Object{}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		if reachable(keys, kind)[name] && name != kind {
			definitions = definitions.With(name, table(keys[name]))
		}
	}
	titles := map[string]string{spec.ToolKind: "A tool, as convgen reads it", spec.ProjectKind: "tools.toml, as convgen reads it"}
	schema := jsontext.New("$schema", "http://json-schema.org/draft-07/schema#", "title", titles[kind])
	return jsontext.Pretty(append(schema, table(keys[kind])...).With("definitions", definitions))
}

// reachable returns the kind from and the kinds of the tables that a table of that kind can contain, at any depth.
func reachable(keys map[string][]spec.Key, from string) map[string]bool {
	seen := map[string]bool{}
	var walk func(kind string)
	walk = func(kind string) {
		if kind == "" || seen[kind] {
			return
		}
		seen[kind] = true
		for _, k := range keys[kind] {
			walk(k.Kind)
		}
	}
	walk(from)
	return seen
}

// table returns the schema of a table with the given keys and no others.
func table(keys []spec.Key) jsontext.Object {
	properties := jsontext.Object{}
	var required []string
	for _, k := range keys {
		properties = properties.With(k.Name, property(k))
		if k.Required {
			required = append(required, k.Name)
		}
	}
	object := jsontext.New("type", "object", "properties", properties, "additionalProperties", false)
	if len(required) > 0 {
		object = object.With("required", required)
	}
	return object
}

// property returns the description of a key, and the schema of its value. A value of any type has only a description.
func property(k spec.Key) jsontext.Object {
	typed := func(name string, more ...any) jsontext.Object { return jsontext.New("type", name).With(more...) }
	text := typed("string")
	if len(k.Values) > 0 {
		text = text.With("enum", k.Values)
	}
	nested := jsontext.New("$ref", "#/definitions/"+k.Kind)
	if k.Kind == "" {
		nested = typed("object")
	}
	list := func(items any) jsontext.Object { return typed("array", "items", items) }
	value := map[spec.Type]jsontext.Object{
		spec.TextKey: text, spec.TextsKey: list(text), spec.WordsKey: jsontext.New("anyOf", []any{text, list(text)}),
		spec.IntegerKey: typed("integer"), spec.NumberKey: typed("number"), spec.NumbersKey: list(typed("integer")), spec.BooleanKey: typed("boolean"),
		spec.TableKey:  jsontext.New("allOf", []any{nested}), // draft 7 ignores keywords next to $ref
		spec.TablesKey: list(nested),
		spec.NamedKey:  typed("object", "additionalProperties", nested),
		spec.VarsKey:   typed("object", "additionalProperties", typed("string")),
		spec.ArgsKey:   list(jsontext.New("anyOf", []any{typed("string"), nested})),
	}[k.Type]
	return append(jsontext.New("description", k.Doc+"."), value...)
}

// Reference returns the reference of all keys in Markdown.
func Reference() []byte {
	var b bytes.Buffer
	b.WriteString("# Keys of specs\n")
	keys := spec.Keys()
	written := map[string]bool{}
	var write func(kind, title string) // writes the table of a kind, and then the tables of the kinds nested in it
	write = func(kind, title string) {
		if written[kind] {
			return
		}
		written[kind] = true
		b.WriteString("\n## " + title + "\n\n" + markdown.Header("Key", "Holds", "Meaning"))
		for _, k := range keys[kind] {
			holds := words(k)
			if k.Required {
				holds += ", required"
			}
			doc := markdown.Inline(k.Doc)
			if len(k.Values) > 0 {
				doc += " (" + markdown.Inline(strings.Join(k.Values, ", ")) + ")"
			}
			b.WriteString(markdown.Row(markdown.Code(k.Name), markdown.Inline(holds), doc))
		}
		for _, k := range keys[kind] {
			if k.Kind != "" {
				write(k.Kind, heading(k))
			}
		}
	}
	write(spec.ToolKind, "A spec")
	write(spec.ProjectKind, "tools.toml")
	return b.Bytes()
}

// heading returns the heading for the tables under a key, such as "[command]". A kind of two words, such as "tool
// targets", becomes "[targets], of a tool".
func heading(k spec.Key) string {
	name, owner := k.Kind, ""
	if prefix, key, ok := strings.Cut(k.Kind, " "); ok {
		name, owner = key, ", of a "+prefix
	}
	switch k.Type {
	case spec.NamedKey:
		return markdown.Code("["+name+".NAME]") + owner
	case spec.TablesKey:
		return markdown.Code("[["+name+"]]") + owner
	case spec.ArgsKey:
		return "An argument that is a table"
	}
	return markdown.Code("["+name+"]") + owner
}

func words(k spec.Key) string {
	return map[spec.Type]string{
		spec.TextKey: "text", spec.TextsKey: "list of texts", spec.WordsKey: "text or list of texts", spec.IntegerKey: "integer", spec.NumberKey: "number", spec.NumbersKey: "list of integers",
		spec.BooleanKey: "boolean", spec.AnyKey: "any value", spec.TableKey: "table", spec.TablesKey: "tables", spec.NamedKey: "tables with names", spec.ArgsKey: "list of texts and tables", spec.VarsKey: "texts with names",
	}[k.Type]
}
