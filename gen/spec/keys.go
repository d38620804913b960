package spec

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/convtools/convtools/gen/ir"
)

// Type is the type of a key's value.
type Type string

// The types of values.
const (
	TextKey    Type = "text"
	IntegerKey Type = "integer"
	NumberKey  Type = "number"
	BooleanKey Type = "boolean"
	TextsKey   Type = "texts"    // an array of strings
	NumbersKey Type = "integers" // an array of integers
	AnyKey     Type = "any"
	TableKey   Type = "table"     // one table, whose kind is Key.Kind, as in the types below
	TablesKey  Type = "tables"    // an array of tables
	NamedKey   Type = "named"     // tables under free names
	WordsKey   Type = "words"     // a string, or an array of strings
	ArgsKey    Type = "args"      // an array of strings and tables
	VarsKey    Type = "variables" // strings under free names
)

// Key is one key of a table of a spec or of tools.toml.
type Key struct {
	Name     string
	Type     Type
	Kind     string // the kind of the tables in its value; "" if there are none
	Required bool
	Values   []string // the allowed values, if they are a list
	Doc      string   // one sentence without a full stop

	what       string         // the name of its tables in messages
	field      int            // the index of the struct field for its value
	constraint *ir.Constraint // nil if the key is not a constraint
}

// The kinds of files.
const (
	ProjectKind = "project" // tools.toml
	ToolKind    = "tool"    // a spec
)

// Keys returns the keys of every kind of table, in the recommended order. Callers must not change the result.
func Keys() map[string][]Key { return allKeys() }

// allKeys computes the result of [Keys] once, because the decoder needs it for every table.
var allKeys = sync.OnceValue(func() map[string][]Key {
	keys := map[string][]Key{}
	addKeys(keys, ProjectKind, reflect.TypeFor[Project]())
	addKeys(keys, ToolKind, reflect.TypeFor[Tool]())
	return keys
})

// addKeys adds the keys of a kind of table to keys, and the keys of all kinds nested in it. A kind is a name such as
// "members"; table is the struct into which tables of the kind are decoded. A field with the tag "key" is a key. Several
// kinds are decoded into a [Param], and each kind has a role, such as "member". The tag "in" lists the roles that have
// the key; without "in" all have it. The tag "need" lists the roles that require the key, or is "yes" for all.
func addKeys(keys map[string][]Key, kind string, table reflect.Type) {
	if _, known := keys[kind]; known {
		return
	}
	keys[kind] = nil // makes the kind known, so that addKeys does not call itself for it: an object may hold objects
	for i := range table.NumField() {
		field := table.Field(i)
		tag := field.Tag
		roles, needs := strings.Fields(tag.Get("in")), strings.Fields(tag.Get("need"))
		isKey := tag.Get("key") != "" && (len(roles) == 0 || slices.Contains(roles, role(kind)))
		if !isKey {
			continue
		}
		if field.Name == "Constraints" {
			keys[kind] = append(keys[kind], constraintKeys(i)...)
			continue
		}
		k := Key{
			Name: tag.Get("key"), Type: typeOf(field), Doc: tag.Get("doc"), Values: strings.Fields(tag.Get("values")),
			Required: slices.Contains(needs, "yes") || slices.Contains(needs, role(kind)),
			what:     cmp.Or(tag.Get("what"), tag.Get("key")), field: i,
		}
		if nested := tableType(field.Type); nested != nil && k.Type != VarsKey {
			k.Kind = cmp.Or(tag.Get("kind"), kindOfTables(kind, k.Name))
			addKeys(keys, k.Kind, nested)
		}
		keys[kind] = append(keys[kind], k)
	}
}

// tableType returns the struct type of a table. t is the type of the Go field that holds one table or several: a struct,
// a pointer to a struct or a slice of structs. tableType returns nil for a [Field], which holds a plain value.
func tableType(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if _, isField := t.FieldByName("Set"); isField { // only a Field has it
		return nil
	}
	return t
}

// kindOfTables returns the kind of the tables in the value of key. kind is the kind of the table that has key. Inside a
// result, the kind is "result " and key, because these tables have other keys than parameters have. Elsewhere the kind
// is key alone. It is also "fields" for the key of that name, because only a result has fields.
func kindOfTables(kind, key string) string {
	if key != "fields" && ofResult(kind) {
		return "result " + key
	}
	return key
}

// ofResult reports whether tables of the kind belong to the description of a result: the table "result" itself, and the
// tables inside it, such as "result items".
func ofResult(kind string) bool {
	return kind == "result" || kind == "fields" || strings.HasPrefix(kind, "result ")
}

// role returns the role that a [Param] of the given kind has, or "" for a table that is decoded into another struct.
func role(kind string) string {
	return map[string]string{
		"parameters": "parameter", "members": "member", "items": "item",
		"fields": "field", "result members": "field", "result items": "fielditem",
	}[kind]
}

// typeOf returns the type of the key whose value a struct field holds.
func typeOf(field reflect.StructField) Type {
	switch reflect.Zero(field.Type).Interface().(type) {
	case Field[string]:
		return TextKey
	case Field[int64]:
		return IntegerKey
	case Field[bool]:
		return BooleanKey
	case Field[[]string]:
		if field.Tag.Get("form") == "words" {
			return WordsKey
		}
		return TextsKey
	case Field[[]int64]:
		return NumbersKey
	case Field[any]:
		return AnyKey
	case []Arg:
		return ArgsKey
	case []Variable:
		return VarsKey
	}
	switch {
	case field.Tag.Get("form") == "named":
		return NamedKey
	case field.Type.Kind() == reflect.Slice:
		return TablesKey
	}
	return TableKey
}

// constraintKeys returns a key for each constraint. field is the index of the struct field that holds all of them.
func constraintKeys(field int) []Key {
	var keys []Key
	for _, c := range ir.ConstraintTable() {
		k := Key{Name: c.Key, Doc: c.Doc, field: field, constraint: &c}
		switch c.Form {
		case ir.Flag:
			k.Type = BooleanKey
		case ir.List:
			k.Type = TextsKey
		case ir.Text, ir.Remark:
			k.Type = TextKey
		case ir.Least, ir.Most:
			k.Type = NumberKey
			if c.Unit != "" { // the bound is a number of characters or items
				k.Type = IntegerKey
			}
		}
		if c.Key == "format" {
			for _, f := range ir.Formats() {
				k.Values = append(k.Values, f.Name)
			}
		}
		keys = append(keys, k)
	}
	return keys
}
