package envelope

import (
	"sort"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
)

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

// FitText renders as much of s as fits into limit characters, leaving out its middle,
// where a mark stands then. render writes the document with a part of s, which has
// kept of all its characters. FitText is false where not even a document without any
// of them fits.
func FitText(limit int, s string, render func(part string, kept, all int) []byte) ([]byte, bool) {
	all := utf8.RuneCountInString(s)
	return Fit(limit, all, func(kept int) []byte {
		if kept == all {
			return render(s, all, all)
		}
		return render(text.CutMiddle(s, kept), kept, all)
	})
}
