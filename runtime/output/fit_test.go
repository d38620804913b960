package output_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/output"
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
				if utf8.RuneCount(render(kept)) <= limit {
					want = kept
				}
			}
			got, ok := output.Fit(limit, n, render)
			if ok != (want >= 0) || ok && string(got) != string(render(want)) {
				t.Fatalf("limit %d, %d records: got %q, %v, want %d of them", limit, n, got, ok, want)
			}
		}
	}
}

func TestFitRendersOnceWhereAllFits(t *testing.T) {
	t.Parallel()
	calls := 0
	if _, ok := output.Fit(10, 1000, func(int) []byte { calls++; return nil }); !ok || calls != 1 {
		t.Errorf("ok %v after %d renderings", ok, calls)
	}
}

// TestFitText compares with trying every number of characters.
func TestFitText(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "é", "abc", strings.Repeat("é<23456789", 12)} {
		// What XML escapes is longer than it was, and so is what states that some is missing.
		render := func(part string, kept, all int) []byte {
			document := "<" + strings.ReplaceAll(part, "<", "&lt;") + ">"
			if kept < all {
				document += "[more]"
			}
			return []byte(document)
		}
		whole := render(s, 0, 0)
		for limit := range 180 {
			got, ok := output.FitText(limit, s, render)
			switch {
			case len([]rune(string(whole))) <= limit:
				if string(got) != string(whole) || !ok {
					t.Fatalf("limit %d: got %q, %v, want all of it", limit, got, ok)
				}
			case ok != (limit >= len([]rune("< … 120 characters omitted … >[more]"))) && len(s) > 100:
				t.Fatalf("limit %d: got %q, %v", limit, got, ok)
			case ok && (len([]rune(string(got))) > limit || len([]rune(string(got))) < limit-6):
				t.Fatalf("limit %d: got %q of %d characters", limit, got, len([]rune(string(got))))
			case ok && !strings.HasPrefix(string(whole), strings.SplitN(string(got), " … ", 2)[0]):
				t.Fatalf("limit %d: %q does not begin as the text does", limit, got)
			}
		}
	}
}
