package recall

import (
	"strings"
	"testing"
)

func TestSentences(t *testing.T) {
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
