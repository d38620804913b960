package literal_test

import (
	"bytes"
	"testing"

	"github.com/convtools/convtools/runtime/conversations/internal/literal"
)

func TestIndexPair(t *testing.T) {
	t.Parallel()
	for length := range 80 {
		for at := range length {
			for _, rest := range []byte{'a', 'b', 0, 0xff, 'a' + 1, 'a' ^ 0x80} {
				text := bytes.Repeat([]byte{rest}, length)
				text[at] = 'a'
				want := bytes.Index(text, []byte("ab"))
				if got := literal.IndexPair(text, 'a', 'b'); got != want {
					t.Fatalf("%q: %d, want %d", text, got, want)
				}
				if at+1 < length {
					text[at+1] = 'b'
				}
				want = bytes.Index(text, []byte("ab"))
				if got := literal.IndexPair(text, 'a', 'b'); got != want {
					t.Fatalf("%q: %d, want %d", text, got, want)
				}
			}
		}
	}
}

func FuzzIndexPair(f *testing.F) {
	f.Add([]byte(`a \n b \\u00e9 and a long text behind it that fills blocks`), byte('\\'), byte('u'))
	f.Add([]byte("aaab"), byte('a'), byte('a'))
	f.Fuzz(func(t *testing.T, text []byte, a, b byte) {
		want := bytes.Index(text, []byte{a, b})
		if got := literal.IndexPair(text, a, b); got != want {
			t.Errorf("IndexPair(%q, %q, %q) = %d, want %d", text, a, b, got, want)
		}
	})
}
