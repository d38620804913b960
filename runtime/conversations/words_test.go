package conversations

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/cases"
)

// TestShortestPart tries all parts of short texts in which matches overlap.
func TestShortestPart(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 32))
	alphabet := []rune("aabk\u212aé\n ")
	choice := []string{"a", "aa", "ab", "aba", "k", "ak", "é", "a a", "bbbb", "kéka"}
	tried := 0
	for range cases.Of(10_000) {
		var b strings.Builder
		for range 2 + rng.IntN(30) {
			b.WriteRune(alphabet[rng.IntN(len(alphabet))])
		}
		text := b.String()
		var texts []string
		for range 1 + rng.IntN(4) {
			texts = append(texts, choice[rng.IntN(len(choice))])
		}
		words := wordsOf(t, texts...)
		holdsAll := func(part string) bool {
			for _, word := range words {
				if start, _ := word.finder.Find([]byte(part)); start < 0 {
					return false
				}
			}
			return true
		}
		if !holdsAll(text) {
			continue
		}
		tried++
		want, at := 0, 0
		for i := range text {
			for j := i; j <= len(text); j++ {
				if !utf8.ValidString(text[i:j]) || !holdsAll(text[i:j]) {
					continue
				}
				if n := utf8.RuneCountInString(text[i:j]); want == 0 || n < want {
					want, at = n, i
				}
				break
			}
		}
		got, err := shortestPart(t.Context(), []byte(text), words)
		if err != nil || got.chars != want || got.matches[0].Start != at || len(got.matches) != len(words) {
			t.Fatalf("%q in %q: %+v, %v; want %d characters at %d", texts, text, got, err, want, at)
		}
	}
	if tried < 2_000 {
		t.Errorf("only %d texts hold all words", tried)
	}
}

func TestShortestPartEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text := []byte(strings.Repeat("aa ", 10*stepsPerLook) + "b")
	if _, err := shortestPart(ctx, text, wordsOf(t, "aa", "b")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
