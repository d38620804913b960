package transcript

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is the form of a text.
type Encoding uint8

// The encodings.
const (
	Plain  Encoding = iota // readable text
	Base64                 // base64 that is not UTF-8 text, left as stored
)

// String returns "" for Plain and "base64" for Base64.
func (e Encoding) String() string { return [...]string{"", "base64"}[min(e, Base64)] }

// AppendUnescaped appends the text of a JSON string to dst. raw is the string without its quotes. Lone surrogates and
// bytes that are not UTF-8 become U+FFFD; an escape that JSON does not define is left unchanged.
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

// appendEscape appends the decoded escape at the start of raw, and returns the number of bytes of raw that it used.
func appendEscape(dst, raw []byte) ([]byte, int) {
	if len(raw) < 2 {
		return append(dst, '\\'), 1
	}
	if i := strings.IndexByte(letters, raw[1]); i >= 0 {
		return append(dst, escaped[i]), 2
	}
	r, ok := unicodeEscape(raw)
	if !ok {
		return append(dst, '\\'), 1
	}
	const width = len(`\u0000`)
	if utf16.IsSurrogate(r) { // it stands for a character with the escape after it
		if low, ok := unicodeEscape(raw[width:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return utf8.AppendRune(dst, pair), 2 * width
			}
		}
		r = utf8.RuneError
	}
	return utf8.AppendRune(dst, r), width
}

// unicodeEscape returns the value of the \uXXXX escape at the start of raw; false if there is none.
func unicodeEscape(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[1] != 'u' || raw[0] != '\\' {
		return 0, false
	}
	r, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(r), err == nil
}

// AppendValid appends text to dst, with U+FFFD for every byte that is not UTF-8.
func AppendValid(dst, text []byte) []byte {
	if utf8.Valid(text) {
		return append(dst, text...)
	}
	for _, r := range string(text) { // r is U+FFFD for a byte that is not UTF-8
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// AppendQuoted appends text to dst as a JSON string. It escapes only what JSON requires: quote, backslash and control
// characters. Bytes that are not UTF-8 become U+FFFD.
func AppendQuoted(dst, text []byte) []byte {
	dst = append(dst, '"')
	start := len(dst)
	dst = AppendValid(dst, text)
	return CloseQuoted(dst, start)
}

// CloseQuoted completes the JSON string whose opening quote is already in dst: it escapes dst[start:], which must be
// valid UTF-8, as [AppendQuoted] does, and appends the closing quote.
func CloseQuoted(dst []byte, start int) []byte {
	first := bytes.IndexFunc(dst[start:], needsEscape)
	if first < 0 {
		return append(dst, '"')
	}
	text := bytes.Clone(dst[start+first:])
	dst = dst[:start+first]
	for _, c := range text {
		if !needsEscape(rune(c)) {
			dst = append(dst, c)
		} else if i := strings.IndexByte(escaped, c); i >= 0 {
			dst = append(dst, '\\', letters[i])
		} else {
			dst = fmt.Appendf(dst, `\u%04x`, c)
		}
	}
	return append(dst, '"')
}

// escaped are the characters with short escapes, and letters are the letters in these escapes, in the same order.
const (
	escaped = "\"\\\b\f\n\r\t/"
	letters = `"\bfnrt/`
)

func needsEscape(c rune) bool { return c < ' ' || c == '"' || c == '\\' }
