package jsontext

import (
	"bytes"
	"encoding/json"
	"regexp"
	"testing"
	"unicode/utf8"
)

func TestUnescaped(t *testing.T) {
	t.Parallel()
	w := Writer{Unescaped: true}
	for text, want := range map[string]string{
		"{}": "{}", `{"a": 1}`: `{"a":1}`,
		`{"a":"b\nc\r\nd\te"}`:                  "{\"a\":\"b\nc\r\nd\te\"}",
		`{"a\"b":"say \"x\\n\" \/"}`:            `{"a"b":"say "x\n" /"}`,
		`["\u0041\u00e9\ud83d\ude00","\ud83d"]`: "[\"Aé😀\",\"\ufffd\"]",
		`["\\","\\\"","\n"]`:                    "[\"\\\",\"\\\"\",\"\n\"]",
		`"unknown \q \u12"`:                     `"unknown \q \u12"`,
	} {
		if got := string(w.Append(nil, []byte(text))); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

var jsonLiteral = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

func FuzzUnescaped(f *testing.F) {
	f.Add(`{"a":"b\nc","d":["\u0041\ud83d\ude00\ud83d","\\\"",{"\t":null}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var indented bytes.Buffer
		if !utf8.ValidString(text) || json.Indent(&indented, []byte(text), "", "  ") != nil {
			t.Skip()
		}
		want := jsonLiteral.ReplaceAllFunc(indented.Bytes(), func(literal []byte) []byte {
			var s string
			if err := json.Unmarshal(literal, &s); err != nil {
				t.Fatal(err)
			}
			return []byte(`"` + s + `"`)
		})
		w := Writer{Indent: true, Unescaped: true}
		if got := w.Append(nil, []byte(text)); !bytes.Equal(got, bytes.TrimSpace(want)) {
			t.Errorf("%s becomes %q, want %q", &indented, got, want)
		}
	})
}
