package events

import (
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

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
	if jsontext.HasEscape(text) {
		return nil
	}
	return text
}
