package jsontext

import (
	"bytes"
	"iter"

	"github.com/convtools/convtools/runtime/transcript"
)

// Member is a key, as it stands between its quotes, and its raw value.
type Member struct{ Key, Value []byte }

// Members walks the members of a JSON object, up to the first failure; any other
// value has none.
func Members(raw []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		within(raw, '{', func(key, value []byte) bool { return yield(Member{key, value}) })
	}
}

// Elements walks the elements of a JSON array, up to the first failure; any other
// value has none.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		within(raw, '[', func(_, value []byte) bool { return yield(value) })
	}
}

func within(raw []byte, opening byte, see func(key, value []byte) bool) {
	if len(raw) > 0 && raw[0] == opening {
		c := Cursor{Data: raw}
		c.Values(1, see)
	}
}

// walk has see move over a JSON object, and reports whether data is that object, whole, with nothing
// but white space around it.
func walk(data []byte, see func(c *Cursor) bool) bool {
	c := Cursor{Data: data}
	return c.Space() && data[c.Pos] == '{' && see(&c) && SkipSpace(data, c.Pos) == len(data)
}

// Get returns the value of a member of a JSON object, and nil where there is none. Of several
// the last one counts.
func Get(raw []byte, key string) (value []byte) {
	walk(raw, func(c *Cursor) bool {
		return c.Values(0, func(k, v []byte) bool {
			if KeyIs(k, key) {
				value = v
			}
			return true
		})
	})
	return value
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

// IsEmpty reports whether raw is {} or [].
func IsEmpty(raw []byte) bool {
	if len(raw) < 2 || raw[0] != '{' && raw[0] != '[' {
		return false
	}
	return len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
}
