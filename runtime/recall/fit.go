package recall

import (
	"sort"

	"github.com/convtools/convtools/runtime/envelope"
)

// chars is how long a generated envelope is, in the characters that caps count.
func chars(e any) int { return envelope.Chars(envelope.Document(e)) }

// fit returns the envelope with as many of n items as keep it within the cap.
// Longer prefixes make longer envelopes, but for a note more or less, so a
// search by halves is near the mark and the rest is counted down.
func fit[E any](n, limit int, build func(int) E) E {
	whole := build(n)
	if chars(whole) <= limit {
		return whole
	}
	kept := max(0, sort.Search(n, func(kept int) bool { return chars(build(kept)) > limit })-1)
	for kept > 0 && chars(build(kept)) > limit {
		kept--
	}
	return build(kept)
}
