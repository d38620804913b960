package excerpt

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// naiveFind compares rune by rune at every position.
func naiveFind(text, pattern string, ignoreCase bool) (int, int) {
	for start := range text {
		end := start
		matched := true
		for _, w := range pattern {
			r, size := utf8.DecodeRuneInString(text[end:])
			if size == 0 || !sameRune(r, w, ignoreCase) {
				matched = false
				break
			}
			end += size
		}
		if matched {
			return start, end
		}
	}
	return -1, -1
}

func sameRune(a, b rune, ignoreCase bool) bool {
	if a == b {
		return true
	}
	if !ignoreCase {
		return false
	}
	for r := unicode.SimpleFold(a); r != a; r = unicode.SimpleFold(r) {
		if r == b {
			return true
		}
	}
	return false
}

func TestFind(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, pattern string
		ignoreCase          bool
		start, end          int
	}{
		{"exact", "a cargo b", "cargo", false, 2, 7},
		{"exact keeps case", "a Cargo b", "cargo", false, -1, -1},
		{"upper in text", "a CARGO b", "cargo", true, 2, 7},
		{"upper in pattern", "a cargo b", "CaRgO", true, 2, 7},
		{"absent", "a carg b", "cargo", true, -1, -1},
		{"at the start", "Cargo", "cargo", true, 0, 5},
		{"at the end", "xxCargo", "cargo", true, 2, 7},
		{"no letters", "v 2026-05 x", "2026-05", true, 2, 9},
		{"Kelvin sign", "300 \u212a!", "300 k", true, 0, 7},
		{"pattern is the Kelvin sign", "300 k", "\u212a", true, 4, 5},
		{"long s", "mi\u017ft", "MIST", true, 0, 5},
		{"only k and s", "x \u212a\u017f", "ks", true, 2, 7},
		{"final sigma", "ΟΔΟΣ οδος", "οδος", true, 0, 8},
		{"sigma orbit", "x ς", "Σ", true, 2, 4},
		{"Cyrillic", "это ГРУЗ", "груз", true, 7, 15},
		{"CJK beside letters", "日本語ABC", "語abc", true, 6, 12},
		{"sharp s is not ss", "STRASSE", "straße", true, -1, -1},
		{"capital sharp s", "STRAẞE", "straße", true, 0, 8},
		{"shorter in bytes than the pattern", "ⱥ Ⱥ", "Ⱥ", true, 0, 3},
		{"false start before a match", "ccargo", "CARGO", true, 1, 6},
		{"overlapping starts", "ananas", "ANAS", true, 2, 6},
		{"empty text", "", "x", true, -1, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			start, end := newFinder(tt.pattern, tt.ignoreCase).find([]byte(tt.text))
			if start != tt.start || end != tt.end {
				t.Errorf("Find(%q) in %q = %d, %d; want %d, %d", tt.pattern, tt.text, start, end, tt.start, tt.end)
			}
		})
	}
}

// TestFindAgainstNaive searches random text over alphabets in which runes with
// surprising case variants are frequent.
func TestFindAgainstNaive(t *testing.T) {
	t.Parallel()
	alphabets := []string{"aAbB", "kK\u212asS\u017f ", "σςΣοΟ", "ǅǆǄx", "жЖ日\n", "ȺⱥaA", "θϑΘϴi\u0130\u0131I", "eE\u0345\u03b9\u0399\u1fbe"}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60_000 {
		alphabet := []rune(alphabets[rng.IntN(len(alphabets))])
		word := func(n int) string {
			var sb strings.Builder
			for range n {
				sb.WriteRune(alphabet[rng.IntN(len(alphabet))])
			}
			return sb.String()
		}
		text, pattern := word(rng.IntN(40)), word(1+rng.IntN(4))
		ignoreCase := rng.IntN(4) > 0
		start, end := newFinder(pattern, ignoreCase).find([]byte(text))
		wantStart, wantEnd := naiveFind(text, pattern, ignoreCase)
		if start != wantStart || end != wantEnd {
			t.Fatalf("Find(%q, ignoreCase=%t) in %q = %d, %d; want %d, %d", pattern, ignoreCase, text, start, end, wantStart, wantEnd)
		}
	}
}

// TestFindAcrossWindows puts the match at every place around the borders of the
// pieces the text is searched in.
func TestFindAcrossWindows(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"Needle", "\u212aarg", "οδοσ"} {
		finder := newFinder(pattern, true)
		match := strings.ToUpper(pattern)
		for _, border := range []int{4096, 8192} {
			for offset := -20; offset <= 20; offset++ {
				text := strings.Repeat("-", border+offset) + match + strings.Repeat("-", 50)
				start, end := finder.find([]byte(text))
				if start != border+offset || end != start+len(match) {
					t.Errorf("Find(%q) at %d = %d, %d", pattern, border+offset, start, end)
				}
			}
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("a Cargo b", "cargo", true)
	f.Add("300 \u212a", "K", true)
	f.Add("ΟΔΟΣ", "οδος", true)
	f.Add("\xff\xe2\x84\xaa\x84", "k", true)
	f.Fuzz(func(t *testing.T, text, pattern string, ignoreCase bool) {
		if pattern == "" || !utf8.ValidString(pattern) {
			t.Skip()
		}
		start, end := newFinder(pattern, ignoreCase).find([]byte(text))
		if !utf8.ValidString(text) {
			return // only: it does not panic
		}
		wantStart, wantEnd := naiveFind(text, pattern, ignoreCase)
		if start != wantStart || end != wantEnd {
			t.Errorf("Find(%q, %t) in %q = %d, %d; want %d, %d", pattern, ignoreCase, text, start, end, wantStart, wantEnd)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	text := bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog; func main() { return nil }\n"), 16<<10)
	for _, pattern := range []string{"cargo", "needle", "Tests", "kiss", "груз"} {
		b.Run(pattern, func(b *testing.B) {
			finder := newFinder(pattern, true)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if start, _ := finder.find(text); start >= 0 {
					b.Fatal("found a pattern that is not there")
				}
			}
		})
	}
}

// A long pattern that nearly stands everywhere in a text is found as a short one is.
func TestFindLongPatterns(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	found := 0
	for range 300 {
		period := []string{"a", "ab", "k\u212aK", "aab", "\u017fs"}[rng.IntN(5)]
		pattern := []rune(strings.Repeat(period, 90))[:65+rng.IntN(20)]
		text := []rune(strings.Repeat(period, 400))
		for range rng.IntN(12) {
			text[rng.IntN(len(text))] = []rune("abks\u0130")[rng.IntN(5)]
		}
		for range rng.IntN(3) {
			pattern[rng.IntN(len(pattern))] = []rune("abks\u0130")[rng.IntN(5)]
		}
		if rng.IntN(2) == 0 {
			copy(text[rng.IntN(len(text)-len(pattern)):], pattern)
		}
		stored := refold(string(text), rng)
		if rng.IntN(3) == 0 {
			stored = "\xff" + stored[:len(stored)/2] + "\xe2\x84" + stored[len(stored)/2:]
		}
		start, end := newFinder(string(pattern), true).find([]byte(stored))
		wantStart, wantEnd := naiveFind(stored, string(pattern), true)
		if start != wantStart || end != wantEnd {
			t.Fatalf("%q in %q: %d to %d, want %d to %d", string(pattern), stored, start, end, wantStart, wantEnd)
		}
		if start >= 0 {
			found++
		}
	}
	if found < 50 || found > 250 {
		t.Errorf("%d of 300 are found", found)
	}
	// Comparing this one at every place would take minutes.
	text := bytes.Repeat([]byte("ab"), 500_000)
	if start, _ := newFinder(strings.Repeat("ab", 50_000)+"aa", true).find(text); start >= 0 {
		t.Errorf("found at %d", start)
	}
}

// refold replaces runes by others that fold to the same.
func refold(s string, rng *rand.Rand) string {
	return strings.Map(func(r rune) rune {
		for range rng.IntN(4) {
			r = unicode.SimpleFold(r)
		}
		return r
	}, s)
}
