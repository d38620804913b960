package index_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/index"
)

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
		messages := rapid.Uint32Range(1, 1<<16).Draw(t, "messages")
		list := rapid.SliceOfDistinct(rapid.Uint16Range(0, uint16(messages-1)), rapid.ID).Draw(t, "list")
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
