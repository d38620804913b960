package gocode

import (
	"fmt"
	"path"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/contract"
)

// How many characters of a literal are on one line. A parameter of a tool, which is an item
// of a list, is on one in most cases: package go/format takes its time with what stands on
// several lines, inside of others.
const (
	wide     = 160
	wideItem = 600
)

// literal is a value of the runtime's data types as Go, for what stands behind head. Fields that
// are zero are left out; a value that is short is on one line.
func literal(head string, value any) code {
	text := strings.Split(literalOf(reflect.ValueOf(value), true), "\n")
	text[0] = head + text[0]
	return text
}

// literalOf is a value as Go, typed where its place does not tell the type.
func literalOf(v reflect.Value, typed bool) string {
	switch v.Kind() {
	case reflect.String:
		if v.Type() != reflect.TypeFor[string]() {
			return strconv.Quote(v.String()) // a constant takes any type
		}
		return raw(v.String())
	case reflect.Float64:
		return number(v.Float())
	case reflect.Pointer:
		if typed {
			return "&" + literalOf(v.Elem(), true)
		}
		return literalOf(v.Elem(), false)
	case reflect.Slice, reflect.Array:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = literalOf(v.Index(i), false)
		}
		return braces(v.Type(), typed, items)
	case reflect.Struct:
		var fields []string
		for i := range v.NumField() {
			if field := v.Field(i); !field.IsZero() {
				fields = append(fields, v.Type().Field(i).Name+": "+literalOf(field, true))
			}
		}
		return braces(v.Type(), typed, fields)
	default:
		return fmt.Sprint(v.Interface())
	}
}

// braces is a composite literal, with each part on lines of its own where it is long.
func braces(t reflect.Type, typed bool, parts []string) string {
	name, most := "", wideItem
	if typed {
		name, most = typeName(t), wide
	}
	if line := name + "{" + strings.Join(parts, ", ") + "}"; width(line) <= most && !strings.Contains(line, "\n") || len(parts) == 0 {
		return line
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String { // nobody reads a column of words
		return name + "{" + strings.Join(parts, ", ") + "}"
	}
	return name + "{\n" + strings.Join(parts, ",\n") + ",\n}"
}

// width is how many characters a line has when packages have their names.
func width(line string) int {
	n := 0
	for i, piece := range strings.Split(line, mark) {
		if i%2 == 1 {
			piece = path.Base(piece) + "."
		}
		n += utf8.RuneCountInString(piece)
	}
	return n
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
func number(n float64) string {
	switch n {
	case contract.Unbounded:
		return pkgContract + "Unbounded"
	case -contract.Unbounded:
		return "-" + pkgContract + "Unbounded"
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}

// raw is a string literal as it stands in backquotes, where that is easier to read.
func raw(s string) string {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if !strings.Contains(s, `"`) || !strconv.CanBackquote(s) || strings.ContainsFunc(s, hidden) {
		return strconv.Quote(s)
	}
	return "`" + s + "`"
}
