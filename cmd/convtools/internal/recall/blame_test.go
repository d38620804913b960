package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A sample has no line twice, also of fewer lines than it may have.
func TestSampleOfLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ added, want []string }{
		{nil, nil},
		{[]string{"a"}, []string{"a"}},
		{[]string{"b", "a", "a"}, []string{"a", "b"}},
		{[]string{"a", "b", "c", "d", "e", "f"}, []string{"a", "c", "e"}},
	} {
		lines := addedLines{"session": {"/src/file.go": c.added, "/src/other.go": {"x"}}}
		if diff := cmp.Diff(c.want, lines.sample([]string{"session"}, "file.go")); diff != "" {
			t.Errorf("of %q (-want +got):\n%s", c.added, diff)
		}
	}
}
