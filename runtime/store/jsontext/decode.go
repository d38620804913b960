package jsontext

import (
	"encoding/json"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// Decode reads a JSON object into the fields of a struct that have a tag "json", and reports whether data
// is one whole object. Members before a mistake are read too.
//
// A field is a string, a []byte for a text, a bool, an int64, a [time.Time], a [Raw], a struct or a pointer to a
// struct, a slice of these, or a type with its own UnmarshalJSON. Of an array Decode reads the first 1,048,576
// elements. A member of another type than its field is treated as missing. A []byte or a [Raw] can be a part of data.
func Decode(data []byte, into any) bool {
	c := Cursor{Data: data}
	if !c.Space() || data[c.Pos] != '{' {
		return false
	}
	v := reflect.ValueOf(into).Elem()
	fields := fieldsOf(v.Type())
	return c.Values(0, func(key, value []byte) bool {
		if i, ok := fields[string(Unescape(key))]; ok {
			decodeValue(value, v.Field(i))
		}
		return true
	}) && skipSpace(data, c.Pos) == len(data)
}

// Parse returns a JSON object as a struct, as [Decode] reads it, and reports whether data is one whole object.
func Parse[T any](data []byte) (object T, ok bool) {
	ok = Decode(data, &object)
	return object, ok
}

// maxElements is the largest number of elements that are decoded of an array: an element can need a hundred times the
// memory of its text.
const maxElements = 1 << 20

// Parts decodes an array of objects and texts, or one object or text alone. The function text returns the part for a
// text. Of an array it decodes the first 1,048,576.
func Parts[T any](raw Raw, text func(text []byte) T) []T {
	var parts []T
	add := func(raw []byte) {
		quoted, isText := Unquote(raw)
		switch {
		case isText:
			parts = append(parts, text(Unescape(quoted)))
		case len(raw) > 0 && raw[0] == '{':
			var part T
			Decode(raw, &part)
			parts = append(parts, part)
		}
	}
	add(raw) // one object or text alone; of an array it adds nothing
	for element := range Elements(raw) {
		add(element)
		if len(parts) == maxElements {
			break
		}
	}
	return parts
}

var known sync.Map // the fields of structs, by their types

// fieldsOf returns the indexes of the fields of a struct, by their tags.
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

// decodeValue sets a field or an element to a JSON value, or to its zero value if the JSON value is of another type.
// Of repeated members the last one counts.
func decodeValue(raw Raw, v reflect.Value) {
	quoted, _ := Unquote(raw)
	switch to := v.Addr().Interface().(type) {
	case *Raw:
		*to = raw
	case *string:
		*to = string(Unescape(quoted))
	case *[]byte:
		*to = Unescape(quoted)
	case *bool:
		*to = string(raw) == "true"
	case *int64:
		*to, _ = strconv.ParseInt(string(raw), 10, 64)
	case *time.Time:
		*to, _ = transcript.ParseTimestamp(quoted)
	case json.Unmarshaler:
		_ = to.UnmarshalJSON(raw) // a value with a mistake is treated as missing
	default:
		decodeComposite(raw, v)
	}
}

// decodeComposite is decodeValue for structs, pointers and slices. A pointer stays nil for null.
func decodeComposite(raw Raw, v reflect.Value) {
	v.SetZero()
	switch v.Kind() {
	case reflect.Struct:
		Decode(raw, v.Addr().Interface())
	case reflect.Pointer:
		if raw[0] != 'n' {
			v.Set(reflect.New(v.Type().Elem()))
			decodeValue(raw, v.Elem())
		}
	case reflect.Slice:
		for element := range Elements(raw) {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			decodeValue(element, v.Index(v.Len()-1))
			if v.Len() == maxElements {
				break
			}
		}
	default:
	}
}
