package literal_test

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/conversations/internal/literal"
)

// forms returns a text in all forms in which it may be stored.
func forms(text string) []string {
	return []string{text, base64.StdEncoding.EncodeToString([]byte(text)), base64.URLEncoding.EncodeToString([]byte(text))}
}

// TestSieveLetsMatchesThrough is about the one thing a sieve must never do: to
// hold back a string that has a match.
func TestSieveLetsMatchesThrough(t *testing.T) {
	t.Parallel()
	alphabets := []string{"aAbBcCdD .", "kK\u212asS\u017fxX", "жЖдД日x", "σςΣοΟ", "~?>\u00ff\u00bf", "0123"}
	rng := rand.New(rand.NewPCG(3, 4))
	tried := 0
	for range 20_000 {
		alphabet := []rune(alphabets[rng.IntN(len(alphabets))])
		var word strings.Builder
		for range 1 + rng.IntN(12) {
			word.WriteRune(alphabet[rng.IntN(len(alphabet))])
		}
		pattern := word.String()
		ignoreCase := rng.IntN(3) > 0
		sieve := literal.NewSieve(pattern, ignoreCase)
		if sieve == nil {
			continue
		}
		tried++
		match := pattern
		if ignoreCase {
			match = refold(pattern, rng)
		}
		text := strings.Repeat("é", rng.IntN(3)) + strings.Repeat("-", rng.IntN(40)) + match + strings.Repeat("-", rng.IntN(40))
		for _, stored := range forms(text) {
			if !sieve.MayHold([]byte(stored)) {
				t.Fatalf("pattern %q (ignoreCase=%t): %q is held back, it is %q", pattern, ignoreCase, stored, text)
			}
		}
	}
	if tried < 10_000 {
		t.Errorf("only %d patterns were long enough for a sieve", tried)
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

// TestSieveHoldsBack shows that a sieve is of use: most text without a match does
// not pass.
func TestSieveHoldsBack(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for _, pattern := range []string{"cargo", "tidemarks", "retry policy", "日本語", "sessions"} {
		sieve := literal.NewSieve(pattern, true)
		if sieve == nil {
			t.Fatalf("no sieve for %q", pattern)
		}
		passed := 0
		for range 500 {
			text := make([]byte, 300)
			for i := range text {
				text[i] = ' ' + byte(rng.IntN(95))
			}
			for _, stored := range forms(string(text)) {
				if sieve.MayHold([]byte(stored)) {
					passed++
				}
			}
		}
		if passed > 15 {
			t.Errorf("pattern %q: %d of 1500 strings without a match passed", pattern, passed)
		}
	}
}

func TestNoSieveForShortPatterns(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"a", "ab", "é"} {
		if literal.NewSieve(pattern, true) != nil {
			t.Errorf("pattern %q has a sieve, which would be slower than decoding", pattern)
		}
	}
}

func FuzzSieve(f *testing.F) {
	f.Add("some Cargo text", "cargo", true)
	f.Add("300 \u212aelvin", "kelv", true)
	f.Add("~~??>>", "?>>", false)
	f.Fuzz(func(t *testing.T, text, pattern string, ignoreCase bool) {
		if pattern == "" || !utf8.ValidString(pattern) || !utf8.ValidString(text) {
			t.Skip()
		}
		sieve := literal.NewSieve(pattern, ignoreCase)
		if start, _ := naiveFind(text, pattern, ignoreCase); start < 0 || sieve == nil {
			return
		}
		for _, stored := range forms(text) {
			if !sieve.MayHold([]byte(stored)) {
				t.Errorf("pattern %q (ignoreCase=%t): %q is held back, it is %q", pattern, ignoreCase, stored, text)
			}
		}
	})
}

func BenchmarkSieve(b *testing.B) {
	text := bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog; func main() { return nil }\n"), 16<<10)
	stored := []byte(base64.StdEncoding.EncodeToString(text))
	for _, pattern := range []string{"cargo", "needle", "Tests", "tidemarks", "груз"} {
		b.Run(pattern, func(b *testing.B) {
			sieve := literal.NewSieve(pattern, true)
			b.SetBytes(int64(len(stored)))
			for b.Loop() {
				if sieve.MayHold(stored) {
					b.Fatal("found a pattern that is not there")
				}
			}
		})
	}
}
