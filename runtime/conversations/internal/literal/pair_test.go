package literal_test

import (
	"bytes"
	"strings"
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

// Searching for a pattern looks at two bytes of it wherever they stand in blocks of 16 and of
// 64, at any distance, and at nothing outside of the text.
func TestFindInBlocks(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"zq", "zeq", "z e q", "Z" + strings.Repeat("e", 30) + "q", "жz", "東京", "kzks", "12", "z1"} {
		for _, ignoreCase := range []bool{false, true} {
			f := literal.New(pattern, ignoreCase)
			for length := range 170 {
				buffer := bytes.Repeat([]byte("zQ1 "), 100)
				text := buffer[100 : 100+length : 100+length] // with a beginning of matches all around
				for i := range text {
					text[i] = "zeE\n"[i%4]
				}
				if start, _ := f.Find(text); start >= 0 {
					t.Fatalf("%q is at %d of %q", pattern, start, text)
				}
				for at := 0; at+len(pattern) <= length; at += 7 {
					whole := bytes.Clone(text)
					copy(whole[at:], pattern)
					wantStart, wantEnd := naiveFind(string(whole), pattern, ignoreCase)
					if start, end := f.Find(whole); start != wantStart || end != wantEnd {
						t.Fatalf("%q in %q: %d, %d; want %d, %d", pattern, whole, start, end, wantStart, wantEnd)
					}
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
