package recall

import (
	"strings"
	"testing"
)

func TestTextShrinks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name        string
		text        body
		to          []int
		want        string
		length, all int
	}{
		{"fits", newText("abcdefghij", 0, 0), []int{10}, "abcdefghij", 10, 10},
		{"60 to 40", newText("abcdefghijklmnopqrstuvwxyz", 0, 0), []int{10}, "abcdef\n[... 16 of 26 chars omitted ...]\nwxyz", 10, 26},
		{"to nothing", newText("abc", 0, 0), []int{0}, "[... 3 of 3 chars omitted ...]", 0, 3},
		{"newlines stay", newText("\nabcdefgh\n", 0, 0), []int{5}, "\nab\n[... 5 of 10 chars omitted ...]\nh\n", 5, 10},
		{"characters, not bytes", newText("潮汐表与時差潮汐表与", 0, 0), []int{5}, "潮汐表\n[... 5 of 10 chars omitted ...]\n表与", 5, 10},
		{"twice", newText("abcdefghijklmnopqrstuvwxyz", 0, 0), []int{20, 10}, "abcdef\n[... 16 of 26 chars omitted ...]\nwxyz", 10, 26},
		{"cut before", newText("abcdefwxyz", 26, 6), nil, "abcdef\n[... 16 of 26 chars omitted ...]\nwxyz", 10, 26},
		{"cut before, shrinks around the cut", newText("abcdefwxyz", 26, 6), []int{5}, "abc\n[... 21 of 26 chars omitted ...]\nyz", 5, 26},
		{"cut before, all at the head", newText("abcdefghij", 26, 10), []int{5}, "abcde\n[... 21 of 26 chars omitted ...]", 5, 26},
		{"cut before, all at the tail", newText("abcdefghij", 26, 0), []int{5}, "[... 21 of 26 chars omitted ...]\nfghij", 5, 26},
		{"cut before at a place that does not exist", newText("abc", 26, 99), nil, "abc\n[... 23 of 26 chars omitted ...]", 3, 26},
		{"cut before at a negative place", newText("abc", 26, -1), nil, "[... 23 of 26 chars omitted ...]\nabc", 3, 26},
		{"claims to be shorter than it is", newText("abcdef", 3, 1), nil, "abcdef", 6, 6},
		{"sanitizing makes it longer than it was", newText("\u202e\u202ex", 5, 2), nil, "\\u{202E}\\u{202E}\n[... 2 of 19 chars omitted ...]\nx", 17, 19},
		{"sanitizing makes it shorter", newText("a\r\nb", 6, 3), nil, "a\n\n[... 2 of 5 chars omitted ...]\nb", 3, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			text := tc.text
			for _, n := range tc.to {
				text.shrink(n)
			}
			if got := text.String(); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if text.length != tc.length || text.chars != tc.all {
				t.Errorf("%d of %d characters, want %d of %d", text.length, text.chars, tc.length, tc.all)
			}
		})
	}
}

func TestTextCutInside(t *testing.T) {
	t.Parallel()
	text := newJSON(`{"a":"bcdefgh"}`, 0, 0)
	text.inside = true
	text.shrink(5)
	if got, want := text.String(), "{\"a\n[... at least 10 chars omitted ...]\n\"}"; got != want {
		t.Errorf("got %q, want %q", got, want)
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
