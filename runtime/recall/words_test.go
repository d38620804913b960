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

func TestCheckID(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"jp-c17648402467": true, "chatgpt-c1": true, "gemini-a b": false,
		"": false, "a b": false, "a/b": false, `claude-a"b`: false, "claude-a\n": false, "jp-cé": false, "claude-a:b": false, "opencode-ses_</x>": false,
		"chatgpt-" + strings.Repeat("a", 300): false,
	} {
		if got := checkID(s) == nil; got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}
