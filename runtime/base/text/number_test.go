package text_test

import (
	"testing"

	"github.com/convtools/convtools/runtime/base/text"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 20_000: "20,000", 1_234_567: "1,234,567", -123: "-123", -1234: "-1,234"} {
		if got := text.Number(n); got != want {
			t.Errorf("Number(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 turns", 1: "1 turn", 2: "2 turns", 1000: "1,000 turns"} {
		if got := text.Count(n, "turn", "turns"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}
