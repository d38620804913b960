package gocode

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/coerce"
)

// literal is a value of the runtime's data types as Go, for what stands behind head. Fields that
// are zero are left out; a value that is short is on one line.
func literalValue(head string, value any) code {
	text := strings.Split(valueOf(reflect.ValueOf(value), true), "\n")
	text[0] = head + text[0]
	return text
}

// literalOf is a value as Go, typed where its place does not tell the type.
func valueOf(v reflect.Value, typed bool) string {
	switch v.Kind() {
	case reflect.String:
		if v.Type() != reflect.TypeFor[string]() {
			return strconv.Quote(v.String()) // a constant takes any type
		}
		return raw(v.String())
	case reflect.Float64:
		return constantOf(v.Float())
	case reflect.Pointer:
		if typed {
			return "&" + valueOf(v.Elem(), true)
		}
		return valueOf(v.Elem(), false)
	case reflect.Slice, reflect.Array:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = valueOf(v.Index(i), false)
		}
		return braces(v.Type(), typed, items)
	case reflect.Struct:
		var fields []string
		for i := range v.NumField() {
			if field := v.Field(i); v.Type().Field(i).IsExported() && !field.IsZero() {
				fields = append(fields, v.Type().Field(i).Name+": "+valueOf(field, true))
			}
		}
		return braces(v.Type(), typed, fields)
	default:
		return fmt.Sprint(v.Interface())
	}
}

// braces is a composite literal, with each part on lines of its own where it is long.
func braces(t reflect.Type, typed bool, parts []string) string {
	name := ""
	if typed {
		name = typeName(t)
	}
	if line := name + "{" + strings.Join(parts, ", ") + "}"; width(line) <= wide && !strings.Contains(line, "\n") || len(parts) == 0 {
		return line
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String { // nobody reads a column of words
		return name + "{" + strings.Join(parts, ", ") + "}"
	}
	return name + "{\n" + strings.Join(parts, ",\n") + ",\n}"
}

func typeName(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Slice:
		return "[]" + typeName(t.Elem())
	case t.Kind() == reflect.Array:
		return "[" + strconv.Itoa(t.Len()) + "]" + typeName(t.Elem())
	case t.PkgPath() != "":
		return of(t.PkgPath()) + t.Name()
	}
	return t.String()
}

// number is an untyped constant.
func constantOf(n float64) string {
	switch n {
	case coerce.Unbounded:
		return pkgCoerce + "Unbounded"
	case -coerce.Unbounded:
		return "-" + pkgCoerce + "Unbounded"
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}
