package contract_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/contract"
)

func TestCorrected(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("x", 500) + `"`
	for _, tc := range []struct {
		name     string
		given    []contract.Argument
		problems []contract.Problem
		want     string
	}{
		{
			"items are replaced or left out, the others stay",
			[]contract.Argument{{Name: "scopes", Value: `["chat","tooll",5,"user"]`}},
			[]contract.Problem{
				contract.Enum("scopes[1]", "tooll", []string{"chat", "tool", "user"}, ""),
				contract.Type("scopes[2]", "a scope", json.Number("5"), ""),
			},
			`{"scopes": ["chat", "tool", "user"]}`,
		},
		{
			"an array without items left is left out",
			[]contract.Argument{{Name: "ids", Value: `["?"]`}, {Name: "limit", Value: "3"}},
			[]contract.Problem{contract.Mismatch("ids[0]", "be an id", "?", "")},
			`{"limit": 3}`,
		},
		{
			"a problem of the whole array decides over those of items",
			[]contract.Argument{{Name: "ids", Value: `["?","a"]`}},
			[]contract.Problem{
				contract.Limit("ids", contract.CodeMaxItems, "one id", []any{"?", "a"}, `["a"]`),
				contract.Mismatch("ids[0]", "be an id", "?", ""),
			},
			`{"ids": ["a"]}`,
		},
		{
			"an unknown name that looks like an item is no item",
			[]contract.Argument{{Name: "ids", Value: `["a"]`}, {Name: "ids[0]", Value: `"b"`}},
			[]contract.Problem{contract.Unknown("ids[0]", []string{"ids"})},
			`{"ids": ["a"]}`,
		},
		{
			"all but the first of exclusive parameters go",
			[]contract.Argument{{Name: "last", Value: "1"}, {Name: "first", Value: "2"}, {Name: "turn", Value: "3"}, {Name: "id", Value: `"a"`}},
			[]contract.Problem{contract.Exclusive([]string{"turn", "last", "first"})},
			`{"turn": 3, "id": "a"}`,
		},
		{
			"values too long to repeat are left out",
			[]contract.Argument{{Name: "a", Value: long}, {Name: "b", Value: "1"}},
			[]contract.Problem{contract.Type("b", "true or false", json.Number("1"), "true")},
			`{"b": true}`,
		},
		{
			"the misspelt one of two goes",
			[]contract.Argument{{Name: "limit", Value: "1"}, {Name: "limt", Value: "2"}},
			[]contract.Problem{contract.Unknown("limt", []string{"limit"})},
			`{"limit": 1}`,
		},
		{
			"allowed values are written as JSON",
			[]contract.Argument{{Name: "sort", Value: `"<é>s"`}},
			[]contract.Problem{contract.Enum("sort", "<é>s", []string{"<é>"}, "")},
			`{"sort": "<é>"}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := contract.Unmet("tool", tc.given, tc.problems).Corrected; got != tc.want {
				t.Errorf("corrected to %s, want %s", got, tc.want)
			}
		})
	}
}

func TestUnknownWithoutParameters(t *testing.T) {
	t.Parallel()
	p := contract.Unknown("loud", nil)
	if want := `unknown parameter "loud": the tool has none.`; p.Message != want || p.Nearest != "" {
		t.Errorf("problem %+v, want the message %q", p, want)
	}
}
