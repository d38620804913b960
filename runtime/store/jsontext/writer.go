package jsontext

import (
	"bytes"
	"fmt"
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
