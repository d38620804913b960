// Package jsontext writes JSON with members in the order they were given. It never escapes
// for HTML: these files are read by people and models, not put into pages.
package jsontext

import (
	"bytes"
	"slices"

	"github.com/convtools/convtools/gen/ir"
)

// Object is a JSON object. Names are the caller's to keep unique.
type Object []Member

// Member is a member of an object.
type Member struct {
	Name  string
	Value any
}

// New returns the object of names and values in turn.
func New(pairs ...any) Object { return Object{}.With(pairs...) }

// With returns the object with more members behind its own.
func (o Object) With(pairs ...any) Object {
	o = o[:len(o):len(o)]
	for i := 0; i < len(pairs); i += 2 {
		o = append(o, Member{pairs[i].(string), pairs[i+1]})
	}
	return o
}

// MarshalJSON writes the members in their order.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	write(&b, o, "")
	return b.Bytes(), nil
}

// Pretty returns a value indented by two spaces and ended by a newline. An array of
// scalars is on one line.
func Pretty(v any) []byte {
	var b bytes.Buffer
	write(&b, v, "\n")
	b.WriteByte('\n')
	return b.Bytes()
}

// write writes a value. line begins a line of what the value is in; it is empty where all
// is on one.
func write(b *bytes.Buffer, v any, line string) {
	deeper, space := line, ""
	if line != "" {
		deeper, space = line+"  ", " "
	}
	switch v := v.(type) {
	case Object:
		b.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(deeper + ir.JSON(m.Name) + ":" + space)
			write(b, m.Value, deeper)
		}
		if len(v) > 0 {
			b.WriteString(line)
		}
		b.WriteByte('}')
	case []any:
		if slices.ContainsFunc(v, isNested) {
			space = ""
		} else {
			deeper, line = "", ""
		}
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteString("," + space)
			}
			b.WriteString(deeper)
			write(b, item, deeper)
		}
		b.WriteString(line + "]")
	case []string:
		var list []any
		for _, s := range v {
			list = append(list, s)
		}
		write(b, list, line)
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
