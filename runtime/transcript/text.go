package transcript

import (
	"bytes"
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

// AppendSome appends the text of the first part of raw as [AppendUnescaped] does,
// until that is some bytes or a little more, and returns the rest of raw.
func AppendSome(dst, raw []byte, some int) (text, rest []byte) {
	for end := len(dst) + some; len(raw) > 0 && len(dst) < end; {
		plain := raw[:characters(raw, end-len(dst))]
		i := bytes.IndexByte(plain, '\\')
		if i < 0 {
			dst, raw = AppendValid(dst, plain), raw[len(plain):]
			continue
		}
		dst = AppendValid(dst, plain[:i])
		var n int
		dst, n = appendEscape(dst, raw[i:])
		raw = raw[i+n:]
	}
	return dst, raw
}

// characters returns a length of at least n bytes, or that of text, at which no
// character is divided.
func characters(text []byte, n int) int {
	if n >= len(text) {
		return len(text)
	}
	for end := n; end < min(len(text), n+utf8.UTFMax); end++ {
		if utf8.RuneStart(text[end]) {
			return end
		}
	}
	return min(len(text), n+utf8.UTFMax) // no character is that long
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
// closes the string.
func CloseQuoted(dst []byte, start int) []byte { return append(EscapeFrom(dst, start), '"') }

// EscapeFrom escapes the text dst[start:], which is valid UTF-8, for the inside of
// a JSON string. Text that needs no escape, by far the most, stays where it is.
func EscapeFrom(dst []byte, start int) []byte {
	i := start
	for i < len(dst) && !needsEscape(dst[i]) {
		i++
	}
	if i < len(dst) {
		end := len(dst)
		dst = appendEscaped(dst, dst[i:end])
		dst = append(dst[:i], dst[end:]...)
	}
	return dst
}

func appendEscaped(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	plain := 0 // start of the bytes not yet copied
	for i, c := range text {
		if !needsEscape(c) {
			continue
		}
		dst = append(dst, text[plain:i]...)
		plain = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(dst, text[plain:]...)
}

func needsEscape(c byte) bool { return c < ' ' || c == '"' || c == '\\' }

// HeadChars is how many of the max characters that are kept of a longer text are
// its first ones: 60 %, rounded down, without overflow for any max.
func HeadChars(max int) int { return max/5*3 + max%5*3/5 }

// UnescapeStrings unescapes the strings of the JSON text[from:], in place: no escape is
// shorter than what it stands for. Of a tool call this makes, where from is the length of
// its name, the text that is searched.
func UnescapeStrings(text []byte, from int) []byte {
	from = min(from, len(text))
	out, rest := text[:from], text[from:]
	last := bytes.LastIndexByte(text, '\\')
	for len(text)-len(rest) <= last {
		open := bytes.IndexByte(rest, '"')
		if open < 0 {
			break
		}
		out = append(out, rest[:open+1]...)
		rest = rest[open+1:]
		end := stringEnd(rest)
		out = AppendUnescaped(out, rest[:end])
		rest = rest[end:]
		if len(rest) > 0 {
			out = append(out, '"')
			rest = rest[1:]
		}
	}
	return append(out, rest...)
}

// stringEnd returns where a JSON string, whose inside text begins with, ends: at its
// closing quote, or where there is none at the end.
func stringEnd(text []byte) int {
	for i := 0; i < len(text); i++ {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			break
		}
		i += n
		slashes := i
		for slashes > 0 && text[slashes-1] == '\\' {
			slashes--
		}
		if (i-slashes)%2 == 0 {
			return i
		}
	}
	return len(text)
}
