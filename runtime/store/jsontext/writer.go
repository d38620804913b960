package jsontext

import (
	"bytes"

	"github.com/convtools/convtools/runtime/transcript"
)

// Writer rewrites a JSON value that a cursor has walked without a failure, compact or
// indented. Its strings have only the escapes that JSON requires then.
type Writer struct {
	Indent bool // by two spaces; else compact
	// Text appends the new text of a string value, in valid UTF-8. raw is between the
	// quotes. Nil leaves all texts as they are.
	Text func(dst, raw []byte) []byte
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
				dst = append(appendString(dst, raw[i+1:end-1], transcript.AppendUnescaped), ':')
				if w.Indent {
					dst = append(dst, ' ')
				}
				i = SkipSpace(raw, SkipSpace(raw, end)+1)
			}
			dst, i = w.value(dst, raw, i, depth+1)
			i = SkipSpace(raw, i)
			if raw[i] == closing {
				return append(w.newline(dst, depth), closing), i + 1
			}
			dst = append(dst, ',')
			i = SkipSpace(raw, i+1)
		}
	case '"':
		end := StringEnd(raw, i)
		text := w.Text
		if text == nil {
			text = transcript.AppendUnescaped
		}
		return appendString(dst, raw[i+1:end-1], text), end
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

// appendString appends a string with the text that the function makes of raw.
func appendString(dst, raw []byte, text func(dst, raw []byte) []byte) []byte {
	dst = append(dst, '"')
	start := len(dst)
	return transcript.CloseQuoted(text(dst, raw), start)
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
