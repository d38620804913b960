package excerpt

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/cases"
)

// TestEachFindsWhatTheRegularExpressionFinds compares the search in portions with
// one for all matches at once.
func TestEachFindsWhatTheRegularExpressionFinds(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{`a`, `\ba`, `\Ba`, `a\b`, `^a`, `a$`, `a*`, `(?:a|ab)`, `(?m)^.`, `.`, `b|`, `\b`, `é+`, `[^a]`, `\Qa`, `a|^b`, `(?i)A\b|É`} {
		p, err := Compile(expr, true, false)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for range cases.Of(4) {
			var text strings.Builder
			for range 3*maxLocations + rng.IntN(maxLocations) {
				text.WriteString([]string{"a", "a", "b", " ", "é", "\xff"}[rng.IntN(6)])
			}
			line := []byte(strings.Repeat("a ", maxLocations) + text.String())
			var want, got []Span
			for _, loc := range p.regex.FindAllIndex(line, -1) {
				if loc[0] < loc[1] {
					want = append(want, Span{loc[0], loc[1]})
				}
			}
			p.each(line, -1, func(s Span) bool {
				got = append(got, s)
				return true
			})
			if !slices.Equal(want, got) {
				t.Fatalf("%q (-want +got):\n%.500s", expr, cmp.Diff(want, got))
			}
		}
	}
}
