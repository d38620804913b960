package recall

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
)

func TestContextOf(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 90)
	for _, tc := range []struct {
		name  string
		lines []string // "*" is the one that is shown
		most  int
		want  []int // lines of context
	}{
		{"none asked for", []string{"a", "*", "b"}, 0, nil},
		{"long lines count as they are", []string{long, long, "*", long, long}, 1, []int{1, 3}},
		{"two of them", []string{long, long, long, "*", long, long, long}, 2, []int{1, 2, 4, 5}},
		{"of short lines there are two for each before", []string{"a", "b", "c", "d", "e", "*", "f"}, 2, []int{1, 2, 3, 4, 6}},
		{"and four behind", []string{"a", "*", "b", "c", "d", "e", "f"}, 1, []int{0, 2, 3, 4, 5}},
		{"up to as many characters as one has", []string{"*", "short", long + long, "short", "short"}, 2, []int{1, 2}},
		{"blank lines are none", []string{long, "", "*", " ", long}, 1, []int{0, 4}},
		{"and lines without letters stand between", []string{"{", "a", "}", "*"}, 1, []int{1, 2}},
	} {
		lines := make([]conversations.EventLine, len(tc.lines))
		for i, text := range tc.lines {
			lines[i] = conversations.EventLine{Number: i + 1, Text: text, IsMatch: text == "*"}
		}
		var got []int
		for i, around := range contextOf(lines, tc.most, func(i int) bool { return lines[i].IsMatch }) {
			if around {
				got = append(got, i)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	gap := []conversations.EventLine{{Number: 1, Text: "a"}, {Number: 5, Text: "*", IsMatch: true}}
	if slices.Contains(contextOf(gap, 2, func(i int) bool { return i == 1 }), true) {
		t.Error("a line that is not beside the one that is shown is taken for its context")
	}
}
