package excerpt

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/cases"
)

// TestLines compares lines with a choice among all lines of a text.
func TestLines(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	p, err := Compile("x", false, true)
	if err != nil {
		t.Fatal(err)
	}
	for range cases.Of(2_000) {
		var b strings.Builder
		for range rng.IntN(14) {
			b.WriteString([]string{"x", "a", "\n", "\n", "\r\n", "X y\n"}[rng.IntN(6)])
		}
		text, around, most := b.String(), rng.IntN(4), rng.IntN(5)-1
		all := strings.Split(text, "\n")
		if all[len(all)-1] == "" {
			all = all[:len(all)-1]
		}
		kinds := make([]int, len(all)) // 1 is around a match, 2 is a match
		left := most
		for i, line := range all {
			if left == 0 || !strings.ContainsAny(line, "xX") {
				continue
			}
			left--
			for j := max(0, i-around); j <= min(len(all)-1, i+around); j++ {
				kinds[j] = max(kinds[j], 1)
			}
			kinds[i] = 2
		}
		var want, got []string
		for i, kind := range kinds {
			if line := strings.TrimSuffix(all[i], "\r"); kind > 0 {
				want = append(want, fmt.Sprint(i+1, kind == 2, line))
			}
		}
		for l := range p.Lines([]byte(text), around, most) {
			got = append(got, fmt.Sprint(l.Number, l.IsMatch, text[l.Start:l.End]))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%d around each of %d in %q (-want +got):\n%s", around, most, text, diff)
		}
	}
}
