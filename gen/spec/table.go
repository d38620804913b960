package spec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/near"
)

// The rules of this package. Package check has their docs.
const (
	RuleSyntax  = "SP001"
	RuleUnknown = "SP002"
	RuleType    = "SP003"
	RuleMissing = "SP004"
	RuleTOML11  = "SP005"
	RuleFiles   = "SP006"
)

// loader collects what is wrong while files are read.
type loader struct {
	diags diag.List
}

// Span is where a place stands in its file.
func (p Place) Span() diag.Span {
	if p.File == nil || p.File.index == nil {
		return diag.Span{}
	}
	return p.File.index.Lookup(p.Path)
}

// KeySpan is where the name of a place's key stands, for when the value is not
// the trouble.
func (p Place) KeySpan() diag.Span {
	if p.File != nil && p.File.index != nil {
		if span, ok := p.File.index.Key(p.Path); ok {
			return span
		}
	}
	return p.Span()
}

// FileName is the name of the place's file, for a diagnostic.
func (p Place) FileName() string {
	if p.File == nil {
		return ""
	}
	return p.File.Name
}

// Key is the place of a member of a table.
func (p Place) Key(name string) Place { return Place{p.File, p.Path.Key(name)} }

// Elem is the place of an item of an array.
func (p Place) Elem(i int) Place { return Place{p.File, p.Path.Elem(i)} }

func (l *loader) report(file *File, at diag.Span, rule, message, hint string) {
	file.Broken = true
	l.diags = append(l.diags, diag.Diagnostic{File: file.Name, Span: at, Rule: rule, Severity: diag.Error, Message: message, Hint: hint})
}

// table reads the keys of one TOML table and remembers which were asked for, so
// that what is left over can be reported as unknown.
type table struct {
	l     *loader
	at    Place
	name  string // its own key, where the key is free
	what  string // for messages: "a parameter"
	kind  string // as in [Keys]
	m     map[string]any
	asked []string
}

func (l *loader) table(at Place, kind, what string, m map[string]any) *table {
	const keys = 24 // of the tables that have most
	return &table{l: l, at: at, kind: kind, what: what, m: m, asked: make([]string, 0, keys)}
}

// ofResult reports whether the table is part of what a tool returns.
func (t *table) ofResult() bool {
	return t.kind == "result" || t.kind == "fields" || strings.HasPrefix(t.kind, "result ")
}

// below is the kind of tables under a key: they are named after it. Those that have
// the name of others, and hold other keys, are told apart.
func (t *table) below(key string) string {
	switch {
	case t.ofResult() && key != "fields":
		return "result " + key
	case t.kind == ToolKind && key == "targets", t.kind == "tool targets":
		return "tool " + key
	}
	return key
}

// close reports keys that nothing asked for. Spelling has to be exact: TOML
// libraries match keys in any case, which would make two spellings of one key
// fight over its value.
func (t *table) close() {
	var names []string
	for name := range t.m {
		if !slices.Contains(t.asked, name) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		hint := "keys of " + t.what + ": " + strings.Join(t.asked, ", ")
		if meant := near.Name(name, t.asked); meant != "" {
			hint = fmt.Sprintf("did you mean %q?", meant)
		}
		t.l.report(t.at.File, t.at.Key(name).KeySpan(), RuleUnknown, fmt.Sprintf("unknown key %q in %s", name, t.what), hint)
	}
}

func (t *table) raw(key string, required bool) (any, Place, bool) {
	t.asked = append(t.asked, key)
	if v, ok := t.m[key]; ok {
		return v, t.at.Key(key), true
	}
	if required {
		t.l.report(t.at.File, t.at.KeySpan(), RuleMissing, fmt.Sprintf("%s has no %q", t.what, key), fmt.Sprintf("add %s = …", key))
	}
	return nil, t.at, false
}

func (t *table) wrong(at Place, key, want string, got any) {
	t.l.report(at.File, at.Span(), RuleType, fmt.Sprintf("%s must be %s, not %s", key, want, typeName(got)), "")
}

func typeName(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a float"
	case bool:
		return "a boolean"
	case []any, []map[string]any:
		return "an array"
	case map[string]any:
		return "a table"
	default:
		return "a date"
	}
}

func scalar[T any](t *table, key, want string, required bool) Field[T] {
	v, at, ok := t.raw(key, required)
	if !ok {
		return Field[T]{At: at}
	}
	value, right := v.(T)
	if !right {
		t.wrong(at, key, want, v)
	}
	return Field[T]{Value: value, Set: right, At: at}
}

func (t *table) text(key string) Field[string] { return scalar[string](t, key, "a string", false) }

func (t *table) mustText(key string) Field[string] { return scalar[string](t, key, "a string", true) }

func (t *table) integer(key string) Field[int64] { return scalar[int64](t, key, "an integer", false) }

func (t *table) boolean(key string) Field[bool] { return scalar[bool](t, key, "a boolean", false) }

// number is a member that is an integer or a float, as a float64.
func (t *table) number(key string) Field[any] {
	v, at, ok := t.raw(key, false)
	switch n := v.(type) {
	case int64:
		return Field[any]{Value: float64(n), Set: true, At: at}
	case float64:
		return Field[any]{Value: n, Set: true, At: at}
	}
	if ok {
		t.wrong(at, key, "a number", v)
	}
	return Field[any]{At: at}
}

func (t *table) value(key string) Field[any] {
	v, at, ok := t.raw(key, false)
	return Field[any]{Value: v, Set: ok, At: at}
}

func list[T any](t *table, key, want string, required bool) Field[[]T] {
	v, at, ok := t.raw(key, required)
	if !ok {
		return Field[[]T]{At: at}
	}
	list, right := items(v)
	if !right {
		t.wrong(at, key, "an array", v)
		return Field[[]T]{At: at}
	}
	field := Field[[]T]{Set: true, At: at, Value: make([]T, 0, len(list))}
	for i, item := range list {
		value, right := item.(T)
		if !right {
			t.wrong(at.Elem(i), fmt.Sprintf("%s[%d]", key, i), want, item)
			field.Set = false
			continue
		}
		field.Value = append(field.Value, value)
	}
	if !field.Set {
		// With a hole in it, its items would no longer stand where they say.
		field.Value = nil
	}
	return field
}

func (t *table) texts(key string) Field[[]string] { return list[string](t, key, "a string", false) }

func (t *table) mustTexts(key string) Field[[]string] { return list[string](t, key, "a string", true) }

// words is a member that is a string, for a list of one, or an array of them.
func (t *table) words(key string) Field[[]string] {
	if one, ok := t.m[key].(string); ok {
		t.asked = append(t.asked, key)
		return Field[[]string]{Value: []string{one}, Set: true, At: t.at.Key(key)}
	}
	return t.texts(key)
}

func (t *table) integers(key string) Field[[]int64] {
	return list[int64](t, key, "an integer", false)
}

func (t *table) mustIntegers(key string) Field[[]int64] {
	return list[int64](t, key, "an integer", true)
}

// sub is a member that is a table; nil where it is absent or something else.
func (t *table) sub(key, what string, required bool) *table {
	v, at, ok := t.raw(key, required)
	if !ok {
		return nil
	}
	m, right := v.(map[string]any)
	if !right {
		t.wrong(at, key, "a table", v)
		return nil
	}
	return t.l.table(at, t.below(key), what, m)
}

// subs is a member that is an array of tables.
func (t *table) subs(key, what string, required bool) []*table {
	v, at, ok := t.raw(key, required)
	if !ok {
		return nil
	}
	list, right := items(v)
	if !right {
		t.wrong(at, key, "an array of tables", v)
	}
	var tables []*table
	for i, item := range list {
		m, right := item.(map[string]any)
		if !right {
			t.wrong(at.Elem(i), fmt.Sprintf("%s[%d]", key, i), "a table", item)
			continue
		}
		tables = append(tables, t.l.table(at.Elem(i), t.below(key), what, m))
	}
	return tables
}

// items makes one form of the two in which the library hands out arrays: `[…]`
// and `[[…]]`.
func items(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case []map[string]any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = v[i]
		}
		return out, true
	}
	return nil, false
}

// named is a member whose own members are tables under free names, in document
// order.
func (t *table) named(key, what string) []*table {
	parent := t.sub(key, key, false)
	if parent == nil {
		return nil
	}
	var tables []*table
	for _, name := range parent.names() {
		at := parent.at.Key(name)
		m, ok := parent.m[name].(map[string]any)
		if !ok {
			parent.wrong(at, key+"."+name, "a table", parent.m[name])
			continue
		}
		named := t.l.table(at, t.below(key), what+" "+name, m)
		named.name = name
		tables = append(tables, named)
	}
	return tables
}

// variables is a member whose own members are texts under free names, in document
// order.
func (t *table) variables(key string) []Variable {
	parent := t.sub(key, key, false)
	if parent == nil {
		return nil
	}
	var variables []Variable
	for _, name := range parent.names() {
		variables = append(variables, Variable{Name: name, At: parent.at.Key(name), Value: parent.text(name)})
	}
	return variables
}

// names returns the names of all keys, in document order.
func (t *table) names() []string {
	names := slices.Sorted(maps.Keys(t.m)) // those without a place stay in this order
	spans := make(map[string]diag.Span, len(names))
	for _, name := range names {
		spans[name] = t.at.Key(name).KeySpan()
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(spans[a].Line, spans[b].Line), cmp.Compare(spans[a].Col, spans[b].Col))
	})
	return names
}
