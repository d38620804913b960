package envelope

import (
	"bytes"

	"github.com/convtools/convtools/runtime/base/text"
)

// appendCDATA writes clean text into an open CDATA section. The section is
// ended and begun again inside every "]]>", so that the text cannot end it.
func appendCDATA(dst, clean []byte) []byte {
	return appendReplacing(dst, clean, "]]]]><![CDATA[>")
}

// appendJSON writes a JSON text into an open CDATA section and keeps it JSON.
// Outside strings JSON has no '>'.
func appendJSON(dst []byte, json string) []byte {
	return appendReplacing(dst, text.AppendJSON(nil, json), `]]\u003e`)
}

// appendReplacing writes clean text with something else for each "]]>".
func appendReplacing(dst, clean []byte, instead string) []byte {
	for {
		i := bytes.Index(clean, []byte("]]>"))
		if i < 0 {
			return append(dst, clean...)
		}
		dst = append(dst, clean[:i]...)
		dst = append(dst, instead...)
		clean = clean[i+3:]
	}
}

func appendAttribute(dst []byte, value string) []byte {
	for _, b := range text.AppendLine(nil, value) {
		switch b {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '"':
			dst = append(dst, "&quot;"...)
		case '\t':
			dst = append(dst, "&#9;"...)
		default:
			dst = append(dst, b)
		}
	}
	return dst
}
