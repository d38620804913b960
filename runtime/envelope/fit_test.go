package envelope_test

import (
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/envelope"
)

// TestFit compares with trying every number of records.
func TestFit(t *testing.T) {
	t.Parallel()
	for n := range 12 {
		// Ten characters each, in more bytes, and six more to say what is missing.
		render := func(kept int) []byte {
			text := "<" + strings.Repeat("é123456789", kept) + ">"
			if kept < n {
				text += "[more]"
			}
			return []byte(text)
		}
		for limit := range 140 {
			want := -1
			for kept := range n + 1 {
				if envelope.Chars(render(kept)) <= limit {
					want = kept
				}
			}
			got, ok := envelope.Fit(limit, n, render)
			if ok != (want >= 0) || ok && string(got) != string(render(want)) {
				t.Fatalf("limit %d, %d records: got %q, %v, want %d of them", limit, n, got, ok, want)
			}
		}
	}
}

func TestFitRendersOnceWhereAllFits(t *testing.T) {
	t.Parallel()
	calls := 0
	if _, ok := envelope.Fit(10, 1000, func(int) []byte { calls++; return nil }); !ok || calls != 1 {
		t.Errorf("ok %v after %d renderings", ok, calls)
	}
}
