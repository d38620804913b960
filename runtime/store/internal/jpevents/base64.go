package jpevents

import (
	"bytes"
	"encoding/base64"
	"slices"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// minBase64 is the number of characters from which a string of only base64
// characters that does not decode is taken for base64. Below, it is taken for a
// plain word that was never encoded: "config", "cargo", "src/lib.rs".
const minBase64 = 16

// AppendDecoded appends the text of a string that JP may have stored as base64:
//
//   - a string with a character outside the standard and the URL-safe alphabet
//     is text that was never encoded, and is appended as is;
//   - else it is decoded, strictly, as padded standard base64, then as padded
//     URL-safe base64 (JP wrote tool results so until March 2026); bytes that
//     are not UTF-8 are appended as stored, with Encoding Base64;
//   - else it does not decode: a string of under 16 characters is taken as a
//     plain word, and a longer one is appended as stored, with Encoding Base64.
//
// stored is text, without JSON escapes.
func AppendDecoded(dst, stored []byte) ([]byte, transcript.Encoding) {
	if decoded, ok := appendBase64(dst, stored); ok {
		if utf8.Valid(decoded[len(dst):]) {
			return decoded, transcript.Plain
		}
		return append(dst, stored...), transcript.Base64
	}
	if len(stored) < minBase64 || !looksLikeBase64(stored) {
		return transcript.AppendValid(dst, stored), transcript.Plain
	}
	return append(dst, stored...), transcript.Base64
}

// appendStored is AppendDecoded for a string that may have JSON escapes; '/' is
// a base64 character that some writers escape.
func appendStored(dst, raw []byte) ([]byte, transcript.Encoding) {
	if !jsontext.HasEscape(raw) {
		return AppendDecoded(dst, raw)
	}
	start := len(dst)
	dst = transcript.AppendUnescaped(dst, raw)
	end := len(dst)
	dst, enc := AppendDecoded(dst, dst[start:end])
	return append(dst[:start], dst[end:]...), enc
}

// appendBase64 decodes strictly: full quanta, no line breaks (which Go's decoder
// would skip), and no stray bits behind the last byte.
func appendBase64(dst, src []byte) ([]byte, bool) {
	if len(src)%4 != 0 || bytes.IndexByte(src, '\n') >= 0 || bytes.IndexByte(src, '\r') >= 0 {
		return dst, false
	}
	start := len(dst)
	dst = slices.Grow(dst, len(src)/4*3)
	n, err := base64.StdEncoding.Strict().Decode(dst[start:cap(dst)], src)
	if err != nil && bytes.ContainsAny(src, "-_") {
		n, err = base64.URLEncoding.Strict().Decode(dst[start:cap(dst)], src)
	}
	return dst[:start+n], err == nil
}

// looksLikeBase64 reports whether text has only characters of the two alphabets,
// and at its end at most two of padding.
func looksLikeBase64(text []byte) bool {
	for range 2 {
		text = bytes.TrimSuffix(text, []byte("="))
	}
	return len(bytes.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")) == 0
}

// decodeStrings returns a JSON value, compact, with the text of each string that JP may
// have stored as base64, and Base64 where one of them is left as stored.
func decodeStrings(raw []byte) (value []byte, encoding transcript.Encoding) {
	w := jsontext.Writer{Text: func(dst, raw []byte) []byte {
		dst, stored := appendStored(dst, raw)
		encoding = max(encoding, stored)
		return dst
	}}
	return w.Append(make([]byte, 0, len(raw)), raw), encoding
}
