package events

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"github.com/convtools/convtools/runtime/transcript"
)

// valueWriter rewrites a JSON value that the scanner has checked: compact or
// indented, with its strings decoded on the way.
type valueWriter struct {
	pretty  bool // indent by two spaces; else compact
	decode  bool // decode base64 in string values
	maxText int  // characters a string value may have; 0 means no limit

	whole    kept                // of the value; all by default
	encoding transcript.Encoding // Base64 when a string could not be decoded
	cut      bool                // a string was longer than maxText
}

// append appends the value raw.
func (w *valueWriter) append(dst, raw []byte) []byte {
	dst, _ = w.value(dst, raw, 0, 0)
	return dst
}

// value appends the value at raw[i:], which stands inside depth containers, and
// returns the index behind it.
func (w *valueWriter) value(dst, raw []byte, i, depth int) ([]byte, int) {
	switch c := raw[i]; c {
	case '{', '[':
		closing := c + 2 // '{' and '}', '[' and ']' are two apart
		dst = append(dst, c)
		i = skipSpace(raw, i+1)
		if raw[i] == closing {
			return append(dst, closing), i + 1
		}
		for {
			dst = w.newline(dst, depth+1)
			if c == '{' {
				end := stringEnd(raw, i)
				dst = append(w.appendString(dst, raw[i+1:end-1]), ':')
				if w.pretty {
					dst = append(dst, ' ')
				}
				i = skipSpace(raw, skipSpace(raw, end)+1)
			}
			dst, i = w.value(dst, raw, i, depth+1)
			dst = w.whole.shorten(dst)
			i = skipSpace(raw, i)
			if raw[i] == closing {
				return append(w.newline(dst, depth), closing), i + 1
			}
			dst = append(dst, ',')
			i = skipSpace(raw, i+1)
		}
	case '"':
		end := stringEnd(raw, i)
		return w.appendText(dst, raw[i+1:end-1]), end
	}
	end := i // of a number or literal
	for end < len(raw) && !isDelimiter(raw[end]) {
		end++
	}
	return append(dst, raw[i:end]...), end
}

func (w *valueWriter) newline(dst []byte, depth int) []byte {
	if !w.pretty {
		return dst
	}
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, ' ', ' ')
	}
	return dst
}

// appendText appends a string value, decoded and cut as asked.
func (w *valueWriter) appendText(dst, raw []byte) []byte {
	if w.maxText == 0 && (!w.decode || w.whole.cuts && len(raw) > decodedAtOnce && !mayBeBase64(raw)) {
		return w.appendString(dst, raw)
	}
	dst = append(dst, '"')
	start := len(dst)
	return transcript.CloseQuoted(w.appendMarked(dst, raw), start)
}

// appendMarked appends the text of a string, decoded and cut as asked, with a mark
// where it is cut.
func (w *valueWriter) appendMarked(dst, raw []byte) []byte {
	k := keep(len(dst), transcript.Limits{Text: w.maxText})
	dst, encoding := k.append(dst, raw, w.decode)
	if encoding != transcript.Plain {
		w.encoding = encoding
	}
	if k.omitted > 0 {
		w.cut = true
		dst = slices.Insert(dst, k.cut, fmt.Appendf(nil, " … %d characters omitted … ", k.omitted)...)
	}
	return dst
}

// appendString appends a string that is not base64. Of a long one in a value that
// is going to be cut, only some is in memory at a time.
func (w *valueWriter) appendString(dst, raw []byte) []byte {
	dst = append(dst, '"')
	for w.whole.cuts && len(raw) > decodedAtOnce {
		start := len(dst)
		dst, raw = transcript.AppendSome(dst, raw, decodedAtOnce)
		dst = w.whole.shorten(transcript.EscapeFrom(dst, start))
	}
	start := len(dst)
	return transcript.CloseQuoted(transcript.AppendUnescaped(dst, raw), start)
}

// member is a key, as it stands between its quotes, and its raw value.
type member struct{ key, value []byte }

// members walks the members of a checked JSON object; any other value has none.
func members(raw []byte) iter.Seq[member] {
	return func(yield func(member) bool) {
		if len(raw) == 0 || raw[0] != '{' {
			return
		}
		s := Scanner{data: raw, pos: 1}
		for s.skipSpace() && raw[s.pos] == '"' {
			key, ok := s.scanKey()
			start := s.pos
			if !ok || !s.skipValue(2) || !yield(member{key, raw[start:s.pos]}) || !s.skipSpace() {
				return
			}
			s.pos++ // ',' or '}'
			if s.pos == len(raw) {
				return
			}
		}
	}
}

// isEmptyContainer reports whether raw is {} or [].
func isEmptyContainer(raw []byte) bool {
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
