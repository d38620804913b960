package jsontext

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestForms(t *testing.T) {
	t.Parallel()
	doc := New("z", "<a> & \"b\"\u2028\x00", "a", Object{}, "n", -5, "list", []any{1, true}).With("deep", []any{New("k", []string{}), "x"})
	want := `{
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
	if diff := cmp.Diff(want, string(Pretty(doc))); diff != "" {
		t.Errorf("pretty (-want +got):\n%s", diff)
	}
}

// Both forms are valid JSON and decode to the input, for any strings.
func FuzzStrings(f *testing.F) {
	f.Add("name", "value")
	f.Add("\"", "\\u0041\n\x7f\u2028")
	f.Add("\xff", "\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, name, value string) {
		doc := []any{New(name, value, name+"2", []string{value, name})}
		clean := func(s string) string {
			if utf8.ValidString(s) {
				return s
			}
			return string([]rune(s))
		}
		want := []any{map[string]any{clean(name): clean(value), clean(name + "2"): []any{clean(value), clean(name)}}}
		var got any
		if err := json.Unmarshal(Pretty(doc), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(any(want), got); diff != "" {
			t.Errorf("read back (-want +got):\n%s", diff)
		}
	})
}
