package recall

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWordsOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern string
		want    []string
	}{
		{"retry", []string{"retry"}},
		{"  retry \t policy ", []string{"retry", "policy"}},
		{`"retry policy"`, []string{"retry", "policy"}},
		{"why, then: (retry)?", []string{"why", "then", "retry"}},
		{"feed/retry.go --offset=3", []string{"feed/retry.go", "offset=3"}},
		{"a -> retry == ...", []string{"->", "retry", "==", "..."}},
		{"Retry retry RETRY cap", []string{"Retry", "cap"}},
		{"is it a file or an id of the cache", []string{"file", "the", "cache"}},
		{"is retry", []string{"is", "retry"}},
		{"8 go 潮 retry cap", []string{"8", "潮", "retry", "cap"}},
		{"one two three four five six seven eight", []string{"one", "two", "three", "four", "five", "six", "seven", "eight"}},
		{"1 2 3 4 5 6 7 8 9", []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}},
	} {
		if diff := cmp.Diff(tc.want, wordsOf(tc.pattern, true)); diff != "" {
			t.Errorf("wordsOf(%q) (-want +got):\n%s", tc.pattern, diff)
		}
	}
	if diff := cmp.Diff([]string{"Retry", "retry"}, wordsOf("Retry retry", false)); diff != "" {
		t.Errorf("in this case (-want +got):\n%s", diff)
	}
}
