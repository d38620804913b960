package jsontext

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"github.com/convtools/convtools/runtime/transcript"
)

// Writer rewrites a JSON value that a cursor has walked without a failure: compact or
// indented, with its strings decoded on the way.
type Writer struct {
	Indent  bool    // by two spaces; else compact
	Decoder Decoder // of string values; nil where they are only escaped
	MaxText int     // characters a string value may have; 0 means no limit
	Whole   Kept    // of the value; all by default

	Encoding transcript.Encoding // Base64 when a string could not be decoded
	Cut      bool                // a string was longer than MaxText
}

// Append appends the value raw.
func (w *Writer) Append(dst, raw []byte) []byte {
	dst, _ = w.value(dst, raw, 0, 0)
	return dst
}

// value appends the value at raw[i:], which stands inside depth containers, and
// returns the index behind it.
func (w *Writer) value(dst, raw []byte, i, depth int) ([]byte, int) {
	switch c := raw[i]; c {
	case '{', '[':
		closing := c + 2 // '{' and '}', '[' and ']' are two apart
		dst = append(dst, c)
		i = SkipSpace(raw, i+1)
		if raw[i] == closing {
			return append(dst, closing), i + 1
		}
		for {
			dst = w.newline(dst, depth+1)
			if c == '{' {
				end := StringEnd(raw, i)
				dst = append(w.appendString(dst, raw[i+1:end-1]), ':')
				if w.Indent {
					dst = append(dst, ' ')
				}
				i = SkipSpace(raw, SkipSpace(raw, end)+1)
			}
			dst, i = w.value(dst, raw, i, depth+1)
			dst = w.Whole.Shorten(dst)
			i = SkipSpace(raw, i)
			if raw[i] == closing {
				return append(w.newline(dst, depth), closing), i + 1
			}
			dst = append(dst, ',')
			i = SkipSpace(raw, i+1)
		}
	case '"':
		end := StringEnd(raw, i)
		return w.appendText(dst, raw[i+1:end-1]), end
	}
	end := i // of a number or literal
	for end < len(raw) && !isDelimiter(raw[end]) {
		end++
	}
	return append(dst, raw[i:end]...), end
}

func (w *Writer) newline(dst []byte, depth int) []byte {
	if !w.Indent {
		return dst
	}
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, ' ', ' ')
	}
	return dst
}

// appendText appends a string value, decoded and cut as asked.
func (w *Writer) appendText(dst, raw []byte) []byte {
	if w.MaxText == 0 && (w.Decoder == nil || w.Whole.cuts && len(raw) > AtOnce && !w.Decoder.Applies(raw)) {
		return w.appendString(dst, raw)
	}
	dst = append(dst, '"')
	start := len(dst)
	return transcript.CloseQuoted(w.AppendMarked(dst, raw), start)
}

// AppendMarked appends the text of a string, decoded and cut as asked, with a mark
// where it is cut.
func (w *Writer) AppendMarked(dst, raw []byte) []byte {
	k := Keep(len(dst), transcript.Limits{Text: w.MaxText})
	dst, encoding := k.Append(dst, raw, w.Decoder)
	if encoding != transcript.Plain {
		w.Encoding = encoding
	}
	if k.omitted > 0 {
		w.Cut = true
		dst = slices.Insert(dst, k.cut, fmt.Appendf(nil, " … %d characters omitted … ", k.omitted)...)
	}
	return dst
}

// appendString appends a string that is not base64. Of a long one in a value that
// is going to be cut, only some is in memory at a time.
func (w *Writer) appendString(dst, raw []byte) []byte {
	dst = append(dst, '"')
	for w.Whole.cuts && len(raw) > AtOnce {
		start := len(dst)
		dst, raw = transcript.AppendSome(dst, raw, AtOnce)
		dst = w.Whole.Shorten(transcript.EscapeFrom(dst, start))
	}
	start := len(dst)
	return transcript.CloseQuoted(transcript.AppendUnescaped(dst, raw), start)
}

// Member is a key, as it stands between its quotes, and its raw value.
type Member struct{ Key, Value []byte }

// Members walks the members of a JSON object, up to the first failure; any other
// value has none.
func Members(raw []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		if len(raw) == 0 || raw[0] != '{' {
			return
		}
		c := Cursor{Data: raw, Pos: 1}
		for c.Space() && raw[c.Pos] == '"' {
			key, ok := c.Key()
			start := c.Pos
			if !ok || !c.Value(2) || !yield(Member{key, raw[start:c.Pos]}) || !c.Space() {
				return
			}
			c.Pos++ // ',' or '}'
			if c.Pos == len(raw) {
				return
			}
		}
	}
}

// Object hands over the members of a JSON object, up to the first failure, and
// reports whether data is that object, whole, with nothing but white space around it.
func Object(data []byte, member func(key, value []byte)) bool {
	c := Cursor{Data: data}
	if !c.Space() || data[c.Pos] != '{' {
		return false
	}
	c.Pos++
	for first := true; ; first = false {
		if !c.Space() {
			return false
		}
		if first && data[c.Pos] == '}' {
			c.Pos++
			break
		}
		if data[c.Pos] != '"' {
			return false
		}
		key, ok := c.Key()
		start := c.Pos
		if !ok || !c.Value(1) {
			return false
		}
		member(key, data[start:c.Pos])
		if !c.Space() {
			return false
		}
		b := data[c.Pos]
		c.Pos++
		if b == '}' {
			break
		}
		if b != ',' {
			return false
		}
	}
	return SkipSpace(data, c.Pos) == len(data)
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

// IsEmpty reports whether raw is {} or [].
func IsEmpty(raw []byte) bool {
	if len(raw) < 2 || raw[0] != '{' && raw[0] != '[' {
		return false
	}
	return len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
}

func isDelimiter(c byte) bool {
	switch c {
	case ' ', '\n', '\r', '\t', ',', ':', '{', '}', '[', ']', '"':
		return true
	}
	return false
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
