package jsontext

import "github.com/convtools/convtools/runtime/transcript"

// Writer rewrites a JSON value that a cursor has walked without a mistake. Its strings then have only the
// escapes that JSON requires.
type Writer struct {
	Indent    bool // by two spaces; else the value is compact
	Unescaped bool // strings have no escapes: the result is a text, not JSON
	// Text appends the new text of a string value, in valid UTF-8; raw is the text between its quotes.
	// If it is nil, texts stay the same.
	Text func(dst, raw []byte) []byte
}

// Append appends the JSON value raw, without white space or indented, and with its strings as the writer says.
func (w *Writer) Append(dst, raw []byte) []byte {
	depth := 0
	for i := skipSpace(raw, 0); i < len(raw); i = skipSpace(raw, i) {
		b := raw[i]
		if b == '"' {
			dst, i = w.text(dst, raw, i)
			continue
		}
		i++
		switch b {
		case '{', '[':
			dst = append(dst, b)
			if next := skipSpace(raw, i); next < len(raw) && raw[next] == b+2 { // '{' and '}', '[' and ']' are two apart
				dst, i = append(dst, raw[next]), next+1
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
			dst = append(dst, b)
			if w.Indent {
				dst = append(dst, ' ')
			}
		default:
			dst = append(dst, b)
		}
	}
	return dst
}

// newline appends the end of a line and the indentation of the next one, if the value is indented.
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

// text appends the string that begins at raw[open], and returns the index after the string. w.Text, if not nil, gives a
// value another text, but not a key. The text gets the escapes that JSON requires, unless w.Unescaped is set.
func (w *Writer) text(dst, raw []byte, open int) ([]byte, int) {
	end := stringEnd(raw, open)
	next := skipSpace(raw, end)
	isKey := next < len(raw) && raw[next] == ':'
	appendText := w.Text
	if appendText == nil || isKey {
		appendText = transcript.AppendUnescaped
	}
	dst = append(dst, '"')
	start := len(dst)
	dst = appendText(dst, raw[open+1:end-1]) // without escapes
	if w.Unescaped {
		return append(dst, '"'), end
	}
	return transcript.CloseQuoted(dst, start), end // it escapes dst[start:]
}
