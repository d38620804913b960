package output

import (
	"fmt"
	"sort"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
)

// Fit renders as many of n records as fit into limit characters, leaving out
// whole records from the end. render writes the document with the first kept of
// them; it must not get shorter when it keeps more. Fit is false where not even
// a document without records fits. It renders all of them first, so that the
// usual case costs one rendering.
func Fit(limit, n int, render func(kept int) []byte) ([]byte, bool) {
	if text := render(n); utf8.RuneCount(text) <= limit {
		return text, true
	}
	over := sort.Search(n, func(kept int) bool { return utf8.RuneCount(render(kept)) > limit })
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

// LeftOut is the note of an answer that had to leave records out to keep to its
// size cap.
func LeftOut(kept, all, maxChars int) string {
	return fmt.Sprintf("Showing %d of %d records: the rest would take this answer over its limit of %d characters. Ask for less to see more of it.", kept, all, maxChars)
}

// MiddleLeftOut is the note of an answer that had to leave out the middle of a text to
// keep to its size cap.
func MiddleLeftOut(kept, all, maxChars int) string {
	return fmt.Sprintf("Showing %d of %d characters, from the beginning and the end: the middle would take this answer over its limit of %d characters. Ask for less to see more of it.", kept, all, maxChars)
}

// NothingFits is the error for an answer whose frame alone is over its size cap.
func NothingFits(tool string, maxChars int) error {
	return &contract.Error{Message: fmt.Sprintf("The answer of %s does not fit into its limit of %d characters even without records. Shorten the arguments that it repeats.", tool, maxChars)}
}
