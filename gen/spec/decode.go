package spec

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/near"
)

// The rules that this package reports. Package check documents them.
const (
	RuleSyntax  = "SP001"
	RuleUnknown = "SP002"
	RuleType    = "SP003"
	RuleMissing = "SP004"
	RuleFiles   = "SP006"
)

// loader collects the diagnostics while files are read.
type loader struct {
	diags diag.List
}

func (l *loader) report(file *File, at diag.Span, rule, message, hint string) {
	l.diags = append(l.diags, diag.Diagnostic{File: file.Name, Span: at, Rule: rule, Severity: diag.Error, Message: message, Hint: hint})
}

func (l *loader) missing(at Place, what, key string) {
	if !at.Key(key).Doubtful() { // otherwise it is present but misspelt
		l.report(at.File, at.KeySpan(), RuleMissing, fmt.Sprintf("%s has no %q", what, key), fmt.Sprintf("add %s = …", key))
	}
	at.Key(key).doubt()
}

func (l *loader) wrong(at Place, key, want string, got any) {
	at.doubt()
	l.report(at.File, at.Span(), RuleType, fmt.Sprintf("%s must be %s, not %s", key, want, typeName(got)), "")
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

// table reads a TOML table of the given kind into a struct, according to the tags of its fields. what names the table
// in messages.
func (l *loader) table(at Place, kind, what string, m map[string]any, into reflect.Value) {
	if place := into.FieldByName("At"); place.IsValid() {
		place.Set(reflect.ValueOf(at))
	}
	if param, ok := into.Addr().Interface().(*Param); ok {
		param.OfResult, param.Constraints = ofResult(kind), map[string]Field[any]{}
	}
	l.unknown(at, kind, what, m)
	for _, key := range Keys()[kind] {
		value, there := m[key.Name]
		switch {
		case there:
			l.value(at.Key(key.Name), &key, value, into.Field(key.field))
			continue
		case key.Required:
			l.missing(at, what, key.Name)
		}
		if unset := into.Field(key.field); unset.Kind() == reflect.Struct && key.Kind == "" {
			unset.FieldByName("At").Set(reflect.ValueOf(at))
		}
	}
}

// unknown reports unknown keys. Spelling must be exact: TOML libraries ignore case, so two spellings of one key would
// compete for its value.
func (l *loader) unknown(at Place, kind, what string, m map[string]any) {
	var known, absent []string
	for _, key := range Keys()[kind] {
		known = append(known, key.Name)
		if _, there := m[key.Name]; !there {
			absent = append(absent, key.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if slices.Contains(known, name) {
			continue
		}
		hint := "keys of " + what + ": " + strings.Join(known, ", ")
		if meant := cmp.Or(near.Name(name, absent), near.Name(name, known)); meant != "" {
			hint = fmt.Sprintf("did you mean %q?", meant)
			at.Key(meant).doubt()
		} else {
			for _, key := range absent {
				at.Key(key).doubt()
			}
		}
		l.report(at.File, at.Key(name).KeySpan(), RuleUnknown, fmt.Sprintf("unknown key %q in %s", name, what), hint)
	}
}

// value reads the value of a key.
func (l *loader) value(at Place, key *Key, value any, into reflect.Value) {
	switch to := into.Addr().Interface().(type) {
	case *Field[string]:
		*to = scalar[string](l, at, key.Name, "a string", value)
	case *Field[int64]:
		*to = scalar[int64](l, at, key.Name, "an integer", value)
	case *Field[bool]:
		*to = scalar[bool](l, at, key.Name, "a boolean", value)
	case *Field[map[string]any]:
		*to = scalar[map[string]any](l, at, key.Name, "a table", value)
	case *Field[any]:
		*to = Field[any]{Value: value, Set: true, At: at}
	case *Field[[]int64]:
		*to = list[int64](l, at, key.Name, "an integer", value)
	case *Field[[]string]:
		if one, ok := value.(string); ok && key.Type == WordsKey {
			value = []any{one}
		}
		*to = list[string](l, at, key.Name, "a string", value)
	case *map[string]Field[any]:
		if f := l.constraint(at, key, value); f.Set {
			(*to)[key.Name] = f
		}
	case *[]Variable:
		l.entries(at, key.Name, value, func(name string, at Place, value any) {
			*to = append(*to, Variable{Name: name, At: at, Value: scalar[string](l, at, name, "a string", value)})
		})
	default:
		l.tables(at, key, value, into)
	}
}

// tables reads one table or several.
func (l *loader) tables(at Place, key *Key, value any, into reflect.Value) {
	switch {
	case key.Type == TableKey:
		m, ok := value.(map[string]any)
		if !ok {
			l.wrong(at, key.Name, "a table", value)
			return
		}
		if into.Kind() == reflect.Pointer {
			into.Set(reflect.New(into.Type().Elem()))
			into = into.Elem()
		}
		l.table(at, key.Kind, key.what, m, into)
	case key.Type == NamedKey:
		l.entries(at, key.Name, value, func(name string, at Place, value any) {
			m, ok := value.(map[string]any)
			if !ok {
				l.wrong(at, key.Name+"."+name, "a table", value)
			}
			one := grow(into)
			one.FieldByName("Name").SetString(name)
			if ok {
				l.table(at, key.Kind, key.what+" "+name, m, one)
			} else {
				one.FieldByName("At").Set(reflect.ValueOf(at))
			}
		})
	default:
		l.array(at, key, value, into)
	}
}

// array reads an array of tables. An array of arguments can also hold strings.
func (l *loader) array(at Place, key *Key, value any, into reflect.Value) {
	list, ok := items(value)
	if !ok {
		want := "an array of tables"
		if key.Type == ArgsKey {
			want = "an array"
		}
		l.wrong(at, key.Name, want, value)
	}
	for i, item := range list {
		place := at.Elem(i)
		text, isText := item.(string)
		m, isTable := item.(map[string]any)
		switch {
		case isTable:
			l.table(place, key.Kind, key.what, m, grow(into))
		case key.Type != ArgsKey:
			l.wrong(place, fmt.Sprintf("%s[%d]", key.Name, i), "a table", item)
			at.doubt()
		case isText:
			grow(into).Set(reflect.ValueOf(Arg{At: place, Value: Field[string]{Value: text, Set: true, At: place}}))
		default:
			l.wrong(place, fmt.Sprintf("%s[%d]", key.Name, i), "a string or a table", item)
			at.doubt()
		}
	}
}

// grow appends a zero item to a slice and returns the item.
func grow(list reflect.Value) reflect.Value {
	list.Set(reflect.Append(list, reflect.Zero(list.Type().Elem())))
	return list.Index(list.Len() - 1)
}

// constraint reads a constraint in the form that [ir.Constraint.Set] takes.
func (l *loader) constraint(at Place, key *Key, value any) Field[any] {
	switch key.Type {
	case BooleanKey:
		return opened(scalar[bool](l, at, key.Name, "a boolean", value))
	case TextsKey:
		return opened(list[string](l, at, key.Name, "a string", value))
	case TextKey:
		return opened(scalar[string](l, at, key.Name, "a string", value))
	case IntegerKey:
		f := opened(scalar[int64](l, at, key.Name, "an integer", value))
		n, _ := f.Value.(int64)
		f.Value = float64(n)
		return f
	}
	if n, ok := value.(int64); ok {
		value = float64(n)
	}
	return opened(scalar[float64](l, at, key.Name, "a number", value))
}

func opened[T any](f Field[T]) Field[any] { return Field[any]{Value: f.Value, Set: f.Set, At: f.At} }

func scalar[T any](l *loader, at Place, key, want string, v any) Field[T] {
	value, right := v.(T)
	if !right {
		l.wrong(at, key, want, v)
	}
	return Field[T]{Value: value, Set: right, At: at}
}

func list[T any](l *loader, at Place, key, want string, v any) Field[[]T] {
	list, right := items(v)
	if !right {
		l.wrong(at, key, "an array", v)
		return Field[[]T]{At: at}
	}
	field := Field[[]T]{Set: true, At: at, Value: make([]T, 0, len(list))}
	for i, item := range list {
		value, right := item.(T)
		if !right {
			l.wrong(at.Elem(i), fmt.Sprintf("%s[%d]", key, i), want, item)
			field.Set = false
			continue
		}
		field.Value = append(field.Value, value)
	}
	if !field.Set {
		// Without the bad item, the others would have the wrong index.
		at.doubt()
		field.Value = nil
	}
	return field
}

// items converts both forms in which the library returns arrays, `[…]` and `[[…]]`, to one. The second result is
// false if v is not an array.
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

// entries reads a table with free names, in document order.
func (l *loader) entries(at Place, key string, value any, read func(name string, at Place, value any)) {
	m, ok := value.(map[string]any)
	if !ok {
		l.wrong(at, key, "a table", value)
		return
	}
	names := slices.Sorted(maps.Keys(m)) // names without a position stay in this order
	spans := make(map[string]diag.Span, len(names))
	for _, name := range names {
		spans[name] = at.Key(name).KeySpan()
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(spans[a].Line, spans[b].Line), cmp.Compare(spans[a].Col, spans[b].Col))
	})
	for _, name := range names {
		read(name, at.Key(name), m[name])
	}
}
