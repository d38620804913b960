package fold_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/convtools/convtools/runtime/base/fold"
)

// Equal runes fold to the same rune, and others do not.
func TestRune(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		folded := fold.Rune(r)
		if !strings.EqualFold(string(folded), string(r)) && r != folded {
			t.Fatalf("%U is folded to %U", r, folded)
		}
		if next := unicode.SimpleFold(r); fold.Rune(next) != folded {
			t.Fatalf("%U and %U are equal, and folded to %U and %U", r, next, folded, fold.Rune(next))
		}
		if fold.Rune(folded) != folded {
			t.Fatalf("%U is folded to %U, and that to %U", r, folded, fold.Rune(folded))
		}
		if got := string(fold.Append(nil, []byte(string(r)))); got != string(folded) {
			t.Fatalf("%U is folded to %U by Rune, and to %q by Append", r, folded, got)
		}
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "AbZ[`": "abz[`", "K\u212a": "kk", "\u017fS": "ss", "\u1e9e": "\u00df", "\u0130": "\u0130", "ΟΔΟΣ": "οδος",
		"東ガ": "東ガ", "\xffA\x00\xc3": "\xffa\x00\xc3", "\xe4A\xb8É\xed\xa0\x80Ｂ": "\xe4a\xb8é\xed\xa0\x80ｂ", "\u0345Ι": "\u03b9\u03b9",
	} {
		if got := fold.Append([]byte(">"), []byte(text)); string(got) != ">"+want {
			t.Errorf("%q: %q, want %q", text, got[1:], want)
		}
	}
	var ascii []byte
	for c := range byte(0x80) {
		ascii = append(ascii, c)
	}
	for from := range 9 { // so that each is at each place of what is folded together
		text := string(ascii[from:])
		if got := string(fold.Append(nil, []byte(text+"É"+text))); got != strings.ToLower(text+"É"+text) {
			t.Errorf("%q: %q", text, got)
		}
	}
	if !bytes.Equal(fold.Append(nil, []byte("ǅ")), fold.Append(nil, []byte("Ǆ"))) {
		t.Error("title case")
	}
}
