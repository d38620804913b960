package envelope_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/envelope"
)

// FuzzJSON holds texts and numbers against what encoding/json reads back.
func FuzzJSON(f *testing.F) {
	f.Add("a\"\\\n\r\t\x00\x1f\x7f\u2028é😀", 0.1)
	f.Add("\xff\xc3\xed\xa0\x80", math.MaxFloat64)
	f.Add("</x>]]>", 1e-7)
	f.Add("", math.Copysign(0, -1))
	f.Fuzz(func(t *testing.T, s string, n float64) {
		var w envelope.JSON
		w.Object()
		w.Name(s)
		w.Text(s)
		w.Name("list")
		w.Array()
		w.Number(n)
		w.Null()
		w.Array()
		w.EndArray()
		w.Object()
		w.EndObject()
		w.Boolean(true)
		w.Integer(-1)
		w.EndArray()
		w.EndObject()
		var got map[string]any
		if err := json.Unmarshal([]byte(w.String()), &got); err != nil {
			t.Fatalf("%q is no JSON: %v", w.String(), err)
		}
		text := strings.ToValidUTF8(s, "\ufffd")
		if valid := text == s; valid && s != "list" && got[s] != s {
			t.Errorf("%q came back as %q", s, got[s])
		}
		list, _ := got["list"].([]any)
		if len(list) != 6 {
			t.Fatalf("list %v in %s", list, w.String())
		}
		if number, ok := list[0].(float64); ok != (!math.IsNaN(n) && !math.IsInf(n, 0)) || ok && number != n {
			t.Errorf("%v came back as %v", n, list[0])
		}
		if strings.ContainsAny(w.String(), "\n\r\u2028\u2029") {
			t.Errorf("%q has more than one line", w.String())
		}
	})
}
