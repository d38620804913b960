package jpevents

import (
	"bytes"
	"encoding/base64"
	"slices"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// AppendDecoded appends the text of a string that JP may have stored as base64: it is decoded,
// strictly, as padded standard base64, then as padded URL-safe base64 (JP wrote tool results so
// until March 2026). What is neither is text that was never encoded. Where the bytes are not UTF-8
// the string is appended as stored, with Encoding Base64.
//
// stored is text, without JSON escapes.
func AppendDecoded(dst, stored []byte) ([]byte, transcript.Encoding) {
	decoded, ok := appendBase64(dst, stored)
	switch {
	case !ok:
		return transcript.AppendValid(dst, stored), transcript.Plain
	case !utf8.Valid(decoded[len(dst):]):
		return append(dst, stored...), transcript.Base64
	}
	return decoded, transcript.Plain
}

// appendBase64 decodes strictly: full quanta, no line breaks (which Go's decoder
// would skip), and no stray bits behind the last byte.
func appendBase64(dst, src []byte) ([]byte, bool) {
	if len(src)%4 != 0 || bytes.ContainsAny(src, "\r\n") {
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

// decodeStrings returns a JSON value, compact, with the text of each string that JP may
// have stored as base64, and Base64 where one of them is left as stored.
func decodeStrings(raw []byte) (value []byte, encoding transcript.Encoding) {
	w := jsontext.Writer{Text: func(dst, raw []byte) []byte {
		dst, stored := AppendDecoded(dst, jsontext.Unescape(raw)) // some writers escape '/', which base64 has
		encoding = max(encoding, stored)
		return dst
	}}
	return w.Append(make([]byte, 0, len(raw)), raw), encoding
}
