package recall

import (
	"strings"
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
		{"Retry retry RETRY cap", []string{"Retry", "cap"}},
		{"is retry ...", []string{"is", "retry", "..."}},
		{"one two three four five six seven eight", []string{"one", "two", "three", "four", "five", "six", "seven", "eight"}},
		{"1 2 3 4 5 6 7 8 9", []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}},
	} {
		if diff := cmp.Diff(tc.want, wordsOf(tc.pattern)); diff != "" {
			t.Errorf("wordsOf(%q) (-want +got):\n%s", tc.pattern, diff)
		}
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0: "0", 812: "812", 999: "999", 1000: "1k", 1001: "2k", 31_000: "31k", 999_000: "999k", 999_001: "1.00M", 1_050_000: "1.05M", 1_050_001: "1.06M",
	} {
		if got := short(n); got != want {
			t.Errorf("short(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestSaying(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ said, want string }{
		{"", ""},
		{"error: turn 9 out of range (conversation has 2 turns)\nhint: turns are numbered 1 to 2", "Turn 9 out of range (conversation has 2 turns). Hint: turns are numbered 1 to 2."},
		{"jp-c1 is gone\n\n", "jp-c1 is gone."},
		{"échec: disque plein!", "Échec: disque plein!"},
		{"/usr/bin/jp: not a program?\r\n", "/usr/bin/jp: not a program?"},
	} {
		if got := sentences(tc.said); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.said, got, tc.want)
		}
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := join(words, "or"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestIsIdentifier(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"jp-c17648402467": true, "a.b_c-D9": true, strings.Repeat("a", 128): true,
		"": false, strings.Repeat("a", 129): false, "a b": false, "a/b": false, `a"b`: false, "a\n": false, "é": false, "a:b": false,
	} {
		if got := isIdentifier(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}
