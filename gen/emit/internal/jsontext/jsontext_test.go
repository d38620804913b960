package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestForms(t *testing.T) {
	t.Parallel()
	doc := Object{
		{"z", String("<a> & \"b\"\u2028\x00")},
		{"a", Object{}},
		{"n", Int(-5)},
		{"list", Array{Int(1), Bool(true)}},
		{"deep", Array{Object{{"k", Strings(nil)}}, String("x")}},
	}
	compact := `{"z":"<a> & \"b\"\u2028\u0000","a":{},"n":-5,"list":[1,true],"deep":[{"k":[]},"x"]}`
	if diff := cmp.Diff(compact, Compact(doc)); diff != "" {
		t.Errorf("compact (-want +got):\n%s", diff)
	}
	pretty := `{
  "z": "<a> & \"b\"\u2028\u0000",
  "a": {},
  "n": -5,
  "list": [1, true],
  "deep": [
    {
      "k": []
    },
    "x"
  ]
}
`
	if diff := cmp.Diff(pretty, string(Pretty(doc))); diff != "" {
		t.Errorf("pretty (-want +got):\n%s", diff)
	}
}

// Whatever the strings, both forms are JSON and mean what was put in.
func FuzzStrings(f *testing.F) {
	f.Add("name", "value")
	f.Add("\"", "\\u0041\n\x7f\u2028")
	f.Add("\xff", "\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, name, value string) {
		doc := Array{Object{{name, String(value)}, {name + "2", Strings([]string{value, name})}}}
		clean := func(s string) string {
			if utf8.ValidString(s) {
				return s
			}
			return string([]rune(s))
		}
		want := []any{map[string]any{clean(name): clean(value), clean(name + "2"): []any{clean(value), clean(name)}}}
		for _, text := range []string{Compact(doc), string(Pretty(doc))} {
			var got any
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			if diff := cmp.Diff(any(want), got); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		}
		if strings.Contains(Compact(doc), "\n") {
			t.Error("the compact form has a line break")
		}
	})
}
