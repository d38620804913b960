package jsontext

import (
	"bytes"
	"iter"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/transcript"
)

// Raw is a JSON value as it is recorded; nil if there is none.
type Raw []byte

// Member is a member of an object: its key, as it is quoted, and its value.
type Member struct{ Key, Value []byte }

// Members walks the members of a JSON object, up to the first mistake. Any other value has none.
func Members(raw []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		if len(raw) > 0 && raw[0] == '{' {
			c := Cursor{Data: raw}
			c.Values(1, func(key, value []byte) bool { return yield(Member{key, value}) })
		}
	}
}

// Elements walks the elements of a JSON array, up to the first mistake. Any other value has none.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if len(raw) > 0 && raw[0] == '[' {
			c := Cursor{Data: raw}
			c.Values(1, func(_, value []byte) bool { return yield(value) })
		}
	}
}

// Get returns the value of a member of a JSON object, or nil. Of repeated members the last one counts.
func Get(raw []byte, key string) (value []byte) {
	for m := range Members(raw[skipSpace(raw, 0):]) {
		if KeyIs(m.Key, key) {
			value = m.Value
		}
	}
	return value
}

// Unquote returns the text between the quotes of a JSON string, with its escapes, and false for any other value.
func Unquote(raw []byte) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	return raw[1 : len(raw)-1], true
}

// Unescape returns the text of a string from the text between its quotes.
func Unescape(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return raw[:len(raw):len(raw)]
	}
	return transcript.AppendUnescaped(make([]byte, 0, len(raw)), raw)
}

// String returns the text of a JSON string, and "" for any other value.
func String(raw Raw) string {
	quoted, _ := Unquote(raw)
	return string(Unescape(quoted))
}

// Plain returns the text of a JSON string, and any other value as it is.
func Plain(raw Raw) []byte {
	if quoted, ok := Unquote(raw); ok {
		return Unescape(quoted)
	}
	return raw
}

// KeyIs reports whether a key, as it is quoted, spells name.
func KeyIs(key []byte, name string) bool {
	return string(key) == name || bytes.IndexByte(key, '\\') >= 0 && string(Unescape(key)) == name
}

// IsEmpty reports whether a value is {} or [].
func IsEmpty(raw []byte) bool {
	return len(raw) >= 2 && (raw[0] == '{' || raw[0] == '[') && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
}
