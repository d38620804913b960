package events

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/transcript"
)

// valueWriter rewrites a JSON value that the scanner has checked: compact or
// indented, with its strings decoded on the way.
type valueWriter struct {
	pretty  bool // indent by two spaces; else compact
	decode  bool // decode base64 in string values
	maxText int  // characters a string value may have; 0 means no limit

	encoding transcript.Encoding // Base64 when a string could not be decoded
	cut      bool                // a string was longer than maxText
}

// append appends the value raw.
func (w *valueWriter) append(dst, raw []byte) []byte {
	var stack nesting
	wantKey := false
	for i := skipSpace(raw, 0); i < len(raw); i = skipSpace(raw, i) {
		switch c := raw[i]; c {
		case '{', '[':
			next := skipSpace(raw, i+1)
			if next < len(raw) && raw[next] == c+2 { // '{' and '}', '[' and ']' are two apart
				dst = append(dst, c, c+2)
				i = next + 1
				continue
			}
			if stack.depth == MaxDepth {
				return dst // cannot happen behind the scanner
			}
			stack.push(c == '{')
			wantKey = c == '{'
			dst = w.newline(append(dst, c), stack.depth)
			i++
		case '}', ']':
			if stack.depth > 0 {
				stack.pop()
			}
			dst = append(w.newline(dst, stack.depth), c)
			i++
		case ',':
			wantKey = stack.inObject()
			dst = w.newline(append(dst, c), stack.depth)
			i++
		case ':':
			dst = append(dst, c)
			if w.pretty {
				dst = append(dst, ' ')
			}
			i++
		case '"':
			end := stringEnd(raw, i)
			if end < 0 {
				return dst // cannot happen behind the scanner
			}
			if text := raw[i+1 : end-1]; wantKey {
				dst = appendKey(dst, text)
				wantKey = false
			} else {
				dst = w.appendText(dst, text)
			}
			i = end
		default: // a number or literal
			end := i
			for end < len(raw) && !isDelimiter(raw[end]) {
				end++
			}
			dst = append(dst, raw[i:end]...)
			i = end
		}
	}
	return dst
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
	dst = append(dst, '"')
	start := len(dst)
	if w.decode {
		var enc transcript.Encoding
		if dst, enc = appendStored(dst, raw); enc != transcript.Plain {
			w.encoding = enc
		}
	} else {
		dst = transcript.AppendUnescaped(dst, raw)
	}
	return transcript.CloseQuoted(w.cutText(dst, start), start)
}

// cutText cuts the text dst[start:] in the middle where it is too long.
func (w *valueWriter) cutText(dst []byte, start int) []byte {
	if w.maxText == 0 {
		return dst
	}
	keep := transcript.HeadChars(w.maxText)
	first, last, omitted := text.Ends(dst[start:], keep, w.maxText-keep)
	if omitted == 0 {
		return dst
	}
	w.cut = true
	end := len(dst)
	dst = fmt.Appendf(dst, " … %d characters omitted … ", omitted)
	dst = append(dst, last...)
	return append(dst[:start+len(first)], dst[end:]...)
}

func appendKey(dst, raw []byte) []byte {
	dst = append(dst, '"')
	start := len(dst)
	dst = transcript.AppendUnescaped(dst, raw)
	return transcript.CloseQuoted(dst, start)
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
			if !ok || !s.skipValue() || !yield(member{key, raw[start:s.pos]}) || !s.skipSpace() {
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
