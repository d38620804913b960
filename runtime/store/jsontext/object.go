package jsontext

import (
	"bytes"
	"iter"

	"github.com/convtools/convtools/runtime/transcript"
)

// Object moves behind the object at c.Pos, which stands inside depth containers, and hands
// over its members, each key as it stands between its quotes, until member returns false.
func (c *Cursor) Object(depth int, member func(key, value []byte) bool) bool {
	c.Pos++
	if !c.Space() {
		return false
	}
	if c.Data[c.Pos] == '}' {
		c.Pos++
		return true
	}
	for {
		if b := c.Data[c.Pos]; b != '"' {
			return c.fail(Syntax, c.Pos, "expected a key in quotes, found "+Describe(b))
		}
		key, ok := c.Key()
		start := c.Pos
		if !ok || !c.Value(depth+1) || !member(key, c.Data[start:c.Pos]) || !c.Space() {
			return false
		}
		b := c.Data[c.Pos]
		c.Pos++
		switch {
		case b == '}':
			return true
		case b != ',':
			return c.fail(Syntax, c.Pos-1, "expected ',' or '}' after a value, found "+Describe(b))
		case !c.Space():
			return false
		}
	}
}

// Member is a key, as it stands between its quotes, and its raw value.
type Member struct{ Key, Value []byte }

// Members walks the members of a JSON object, up to the first failure; any other
// value has none.
func Members(raw []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		if len(raw) > 0 && raw[0] == '{' {
			c := Cursor{Data: raw}
			c.Object(1, func(key, value []byte) bool { return yield(Member{key, value}) })
		}
	}
}

// Elements walks the elements of a JSON array, up to the first failure; any other
// value has none.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if len(raw) == 0 || raw[0] != '[' {
			return
		}
		c := Cursor{Data: raw, Pos: 1}
		for c.Space() && raw[c.Pos] != ']' {
			start := c.Pos
			if !c.Value(2) || !yield(raw[start:c.Pos]) || !c.Space() || raw[c.Pos] != ',' {
				return
			}
			c.Pos++
		}
	}
}

// Walk hands over the members of a JSON object, up to the first failure, and reports whether data
// is that object, whole, with nothing but white space around it.
func Walk(data []byte, member func(key, value []byte)) bool {
	c := Cursor{Data: data}
	return c.Space() && data[c.Pos] == '{' && c.Object(0, func(key, value []byte) bool {
		member(key, value)
		return true
	}) && SkipSpace(data, c.Pos) == len(data)
}

// Get returns the value of a member of a JSON object, and nil where there is none. Of several
// the last one counts.
func Get(raw []byte, key string) (value []byte) {
	Walk(raw, func(k, v []byte) {
		if KeyIs(k, key) {
			value = v
		}
	})
	return value
}

// GetText returns what stands between the quotes of a member that is a string, else nil.
func GetText(raw []byte, key string) []byte {
	text, _ := Unquote(Get(raw, key))
	return text
}

// Unquote returns what stands between the quotes when raw is a JSON string.
func Unquote(raw []byte) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	return raw[1 : len(raw)-1], true
}

// HasEscape reports whether a string has an escape.
func HasEscape(raw []byte) bool { return bytes.IndexByte(raw, '\\') >= 0 }

// KeyIs reports whether a key, as it stands between its quotes, spells name.
func KeyIs(key []byte, name string) bool {
	if string(key) == name {
		return true
	}
	return HasEscape(key) && len(key) <= len(name)*len(`\u0000`) && string(transcript.AppendUnescaped(nil, key)) == name
}
