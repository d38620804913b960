// Package jsontext writes JSON with members in the given order. It does not escape <, > and &: people and models read
// these files, and no HTML page contains them.
package jsontext

import (
	"bytes"
	"slices"

	"github.com/convtools/convtools/gen/ir"
)

// Object is a JSON object. Callers must keep names unique.
type Object []Member

// Member is a member of an object.
type Member struct {
	Name  string
	Value any
}

// New returns an object of the given names and values in turn. The names must be strings.
func New(pairs ...any) Object { return Object{}.With(pairs...) }

// With returns the object with more members at the end, given as names and values in turn. It does not change o.
func (o Object) With(pairs ...any) Object {
	o = o[:len(o):len(o)] // append copies
	for i := 0; i < len(pairs); i += 2 {
		o = append(o, Member{pairs[i].(string), pairs[i+1]})
	}
	return o
}

// MarshalJSON returns the members in their order.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	write(&b, o, "")
	return b.Bytes(), nil
}

// Pretty returns a value indented by two spaces, with a newline at its end. An array of scalars is on one line.
func Pretty(v any) []byte {
	var b bytes.Buffer
	write(&b, v, "\n")
	b.WriteByte('\n')
	return b.Bytes()
}

// write writes a value. newline is a line break and the indentation of the enclosing value. If newline is "", the output
// is on one line and without spaces. An array of scalars is always on one line.
func write(b *bytes.Buffer, v any, newline string) {
	inner, space := "", "" // inner is the newline of the values in v; space follows a colon, or a comma in a line
	if newline != "" {
		inner, space = newline+"  ", " "
	}
	switch v := v.(type) {
	case Object:
		b.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(inner + ir.JSON(m.Name) + ":" + space)
			write(b, m.Value, inner)
		}
		if len(v) > 0 {
			b.WriteString(newline)
		}
		b.WriteByte('}')
	case []any:
		comma := ","
		if isOfScalars := !slices.ContainsFunc(v, isNested); isOfScalars {
			inner, newline, comma = "", "", ","+space
		}
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteString(comma)
			}
			b.WriteString(inner)
			write(b, item, inner)
		}
		b.WriteString(newline + "]")
	case []string:
		var list []any
		for _, s := range v {
			list = append(list, s)
		}
		write(b, list, newline)
	default:
		b.WriteString(ir.JSON(v))
	}
}

func isNested(v any) bool {
	switch v.(type) {
	case Object, []any, []string:
		return true
	}
	return false
}
