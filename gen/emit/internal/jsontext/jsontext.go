// Package jsontext writes JSON with members in the order they were given. It never escapes
// for HTML: these files are read by people and models, not put into pages.
package jsontext

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

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
	write(&b, o)
	return b.Bytes(), nil
}

func write(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case Object:
		b.WriteByte('{')
		for i, m := range v {
			separate(b, i)
			write(b, m.Name)
			b.WriteByte(':')
			write(b, m.Value)
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i := range v {
			separate(b, i)
			write(b, v[i])
		}
		b.WriteByte(']')
	default:
		b.WriteString(ir.JSON(v))
	}
}

func separate(b *bytes.Buffer, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
}

// Pretty returns a value indented by two spaces and ended by a newline. An array of
// scalars is on one line.
func Pretty(v any) []byte {
	var compact, b bytes.Buffer
	write(&compact, v)
	_ = json.Indent(&b, compact.Bytes(), "", "  ") // it is JSON
	b.WriteByte('\n')
	scalars := regexp.MustCompile(`\[\n( *("([^"\\]|\\.)*"|[^"\s\[\]{}]+),?\n)+ *\]`)
	return scalars.ReplaceAllFunc(b.Bytes(), func(array []byte) []byte {
		lines := strings.Split(string(array[1:len(array)-1]), "\n")
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], " ")
		}
		return []byte("[" + strings.TrimSpace(strings.Join(lines, " ")) + "]")
	})
}
