package events

import (
	"bytes"

	"github.com/convtools/convtools/runtime/transcript"
)

// unquote returns what stands between the quotes when raw is a JSON string.
func unquote(raw []byte) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	return raw[1 : len(raw)-1], true
}

func hasEscape(raw []byte) bool { return bytes.IndexByte(raw, '\\') >= 0 }

// withoutEscapes decodes the escapes of a key or type name that is compared with
// known ones. The result holds no backslash, so that a caller may look it up
// again: where one stays, or the name is longer than any known name spelled in
// \u escapes, the result is nil.
func withoutEscapes(name []byte) []byte {
	const longest = len("tool_call_response") * len(`\u0000`)
	if len(name) > longest {
		return nil
	}
	text := transcript.AppendUnescaped(nil, name)
	if hasEscape(text) {
		return nil
	}
	return text
}

// keyIs reports whether a key, as it stands between its quotes, spells name.
func keyIs(key []byte, name string) bool {
	return string(key) == name || hasEscape(key) && string(withoutEscapes(key)) == name
}
