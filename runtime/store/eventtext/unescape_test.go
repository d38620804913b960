package eventtext

import (
	"bytes"
	"encoding/json"
	"regexp"
	"testing"
	"unicode/utf8"
)

func TestUnescapeStrings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "{}": "{}", `{"a": 1}`: `{"a": 1}`,
		`{"a": "b\nc\r\nd\te"}`:                  "{\"a\": \"b\nc\r\nd\te\"}",
		`{"a\"b": "say \"x\\n\" \/"}`:            `{"a"b": "say "x\n" /"}`,
		`["\u0041\u00e9\ud83d\ude00", "\ud83d"]`: "[\"Aé😀\", \"\ufffd\"]",
		`["\\", "\\\"", "\n"]`:                   "[\"\\\", \"\\\"\", \"\n\"]",
		`no \n string "one\n"`:                   "no \\n string \"one\n\"",
		`"not ended \n`:                          "\"not ended \n",
		`"not ended \`:                           `"not ended \`,
		`"unknown \q \u12"`:                      `"unknown \q \u12"`,
	} {
		if got := string(unescapeStrings([]byte(`na"\nme`+text), len(`na"\nme`))); got != `na"\nme`+want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

var jsonLiteral = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

func FuzzUnescapeStrings(f *testing.F) {
	f.Add(`{"a":"b\nc","d":["\u0041\ud83d\ude00\ud83d","\\\"",{"\t":null}]}`)
	f.Add(`"a\`)
	f.Add(`\"\"`)
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip() // texts of events are UTF-8
		}
		got := string(unescapeStrings([]byte(text), 0))
		if len(got) > len(text) || !utf8.ValidString(got) {
			t.Fatalf("%q becomes %q", text, got)
		}
		var indented bytes.Buffer
		if json.Indent(&indented, []byte(text), "", "  ") != nil {
			return
		}
		want := jsonLiteral.ReplaceAllFunc(indented.Bytes(), func(literal []byte) []byte {
			var s string
			if err := json.Unmarshal(literal, &s); err != nil {
				t.Fatal(err)
			}
			return []byte(`"` + s + `"`)
		})
		if got := unescapeStrings(bytes.Clone(indented.Bytes()), 0); !bytes.Equal(got, want) {
			t.Errorf("%s becomes %q, want %q", &indented, got, want)
		}
	})
}
