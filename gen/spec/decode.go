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

func (l *loader) report(file *File, span diag.Span, rule, message, hint string) {
	l.diags = append(l.diags, diag.Diagnostic{File: file.Name, Span: span, Rule: rule, Severity: diag.Error, Message: message, Hint: hint})
}

// reportMissing reports that the table at place lacks a key, and marks the key as doubtful. what names the table in the
// message. If the key is doubtful already, an unknown key may be a misspelling of it, and reportMissing reports nothing.
func (l *loader) reportMissing(place Place, what, key string) {
	if !place.Key(key).Doubtful() {
		l.report(place.File, place.KeySpan(), RuleMissing, fmt.Sprintf("%s has no %q", what, key), fmt.Sprintf("add %s = …", key))
	}
	place.Key(key).markDoubtful()
}

// reportType reports that a key has the value got instead of one that want describes, and marks the place as doubtful.
func (l *loader) reportType(place Place, key, want string, got any) {
	place.markDoubtful()
	l.report(place.File, place.Span(), RuleType, fmt.Sprintf("%s must be %s, not %s", key, want, typeName(got)), "")
}

// typeName returns the name of the TOML type of a decoded value.
func typeName(v any) string {
	names := map[reflect.Kind]string{
		reflect.String: "a string", reflect.Int64: "an integer", reflect.Float64: "a float", reflect.Bool: "a boolean",
		reflect.Slice: "an array", reflect.Map: "a table", reflect.Struct: "a date",
	}
	return names[reflect.TypeOf(v).Kind()]
}

// decodeTable decodes the table m into the struct into, according to the keys of its kind. It reports unknown keys,
// required keys that are missing, and wrong values. what names the table in messages.
func (l *loader) decodeTable(place Place, kind, what string, m map[string]any, into reflect.Value) {
	if at := into.FieldByName("At"); at.IsValid() { // the struct keeps its place
		at.Set(reflect.ValueOf(place))
	}
	if param, ok := into.Addr().Interface().(*Param); ok {
		param.OfResult, param.Constraints = ofResult(kind), map[string]Field[any]{}
	}
	l.reportUnknown(place, kind, what, m)
	for _, key := range Keys()[kind] {
		field := into.Field(key.field)
		if value, present := m[key.Name]; present {
			l.decodeValue(place.Key(key.Name), &key, value, field)
			continue
		}
		if key.Required {
			l.reportMissing(place, what, key.Name)
		}
		if isField := field.Kind() == reflect.Struct && key.Kind == ""; isField { // a [Field], whose At must be set
			field.FieldByName("At").Set(reflect.ValueOf(place)) // problems with an absent key are reported at the table
		}
	}
}

// reportUnknown reports the keys of the table m that its kind does not have. An unknown key may be a misspelling, so
// the known key that its name resembles is marked as doubtful, and is not reported as missing. If its name resembles no
// known key, every absent key is marked. Case matters: to a TOML library that ignores case, two spellings are one key.
func (l *loader) reportUnknown(place Place, kind, what string, m map[string]any) {
	var known, absent []string
	for _, key := range Keys()[kind] {
		known = append(known, key.Name)
		if _, present := m[key.Name]; !present {
			absent = append(absent, key.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if slices.Contains(known, name) {
			continue
		}
		hint := "keys of " + what + ": " + strings.Join(known, ", ")
		if meant := cmp.Or(near.Name(name, absent), near.Name(name, known)); meant != "" { // a key that name resembles
			hint = fmt.Sprintf("did you mean %q?", meant)
			place.Key(meant).markDoubtful()
		} else {
			for _, key := range absent {
				place.Key(key).markDoubtful()
			}
		}
		l.report(place.File, place.Key(name).KeySpan(), RuleUnknown, fmt.Sprintf("unknown key %q in %s", name, what), hint)
	}
}

// decodeValue decodes the value of a key into the struct field for it, and reports a value of the wrong type.
func (l *loader) decodeValue(place Place, key *Key, value any, into reflect.Value) {
	switch to := into.Addr().Interface().(type) {
	case *Field[string]:
		*to = scalar[string](l, place, key.Name, "a string", value)
	case *Field[int64]:
		*to = scalar[int64](l, place, key.Name, "an integer", value)
	case *Field[bool]:
		*to = scalar[bool](l, place, key.Name, "a boolean", value)
	case *Field[map[string]any]:
		*to = scalar[map[string]any](l, place, key.Name, "a table", value)
	case *Field[any]:
		*to = Field[any]{Value: value, Set: true, At: place}
	case *Field[[]int64]:
		*to = list[int64](l, place, key.Name, "an integer", value)
	case *Field[[]string]:
		if word, ok := value.(string); ok && key.Type == WordsKey {
			value = []any{word}
		}
		*to = list[string](l, place, key.Name, "a string", value)
	case *map[string]Field[any]:
		if f := l.decodeConstraint(place, key, value); f.Set {
			(*to)[key.Name] = f
		}
	case *[]Variable:
		l.decodeEntries(place, key.Name, value, func(name string, place Place, value any) {
			*to = append(*to, Variable{Name: name, At: place, Value: scalar[string](l, place, name, "a string", value)})
		})
	default:
		l.decodeTables(place, key, value, into)
	}
}

// decodeTables decodes the value of a key that holds one table, tables under free names, or an array of tables.
func (l *loader) decodeTables(place Place, key *Key, value any, into reflect.Value) {
	switch {
	case key.Type == TableKey:
		m, ok := value.(map[string]any)
		if !ok {
			l.reportType(place, key.Name, "a table", value)
			return
		}
		if into.Kind() == reflect.Pointer {
			into.Set(reflect.New(into.Type().Elem()))
			into = into.Elem()
		}
		l.decodeTable(place, key.Kind, key.what, m, into)
	case key.Type == NamedKey:
		l.decodeEntries(place, key.Name, value, func(name string, place Place, value any) {
			item := appendZero(into) // also for a wrong value: other keys may refer to its name
			item.FieldByName("Name").SetString(name)
			item.FieldByName("At").Set(reflect.ValueOf(place))
			if m, ok := value.(map[string]any); ok {
				l.decodeTable(place, key.Kind, key.what+" "+name, m, item)
			} else {
				l.reportType(place, key.Name+"."+name, "a table", value)
			}
		})
	default:
		l.decodeTableArray(place, key, value, into)
	}
}

// decodeTableArray decodes an array of tables; an array of arguments can also hold strings. It reports any other item,
// leaves the item out, and marks the array as doubtful: package check does not report missing items of such an array.
func (l *loader) decodeTableArray(place Place, key *Key, value any, into reflect.Value) {
	wantValue, wantItem := "an array of tables", "a table"
	if key.Type == ArgsKey {
		wantValue, wantItem = "an array", "a string or a table"
	}
	list, ok := items(value)
	if !ok {
		l.reportType(place, key.Name, wantValue, value)
	}
	for i, item := range list {
		itemPlace := place.Elem(i)
		text, isText := item.(string)
		m, isTable := item.(map[string]any)
		switch {
		case isTable:
			l.decodeTable(itemPlace, key.Kind, key.what, m, appendZero(into))
		case isText && key.Type == ArgsKey:
			appendZero(into).Set(reflect.ValueOf(Arg{At: itemPlace, Value: Field[string]{Value: text, Set: true, At: itemPlace}}))
		default:
			l.reportType(itemPlace, fmt.Sprintf("%s[%d]", key.Name, i), wantItem, item)
			place.markDoubtful() // reportType marks only the place of the item
		}
	}
}

// appendZero appends a zero item to a slice and returns the item.
func appendZero(list reflect.Value) reflect.Value {
	list.Set(reflect.Append(list, reflect.Zero(list.Type().Elem())))
	return list.Index(list.Len() - 1)
}

// decodeConstraint returns the value of a constraint as [ir.Constraint.Set] takes it: every number is a float64.
func (l *loader) decodeConstraint(place Place, key *Key, value any) Field[any] {
	switch key.Type {
	case BooleanKey:
		return anyField(scalar[bool](l, place, key.Name, "a boolean", value))
	case TextsKey:
		return anyField(list[string](l, place, key.Name, "a string", value))
	case TextKey:
		return anyField(scalar[string](l, place, key.Name, "a string", value))
	case IntegerKey:
		f := scalar[int64](l, place, key.Name, "an integer", value)
		return Field[any]{Value: float64(f.Value), Set: f.Set, At: f.At}
	}
	if n, ok := value.(int64); ok { // a key for any number also takes an integer
		value = float64(n)
	}
	return anyField(scalar[float64](l, place, key.Name, "a number", value))
}

func anyField[T any](f Field[T]) Field[any] { return Field[any]{Value: f.Value, Set: f.Set, At: f.At} }

// scalar returns the value v of a key as a field. If v is no T, scalar reports that, and the field is not set. want
// describes a T.
func scalar[T any](l *loader, place Place, key, want string, v any) Field[T] {
	value, ok := v.(T)
	if !ok {
		l.reportType(place, key, want, v)
	}
	return Field[T]{Value: value, Set: ok, At: place}
}

// list returns the array v, which is the value of a key, as a field. If v is no array or an item of v is no T, list
// reports that, and the field is not set. want describes a T.
func list[T any](l *loader, place Place, key, want string, v any) Field[[]T] {
	array, ok := items(v)
	if !ok {
		l.reportType(place, key, "an array", v)
		return Field[[]T]{At: place}
	}
	values := make([]T, 0, len(array))
	for i, item := range array {
		if value, ok := item.(T); ok {
			values = append(values, value)
		} else {
			l.reportType(place.Elem(i), fmt.Sprintf("%s[%d]", key, i), want, item)
		}
	}
	if len(values) < len(array) { // without the bad item, the items after it would have the wrong index
		place.markDoubtful()
		return Field[[]T]{At: place}
	}
	return Field[[]T]{Set: true, At: place, Value: values}
}

// items returns the items of v, which the decoder made of an array `[…]` or of tables `[[…]]`. It returns false if v is
// neither.
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

// decodeEntries calls decode for every entry of value, a table with free names, in document order. If value is no table,
// decodeEntries only reports that.
func (l *loader) decodeEntries(place Place, key string, value any, decode func(name string, place Place, value any)) {
	m, ok := value.(map[string]any)
	if !ok {
		l.reportType(place, key, "a table", value)
		return
	}
	names := slices.Sorted(maps.Keys(m)) // names without a position stay in this order
	spans := make(map[string]diag.Span, len(names))
	for _, name := range names {
		spans[name] = place.Key(name).KeySpan()
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(spans[a].Line, spans[b].Line), cmp.Compare(spans[a].Col, spans[b].Col))
	})
	for _, name := range names {
		decode(name, place.Key(name), m[name])
	}
}
