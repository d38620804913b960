package transcript

import (
	"bytes"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is the form in which a text is handed over.
type Encoding uint8

// The encodings.
const (
	Plain  Encoding = iota // readable text
	Base64                 // base64 that is not UTF-8 text, left as stored
)

// String returns "" for Plain and "base64" for Base64.
func (e Encoding) String() string {
	if e == Base64 {
		return "base64"
	}
	return ""
}

// AppendUnescaped appends the text of a JSON string. raw is what stands between
// its quotes. Lone surrogates and bytes that are not UTF-8 become U+FFFD; an
// escape JSON does not know stays as written.
func AppendUnescaped(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return AppendValid(dst, raw)
		}
		dst = AppendValid(dst, raw[:i])
		var n int
		dst, n = appendEscape(dst, raw[i:])
		raw = raw[i+n:]
	}
}

// appendEscape appends what the escape at the start of raw stands for, and
// returns how many bytes of raw it took.
func appendEscape(dst, raw []byte) ([]byte, int) {
	if len(raw) < 2 {
		return append(dst, '\\'), 1
	}
	switch c := raw[1]; c {
	case '"', '\\', '/':
		return append(dst, c), 2
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	}
	r, ok := unicodeEscape(raw)
	if !ok {
		return append(dst, '\\'), 1
	}
	const width = len(`\u0000`)
	if utf16.IsSurrogate(r) {
		if low, ok := unicodeEscape(raw[width:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return utf8.AppendRune(dst, pair), 2 * width
			}
		}
		r = utf8.RuneError
	}
	return utf8.AppendRune(dst, r), width
}

// unicodeEscape reads a \uXXXX escape at the start of raw.
func unicodeEscape(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range raw[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// AppendValid appends text, with U+FFFD for every byte that is not UTF-8.
func AppendValid(dst, text []byte) []byte {
	if utf8.Valid(text) {
		return append(dst, text...)
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		dst = utf8.AppendRune(dst, r)
		text = text[n:]
	}
	return dst
}

// AppendQuoted appends text as a JSON string. Only what JSON requires is
// escaped: quote, backslash and control characters. Bytes that are not UTF-8
// become U+FFFD.
func AppendQuoted(dst, text []byte) []byte {
	dst = append(dst, '"')
	start := len(dst)
	dst = AppendValid(dst, text)
	return CloseQuoted(dst, start)
}

// CloseQuoted makes a JSON string of the text dst[start:], which is valid UTF-8
// with its opening quote already in front: it escapes as [AppendQuoted] does, and
// closes the string. The text is escaped where it is: it may be long.
func CloseQuoted(dst []byte, start int) []byte {
	more := 0
	for _, c := range dst[start:] {
		if needsEscape(c) {
			more += len(escapeOf(c)) - 1
		}
	}
	from := len(dst)
	dst = slices.Grow(dst, more+1)[:from+more]
	for to := len(dst); to > from; { // from the end: nothing is written over before it is read
		from--
		if c := dst[from]; needsEscape(c) {
			to -= len(escapeOf(c))
			copy(dst[to:], escapeOf(c))
		} else {
			to--
			dst[to] = c
		}
	}
	return append(dst, '"')
}

// escapeOf returns the escape of a byte that needs one.
func escapeOf(c byte) string {
	switch c {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	const hex = "0123456789abcdef"
	return `\u00` + string([]byte{hex[c>>4], hex[c&15]})
}

func needsEscape(c byte) bool { return c < ' ' || c == '"' || c == '\\' }

// HeadChars is how many of the max characters that are kept of a longer text are
// its first ones: 60 %, rounded down, without overflow for any max.
func HeadChars(max int) int { return max/5*3 + max%5*3/5 }
