package envelope_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
)

// FuzzJSON compares texts and numbers with what encoding/json decodes.
func FuzzJSON(f *testing.F) {
	f.Add("a\"\\\n\r\t\x00\x1f\x7f\u2028é😀", 0.1)
	f.Add("\xff\xc3\xed\xa0\x80", math.MaxFloat64)
	f.Add("</x>]]>", 1e-7)
	f.Add("", math.Copysign(0, -1))
	f.Fuzz(func(t *testing.T, s string, n float64) {
		type inner struct {
			Text string `json:"text"`
			Gone *int   `json:"gone,omitzero"`
			None *int   `json:"none"`
			Null []int  `json:"null" nil:"null"`
		}
		type variants struct {
			A *inner `variant:"is=a"`
			B *inner `variant:"is=b"`
		}
		answer := struct {
			Text  string     `json:"text"`
			List  []float64  `json:"list"`
			Empty []string   `json:"empty"`
			Forms []variants `json:"forms"`
			Count int        `json:"count"`
		}{Text: s, List: []float64{n}, Forms: []variants{{B: &inner{Text: s}}}, Count: -1}
		written, err := envelope.Success(&answer, []string{s}, contract.Tool{})
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(written), &got); err != nil {
			t.Fatalf("%q is no JSON: %v", written, err)
		}
		if text, _ := got["text"].(string); utf8.ValidString(s) && text != s {
			t.Errorf("%q came back as %q", s, got["text"])
		}
		list, _ := got["list"].([]any)
		if number, ok := list[0].(float64); ok != (!math.IsNaN(n) && !math.IsInf(n, 0)) || ok && number != n {
			t.Errorf("%v came back as %v", n, list[0])
		}
		want := map[string]any{"is": "b", "text": got["text"], "none": nil, "null": nil}
		if diff := cmp.Diff([]any{want}, got["forms"]); diff != "" || got["ok"] != true || got["count"] != -1.0 {
			t.Errorf("%s (-want +got):\n%s", written, diff)
		}
		if strings.ContainsAny(written, "\n\r\u2028\u2029") {
			t.Errorf("%q has more than one line", written)
		}
	})
}
