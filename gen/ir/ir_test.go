package ir_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/ir"
)

// Families are sorted too, but the name of a tool need not begin with that of
// its family.
func TestToolsAreSortedByName(t *testing.T) {
	t.Parallel()
	c := ir.Contract{Families: []ir.Family{
		{Name: "a", Tools: []ir.Tool{{Name: "a_list"}, {Name: "zap"}}},
		{Name: "b", Tools: []ir.Tool{{Name: "aim"}, {Name: "b_list"}}},
	}}
	var names []string
	for _, tool := range c.Tools() {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"a_list", "aim", "b_list", "zap"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

// TestWordy holds the loop against the rule as a pattern.
func TestWordy(t *testing.T) {
	t.Parallel()
	rule := regexp.MustCompile(`^[A-Za-z0-9]+([-_. ][A-Za-z0-9]+)*$`)
	values := []string{""}
	for range 5 {
		for _, value := range values {
			for _, next := range []string{"a", "Z", "9", "-", " ", "\n", "ä"} {
				values = append(values, value+next)
			}
		}
		slices.Sort(values)
		values = slices.Compact(values)
	}
	for _, value := range values {
		if got, want := ir.Wordy(value), rule.MatchString(value); got != want {
			t.Errorf("Wordy(%q) is %v, want %v", value, got, want)
		}
	}
}
