package program

import (
	"testing"

	"github.com/convtools/convtools/runtime/contract"
)

// Words on a command line become values of declared types.
func TestPairs(t *testing.T) {
	t.Parallel()
	tool := contract.Tool{Parameters: []contract.Parameter{
		{Name: "points", Type: "array", Items: &contract.Parameter{Type: "integer"}},
		{Name: "items", Type: "array", Items: &contract.Parameter{Type: "object"}},
		{Name: "words", Type: "array"},
		{Name: "size", Type: "object"},
		{Name: "scale", Type: "number"},
		{Name: "text", Type: "string"},
	}}
	for _, tc := range []struct {
		words []string
		want  string
	}{
		{[]string{"points=1,2", "points=3"}, `{"points":[1,2,3]}`},
		{[]string{"points=[1,2]"}, `{"points":[1,2]}`},
		{[]string{"points=one"}, `{"points":["one"]}`},
		{[]string{`items={"a":1,"b":2}`}, `{"items":[{"a":1,"b":2}]}`},
		{[]string{"words=1,2"}, `{"words":["1","2"]}`},
		{[]string{`size={"width":1}`, "scale=0.5", "text=0.5"}, `{"scale":0.5,"size":{"width":1},"text":"0.5"}`},
	} {
		got, err := pairs(tool, tc.words)
		if err != nil || string(got) != tc.want {
			t.Errorf("%q: %s, %v; want %s", tc.words, got, err, tc.want)
		}
	}
}
