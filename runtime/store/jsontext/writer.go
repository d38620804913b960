package jsontext

import "github.com/convtools/convtools/runtime/transcript"

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
	depth := 0
	for i := SkipSpace(raw, 0); i < len(raw); i = SkipSpace(raw, i) {
		b := raw[i]
		if b == '"' {
			dst, i = w.text(dst, raw, i)
			continue
		}
		i++
		switch b {
		case '{', '[':
			dst = append(dst, b)
			if at := SkipSpace(raw, i); at < len(raw) && raw[at] == b+2 { // '{' and '}', '[' and ']' are two apart
				dst, i = append(dst, raw[at]), at+1
				continue
			}
			depth++
			dst = w.newline(dst, depth)
		case '}', ']':
			depth--
			dst = append(w.newline(dst, depth), b)
		case ',':
			dst = w.newline(append(dst, b), depth)
		case ':':
			if dst = append(dst, b); w.Indent {
				dst = append(dst, ' ')
			}
		default:
			dst = append(dst, b)
		}
	}
	return dst
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

// text appends the string that opens at raw[open], which may be a key, and returns the index behind it.
func (w *Writer) text(dst, raw []byte, open int) ([]byte, int) {
	end := StringEnd(raw, open)
	change := w.Text
	if at := SkipSpace(raw, end); change == nil || at < len(raw) && raw[at] == ':' {
		change = transcript.AppendUnescaped
	}
	dst = append(dst, '"')
	return transcript.CloseQuoted(change(dst, raw[open+1:end-1]), len(dst)), end
}
