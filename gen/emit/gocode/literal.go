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

// The maximum width of a one-line literal, in characters. An item of a list, such as a parameter of a tool, is
// usually on one line, because package go/format is slow on nested literals with many lines.
const (
	maxWidth     = 160
	maxItemWidth = 600
)

// literal returns the Go lines of head followed by value, which is of a data type of the runtime. Zero fields are
// omitted, and short values are on one line.
func literal(head string, value any) code {
	lines := strings.Split(literalOf(reflect.ValueOf(value), true), "\n")
	lines[0] = head + lines[0]
	return lines
}

// literalOf returns the Go expression of a value. If typed is false, the value is an item of a list, and the expression
// leaves out the type, because the list has it.
func literalOf(v reflect.Value, typed bool) string {
	switch v.Kind() {
	case reflect.String:
		return stringLiteral(v.String()) // Go converts it to any named string type
	case reflect.Float64:
		return number(v.Float())
	case reflect.Pointer:
		if typed {
			return "&" + literalOf(v.Elem(), true)
		}
		return literalOf(v.Elem(), false) // in a list, Go infers & from the type of the list
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

// braces returns a composite literal of the given parts, with its type if typed is set. If it is too wide or a part has
// several lines, each part has a line of its own, except in a list of strings.
func braces(t reflect.Type, typed bool, parts []string) string {
	name, limit := "", maxItemWidth
	if typed {
		name, limit = typeName(t), maxWidth
	}
	line := name + "{" + strings.Join(parts, ", ") + "}"
	fits := width(line) <= limit && !strings.Contains(line, "\n")
	isStrings := t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String // a column of words is harder to read
	if fits || isStrings || len(parts) == 0 {
		return line
	}
	return name + "{\n" + strings.Join(parts, ",\n") + ",\n}"
}

// width returns the width of a line in characters, with package names in place of marked import paths.
func width(line string) int {
	n := 0
	for i, piece := range strings.Split(line, mark) {
		if isPath := i%2 == 1; isPath { // between two marks
			piece = path.Base(piece) + "."
		}
		n += utf8.RuneCountInString(piece)
	}
	return n
}

// typeName returns the Go name of a type, qualified by its marked import path.
func typeName(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Slice:
		return "[]" + typeName(t.Elem())
	case t.Kind() == reflect.Array:
		return "[" + strconv.Itoa(t.Len()) + "]" + typeName(t.Elem())
	case t.PkgPath() != "":
		return qualifier(t.PkgPath()) + t.Name()
	}
	return t.String()
}

// number returns n as an untyped constant, or by its name in package contract if it means no bound.
func number(n float64) string {
	switch n {
	case contract.Unbounded:
		return pkgContract + "Unbounded"
	case -contract.Unbounded:
		return "-" + pkgContract + "Unbounded"
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}

// stringLiteral returns s as a Go literal, in backquotes if s has quotes and nothing that must be escaped.
func stringLiteral(s string) string {
	isHidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.Contains(s, `"`) && strconv.CanBackquote(s) && !strings.ContainsFunc(s, isHidden) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}
