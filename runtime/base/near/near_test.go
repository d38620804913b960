package near

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	t.Parallel()
	parameters := []string{"pattern", "ignore_case", "ids", "scopes", "context", "limit", "include_current", "include_hidden", "tool-call", "i", "p", "project"}
	keys := []string{"description", "required", "default", "summary", "minimum", "maximum", "min_length", "enum", "id", "x", ""}
	for _, tc := range []struct {
		known []string
		of    map[string]string
	}{
		{parameters, map[string]string{
			"patern": "pattern", "Pattern": "pattern", "ignoreCase": "ignore_case", "scope": "scopes", "id": "ids",
			"limt": "limit", "ilmit": "limit", "tool_call": "tool-call", "include-current": "include_current", "projekt": "project", "lim": "limit", "patt": "pattern", "pat": "", "limit_lim": "limit", "include": "include_current", "inc": "", "pattern_": "pattern",
			"banana": "", "": "", "query": "",
			strings.Repeat("x", 1000): "",
		}},
		{keys, map[string]string{
			"requird": "required", "requried": "required", "Required": "required", "DESCRIPTON": "description", "sumary": "summary",
			"summery": "summary", "defualt": "default", "min-length": "min_length", "minLength": "min_length", "enmu": "enum", "enums": "enum",
			"di": "id", "idd": "id", "descri": "description", "desc": "", "summary": "summary",
			"y": "", "xy": "", "yx": "", "ie": "", "type": "", "": "", "ünïcödé": "",
		}},
		{[]string{strings.Repeat("x", 1<<20), "ab"}, map[string]string{strings.Repeat("x", 1<<20): "", "xxx": "", "ba": "ab"}},
		{[]string{"up", "down"}, map[string]string{"uo": "", "pu": "up", "donw": "down"}},
		{nil, map[string]string{"": "", "a": ""}},
	} {
		for name, want := range tc.of {
			if got := Name(name, tc.known); got != want {
				t.Errorf("Name(%.20q) = %.20q, want %q", name, got, want)
			}
		}
	}
}

func TestNameIgnoresOrder(t *testing.T) {
	t.Parallel()
	known := []string{"cat", "bat", "hat"}
	for range 20 {
		rand.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
		if got := Name("rat", known); got != "bat" {
			t.Errorf("Name(rat, %v) = %q, want the first in order, bat", known, got)
		}
	}
}
