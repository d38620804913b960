package tomltext

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

func TestDocument(t *testing.T) {
	t.Parallel()
	var d Document
	d.Comment("one\ntwo\r\x1b[31m\u2028x\n\nfour")
	d.Table("a", "b c", "d.e", "")
	d.String("s", "tab\tquote\"back\\nul\x00esc\x1b\ufffe\u202e")
	d.Block("b", "say \"\"\"\" and \\ \r\n\tend\"\"\"")
	for _, v := range []any{true, int64(-3), 0.5, 2.0, "x", []string{"p", "q"}, []any{int64(1), "a"}} {
		d.Raw("v", Value(v))
	}
	d.ArrayTable("t")
	d.Raw("long", Array([]string{strings.Repeat("x", 40), strings.Repeat("y", 40)}))
	want := `# one
# two  [31m x
#
# four

[a."b c"."d.e".""]
s = "tab\tquote\"back\\nul\u0000esc\u001B\uFFFE\u202E"
b = """
say ""\"" and \\ \r
\tend""\"
"""
v = true
v = -3
v = 0.5
v = 2.0
v = "x"
v = ["p", "q"]
v = [1, "a"]

[[t]]
long = [
  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
]
`
	if diff := cmp.Diff(want, string(d.Bytes())); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

// For any text, a document is valid TOML, has exactly the written keys, and decodes to the text.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "x", `"`, `""`, `"""`, `""""""`, `\`, `\"""`, "\n", "\n\n\"\"\"\n", "\r\n", "# c", "\x00\x7f\u0085\u2028\ufeff\ufffe\U0010ffff", "\xff", "a\\\n  b", " trailing  \n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		valid := string([]rune(s))
		var d Document
		d.Comment(s)
		d.String("quoted", s)
		d.Block("block", s)
		d.Raw("list", Array([]string{s, s}))
		d.Table("table", s)
		d.String(Key(s), "under a key")
		var got map[string]any
		if _, err := toml.Decode(string(d.Bytes()), &got); err != nil {
			t.Fatalf("%v in\n%s", err, d.Bytes())
		}
		want := map[string]any{
			"quoted": valid,
			"block":  strings.TrimRight(valid, "\n") + "\n",
			"list":   []any{valid, valid},
			"table":  map[string]any{valid: map[string]any{valid: "under a key"}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("read back (-want +got):\n%s", diff)
		}
	})
}
