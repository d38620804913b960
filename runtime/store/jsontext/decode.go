package jsontext

import (
	"encoding/json"
	"reflect"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/transcript"
)

// Raw is a JSON value as it is recorded; nil where there is none.
type Raw []byte

// Decode reads a JSON object into the fields of a struct that have a tag "json", and reports
// whether data is that object, whole. Up to the first failure members count all the same.
//
// A member of another type than its field has is missing: one wrong member costs itself. Fields
// are strings, texts as bytes, which may be those of data, booleans, integers, times, [Raw],
// structs and pointers to them, slices of all these, and whatever reads its own JSON.
func Decode(data []byte, into any) bool {
	return walk(data, func(c *Cursor) bool { return c.Decode(0, into) })
}

// Decode moves behind the object at c.Pos, which stands inside depth containers, and reads it as
// the function Decode does.
func (c *Cursor) Decode(depth int, into any) bool {
	v := reflect.ValueOf(into).Elem()
	fields := fieldsOf(v.Type())
	return c.Values(depth, func(key, value []byte) bool {
		if HasEscape(key) {
			key = Unescape(key)
		}
		if i, ok := fields[string(key)]; ok {
			decode(value, v.Field(i))
		}
		return true
	})
}

// Parts decodes what is recorded as an array of objects, as one of them alone, or as texts in
// their place.
func Parts[T any](raw Raw, text func(said []byte) T) []T {
	var parts []T
	add := func(raw []byte) {
		var part T
		if said, ok := Unquote(raw); ok {
			part = text(Unescape(said))
		} else if raw[0] != '{' {
			return
		} else {
			Decode(raw, &part)
		}
		parts = append(parts, part)
	}
	if len(raw) > 0 {
		add(raw)
	}
	for element := range Elements(raw) {
		add(element)
	}
	return parts
}

// Unescape returns the text of a string, as it stands between its quotes.
func Unescape(raw []byte) []byte {
	if !HasEscape(raw) && utf8.Valid(raw) {
		return raw[:len(raw):len(raw)]
	}
	return transcript.AppendUnescaped(make([]byte, 0, len(raw)), raw)
}

// String returns the text of a JSON string; "" for any other value.
func String(raw Raw) string {
	said, _ := Unquote(raw)
	return string(Unescape(said))
}

var known sync.Map // of the fields of structs

// fieldsOf returns the positions of the fields of a struct, by the keys of their members.
func fieldsOf(t reflect.Type) map[string]int {
	if fields, ok := known.Load(t); ok {
		return fields.(map[string]int)
	}
	fields := map[string]int{}
	for i := range t.NumField() {
		if key, ok := t.Field(i).Tag.Lookup("json"); ok {
			fields[key] = i
		}
	}
	known.Store(t, fields)
	return fields
}

// decode reads a value into a field. Of several members with a key the last one counts.
func decode(raw Raw, v reflect.Value) {
	switch to := v.Addr().Interface().(type) {
	case *Raw:
		*to = raw
	case *string:
		*to = String(raw)
	case *[]byte:
		said, _ := Unquote(raw)
		*to = Unescape(said)
	case *bool:
		*to = string(raw) == "true"
	case *int64:
		*to, _ = strconv.ParseInt(string(raw), 10, 64)
	case *time.Time:
		said, _ := Unquote(raw)
		*to, _ = transcript.ParseTimestamp(said)
	case json.Unmarshaler:
		_ = to.UnmarshalJSON(raw) // what cannot be read is missing
	default:
		decodeComposite(raw, v)
	}
}

func decodeComposite(raw Raw, v reflect.Value) {
	v.SetZero()
	switch v.Kind() {
	case reflect.Struct:
		Decode(raw, v.Addr().Interface())
	case reflect.Pointer:
		if raw[0] != 'n' {
			v.Set(reflect.New(v.Type().Elem()))
			decode(raw, v.Elem())
		}
	case reflect.Slice:
		for element := range Elements(raw) {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			decode(element, v.Index(v.Len()-1))
		}
	default:
	}
}
