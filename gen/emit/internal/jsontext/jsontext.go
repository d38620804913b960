// Package jsontext writes JSON with members in the order they were given.
//
// Its values form a closed set, so that writing cannot fail. It never escapes
// for HTML: these files are read by people and models, not put into pages.
package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Value is a JSON value: a [String], [Int], [Number], [Bool], [Array] or [Object].
type Value interface {
	// write appends the value; a negative depth asks for no white space.
	write(b *bytes.Buffer, depth int)
}

// The scalars. Invalid UTF-8 in a string becomes U+FFFD.
type (
	String string
	Int    int64
	Number float64 // finite
	Bool   bool
)

// Of returns what a value of a spec is in JSON: a bool, an int64, a float64, a string,
// or a list of them.
func Of(v any) (Value, error) {
	switch v := v.(type) {
	case bool:
		return Bool(v), nil
	case int64:
		return Int(v), nil
	case float64:
		return Number(v), nil
	case string:
		return String(v), nil
	case []string:
		return Strings(v), nil
	case []any:
		array := make(Array, len(v))
		for i := range v {
			item, err := Of(v[i])
			if err != nil {
				return nil, err
			}
			array[i] = item
		}
		return array, nil
	}
	return nil, fmt.Errorf("no JSON for a value of type %T", v)
}

// Array is a JSON array.
type Array []Value

// Strings is an array of strings.
func Strings(items []string) Array {
	array := make(Array, len(items))
	for i, s := range items {
		array[i] = String(s)
	}
	return array
}

// Member is a member of an object.
type Member struct {
	Name  string
	Value Value
}

// Object is a JSON object. Names are the caller's to keep unique.
type Object []Member

// Compact returns v on one line without white space.
func Compact(v Value) string {
	var b bytes.Buffer
	v.write(&b, -1)
	return b.String()
}

// Pretty returns v indented by two spaces and ended by a newline. An array of
// scalars stays on one line.
func Pretty(v Value) []byte {
	var b bytes.Buffer
	v.write(&b, 0)
	b.WriteByte('\n')
	return b.Bytes()
}

func (s String) write(b *bytes.Buffer, _ int) {
	// Most texts are of characters that stand for themselves, and an encoder costs more
	// than such a text.
	start := b.Len()
	b.WriteByte('"')
	from := 0
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '"' || c == '\\' || c == '\n':
			b.WriteString(string(s[from:i]))
			if c == '\n' {
				c = 'n'
			}
			b.Write([]byte{'\\', c})
			from = i + 1
		case c < ' ' || c >= utf8.RuneSelf:
			b.Truncate(start)
			s.encode(b)
			return
		}
	}
	b.WriteString(string(s[from:]))
	b.WriteByte('"')
}

func (s String) encode(b *bytes.Buffer) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(string(s)) // a string into a buffer: neither can fail
	b.Truncate(b.Len() - 1)   // Encode ends with a newline
}

func (i Int) write(b *bytes.Buffer, _ int) { b.WriteString(strconv.FormatInt(int64(i), 10)) }

func (n Number) write(b *bytes.Buffer, _ int) {
	b.WriteString(strconv.FormatFloat(float64(n), 'f', -1, 64))
}

func (v Bool) write(b *bytes.Buffer, _ int) { b.WriteString(strconv.FormatBool(bool(v))) }

func (a Array) write(b *bytes.Buffer, depth int) {
	oneLine := true
	for _, v := range a {
		switch v.(type) {
		case Array, Object:
			oneLine = false
		}
	}
	b.WriteByte('[')
	for i, v := range a {
		switch {
		case !oneLine:
			separate(b, i, deeper(depth))
		case i > 0 && depth >= 0:
			b.WriteString(", ")
		case i > 0:
			b.WriteByte(',')
		}
		v.write(b, deeper(depth))
	}
	if !oneLine {
		newline(b, depth)
	}
	b.WriteByte(']')
}

func (o Object) write(b *bytes.Buffer, depth int) {
	b.WriteByte('{')
	for i, m := range o {
		separate(b, i, deeper(depth))
		String(m.Name).write(b, 0)
		b.WriteByte(':')
		if depth >= 0 {
			b.WriteByte(' ')
		}
		m.Value.write(b, deeper(depth))
	}
	if len(o) > 0 {
		newline(b, depth)
	}
	b.WriteByte('}')
}

func deeper(depth int) int {
	if depth >= 0 {
		depth++
	}
	return depth
}

func separate(b *bytes.Buffer, i, depth int) {
	if i > 0 {
		b.WriteByte(',')
	}
	newline(b, depth)
}

func newline(b *bytes.Buffer, depth int) {
	if depth >= 0 {
		b.WriteByte('\n')
		for range depth {
			b.WriteString("  ")
		}
	}
}
