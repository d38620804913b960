package jptest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// encodeText stores the content of a tool result.
func encodeText(s string, e Encoding) string {
	switch e {
	case URLSafe:
		return base64.URLEncoding.EncodeToString([]byte(s))
	case Plain:
		return s
	default:
		return base64.StdEncoding.EncodeToString([]byte(s))
	}
}

// encodeLeaves replaces every string value of valid compact JSON by its base64.
// It works on the text instead of decoding the value, so that keys, their order
// and the spelling of numbers stay as they are.
func encodeLeaves(data []byte) []byte {
	out := make([]byte, 0, len(data)*4/3)
	for i := 0; i < len(data); {
		if data[i] != '"' {
			out = append(out, data[i])
			i++
			continue
		}
		end := stringEnd(data, i)
		token := data[i:end]
		i = end
		if i < len(data) && data[i] == ':' {
			out = append(out, token...)
			continue
		}
		var text string
		if err := json.Unmarshal(token, &text); err != nil {
			// The encoder wrote this token: it is a JSON string.
			out = append(out, token...)
			continue
		}
		out = append(out, '"')
		out = base64.StdEncoding.AppendEncode(out, []byte(text))
		out = append(out, '"')
	}
	return out
}

// stringEnd returns the index after the string that starts at data[start].
func stringEnd(data []byte, start int) int {
	for i := start + 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// compact encodes v without white space. Like JP, and unlike json.Marshal, it
// leaves <, > and & as they are.
func compact(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// indented encodes v with two spaces a level, every line but the first starting
// with prefix.
func indented(v any, prefix string) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
