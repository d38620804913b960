package recall

import (
	"strings"
	"testing"
)

func TestBody(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name          string
		text          body
		want          string
		kept, missing int
	}{
		{"whole", newText("abcdefghij", 0, 0), "abcdefghij", 10, 0},
		{"cut", newText("abcdefwxyz", 26, 6), "abcdef\n[… 16 chars …]\nwxyz", 10, 16},
		{"cut, all at the head", newText("abcdefghij", 26, 10), "abcdefghij\n[… 16 chars …]", 10, 16},
		{"cut, all at the tail", newText("abcdefghij", 26, 0), "[… 16 chars …]\nabcdefghij", 10, 16},
		{"cut at a place that does not exist", newText("abc", 26, 99), "abc\n[… 23 chars …]", 3, 23},
		{"cut at a negative place", newText("abc", 26, -1), "[… 23 chars …]\nabc", 3, 23},
		{"line breaks around the cut are missing too", newText("ab\n\n\ncd", 26, 3), "ab\n[… 22 chars …]\ncd", 4, 22},
		{"nothing but line breaks", newText("\n\n\n", 26, 3), "[… 26 chars …]", 0, 26},
		{"claims to be shorter than it is", newText("abcdef", 3, 1), "abcdef", 6, 0},
		{"sanitizing makes it longer than it was", newText("\u202e\u202ex", 5, 2), "\\u{202E}\\u{202E}\n[… 2 chars …]\nx", 17, 2},
		{"sanitizing makes it shorter", newText("a\r\nb", 6, 3), "a\n[… 3 chars …]\nb", 2, 3},
		{"JSON stays as it is", newJSON("\"\u202e\"", 0, 0), "\"\u202e\"", 3, 0},
		{"JSON cut", newJSON(`"abcd"`, 10, 3), "\"ab\n[… 4 chars …]\ncd\"", 6, 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := tc.text.String(); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if tc.text.kept() != tc.kept || tc.text.missing() != tc.missing {
				t.Errorf("%d characters and %d missing, want %d and %d", tc.text.kept(), tc.text.missing(), tc.kept, tc.missing)
			}
		})
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
		if got := saying(tc.said); got != tc.want {
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

// missing is how many of the recorded characters are not kept.
func (t *body) missing() int {
	n := 0
	for _, gap := range t.gaps {
		n += gap
	}
	return n
}
