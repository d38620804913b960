package recall

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEnds(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("-", 16)
	for _, tc := range []struct {
		name          string
		text          body
		want          string
		kept, missing int
	}{
		{"whole", ends("abcdefghij", 10, false), "abcdefghij", 10, 0},
		{"cut", ends("abcde"+filler+"vwxyz", 10, false), "abcde\n[… 16 chars …]\nvwxyz", 10, 16},
		{"line breaks around the cut are missing too", ends("ab\n\n\n"+filler+"\ncdef", 10, false), "ab\n[… 20 chars …]\ncdef", 6, 20},
		{"nothing but line breaks", ends("\n\n"+filler+"\n\n", 4, false), "[… 20 chars …]", 0, 20},
		{"made visible", ends("\u202ea"+filler+"xy", 4, false), "\\u{202E}a\n[… 16 chars …]\nxy", 11, 16},
		{"JSON stays as it is", ends("\"\u202e\"", 10, true), "\"\u202e\"", 3, 0},
	} {
		if got := tc.text.String(); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
		if tc.text.kept() != tc.kept || tc.text.missing() != tc.missing {
			t.Errorf("%s: %d characters and %d missing, want %d and %d", tc.name, tc.text.kept(), tc.text.missing(), tc.kept, tc.missing)
		}
	}
}

// TestShorten: what is shown of any text keeps to its limit, is its beginning and its end, and
// what is missing is counted, however often it is shortened.
func TestShorten(t *testing.T) {
	t.Parallel()
	pieces := []string{"word ", "\n", "潮", "\n\n", "longer-than-a-line-of-words-is ", "🌊"}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 5))
		var text strings.Builder
		for range r.IntN(400) {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
		b := ends(text.String(), 10+r.IntN(2000), false)
		all := utf8.RuneCountInString(text.String())
		for limit := 2000; limit >= maxMark; limit = limit*2/3 - 3 {
			b = b.shorten(limit, []int{proseTail, outputTail}[r.IntN(2)])
			if n := b.length(); n > limit {
				t.Fatalf("seed %d: %d characters, limit %d", seed, n, limit)
			}
			if b.kept()+b.missing() != all {
				t.Fatalf("seed %d: %d kept and %d missing of %d", seed, b.kept(), b.missing(), all)
			}
			if !strings.HasPrefix(text.String(), b.parts[0]) || !strings.HasSuffix(text.String(), b.parts[len(b.parts)-1]) {
				t.Fatalf("seed %d: %q", seed, b.parts)
			}
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
