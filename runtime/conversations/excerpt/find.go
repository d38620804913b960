package excerpt

import (
	"bytes"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/fold"
)

// finder finds a text, with case or without, which is as package fold has it. It is safe for
// concurrent use.
type finder struct {
	pattern []byte // folded where case is ignored
	folds   bool   // there is a letter in it whose case is ignored
	longest int    // bytes that a match has at most
}

// window is how many bytes are folded at a time.
const window = 4 << 10

// newFinder returns a finder for a text, which must be valid UTF-8 and not empty.
func newFinder(text string, ignoreCase bool) *finder {
	f := &finder{pattern: []byte(text), folds: ignoreCase}
	if ignoreCase {
		f.pattern = fold.Append(nil, f.pattern)
		f.longest = utf8.UTFMax * utf8.RuneCount(f.pattern)
	}
	return f
}

// find returns where the first match begins and ends, or -1, -1.
func (f *finder) find(text []byte) (start, end int) {
	if !f.folds {
		if start = bytes.Index(text, f.pattern); start < 0 {
			return -1, -1
		}
		return start, start + len(f.pattern)
	}
	var buffer [2 * window]byte
	size, folded := max(window, f.longest), buffer[:0]
	for low := 0; low < len(text); low += size {
		piece := text[low:min(low+size+f.longest, len(text))]
		folded = fold.Append(folded[:0], piece)
		if at := bytes.Index(folded, f.pattern); at >= 0 {
			start = low + unfolded(piece, at)
			return start, start + unfolded(text[start:], len(f.pattern))
		}
	}
	return -1, -1
}

// unfolded returns how many bytes of a text become n when it is folded.
func unfolded(text []byte, n int) int {
	var letter [utf8.UTFMax]byte
	at := 0
	for n > 0 {
		if text[at] < utf8.RuneSelf {
			n, at = n-1, at+1
			continue
		}
		_, size := utf8.DecodeRune(text[at:])
		n -= len(fold.Append(letter[:0], text[at:at+size]))
		at += size
	}
	return at
}
