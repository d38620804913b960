package envelope

import "sort"

// Fit renders as many of n records as fit into limit characters, leaving out
// whole records from the end. render writes the document with the first kept of
// them; it must not get shorter when it keeps more. Fit is false where not even
// a document without records fits. It renders all of them first, so that the
// usual case costs one rendering.
func Fit(limit, n int, render func(kept int) []byte) ([]byte, bool) {
	if text := render(n); Chars(text) <= limit {
		return text, true
	}
	over := sort.Search(n, func(kept int) bool { return Chars(render(kept)) > limit })
	if over == 0 {
		return nil, false
	}
	return render(over - 1), true
}
