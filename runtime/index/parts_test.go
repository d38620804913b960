package index_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/index"
)

// TestFoldsWhatIsEqual holds folding against [unicode.SimpleFold], for every rune.
func TestFoldsWhatIsEqual(t *testing.T) {
	t.Parallel()
	fold := func(r rune) string { return string(index.AppendFolded(nil, utf8.AppendRune(nil, r))) }
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		folded := fold(r)
		if other := unicode.SimpleFold(r); fold(other) != folded {
			t.Errorf("%U is %q, and %U, which is equal, %q", r, folded, other, fold(other))
		}
		if f, _ := utf8.DecodeRuneInString(folded); utf8.RuneCountInString(folded) != 1 || !strings.EqualFold(string(f), string(r)) {
			t.Errorf("%U is %q, which is not equal", r, folded)
		}
	}
	if got := index.AppendFolded(nil, []byte("A\xffB\xc3")); string(got) != "a\xffb\xc3" {
		t.Errorf("bytes that are not UTF-8: %q", got)
	}
}

func TestSymbolsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOf(rapid.OneOf(
			rapid.SliceOf(rapid.SampledFrom([]byte("abc \x00\xff"))),
			rapid.SliceOf(rapid.Byte()),
			rapid.Custom(func(t *rapid.T) []byte { return []byte(strings.Repeat(drawText(t, 5, "part"), 20)) }),
		))
		samples := texts.Draw(t, "samples")
		text := slices.Concat(texts.Draw(t, "text")...)
		if got, _, ok := index.RoundTrip(samples, text); !ok || !bytes.Equal(got, text) {
			t.Fatalf("%q, %t; want %q", got, ok, text)
		}
	})
}

func TestSymbolsCompress(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("that the index is small is what the symbols are for, ", 40))
	if _, codes, _ := index.RoundTrip([][]byte{text}, text); codes > len(text)/3 {
		t.Errorf("%d bytes are %d codes", len(text), codes)
	}
}

func TestListsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := rapid.Uint32Range(1, 1<<20).Draw(t, "messages")
		list := rapid.SliceOfDistinct(rapid.Uint32Range(0, messages-1), rapid.ID).Draw(t, "list")
		slices.Sort(list)
		if got, ok := index.Differences(list, messages); !ok || !slices.Equal(got, list) {
			t.Fatalf("%d, %t; want %d", got, ok, list)
		}
	})
}

func TestFooterSize(t *testing.T) {
	t.Parallel()
	if taken, is := index.FooterSizes(); taken != is {
		t.Errorf("a footer has %d bytes, not %d", is, taken)
	}
}
