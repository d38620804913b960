// Package literal finds a fixed string in text, with case or without.
//
// Ignoring case means Unicode simple case folding, rune by rune: "ſ" and "s"
// are the same, "ß" and "ss" are not. It is what [strings.EqualFold] and the
// (?i) flag of package regexp do.
//
// The package searches and nothing else. It keeps no state between calls, and
// never panics on text that is not UTF-8.
package literal

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// window is how many bytes are folded at a time.
const window = 4 << 10

// Finder finds one pattern. It is safe for concurrent use.
type Finder struct {
	pattern []byte // folded where case is ignored
	longest int    // bytes that a match has at most

	// Where case is ignored: the letters that differ from those of the pattern by case, and of
	// each byte the lower case, or rare where a letter of several bytes may begin.
	letters map[rune]rune
	lower   [256]byte
}

// rare is a byte that is in no UTF-8.
const rare = 0xff

// New returns a finder for a pattern, which must be valid UTF-8 and not empty.
func New(pattern string, ignoreCase bool) *Finder {
	f := &Finder{pattern: []byte(pattern), longest: len(pattern)}
	if !ignoreCase || !strings.ContainsFunc(pattern, func(r rune) bool { return unicode.SimpleFold(r) != r }) {
		return f
	}
	for c := range f.lower {
		f.lower[c] = byte(c) //nolint:gosec // an index of a byte
		if c < utf8.RuneSelf {
			f.lower[c] = byte(unicode.ToLower(rune(c))) //nolint:gosec // a character of ASCII
		}
	}
	f.letters, f.longest = map[rune]rune{}, 0
	for _, r := range pattern {
		f.longest += utf8.UTFMax
		to := least(r)
		f.letters[r] = to
		for v := unicode.SimpleFold(r); v != r; v = unicode.SimpleFold(v) {
			f.letters[v] = to
		}
	}
	for r := range f.letters {
		if r >= utf8.RuneSelf {
			f.lower[utf8.AppendRune(nil, r)[0]] = rare
		}
	}
	f.pattern = f.fold(make([]byte, len(pattern)), f.pattern)
	return f
}

// least returns the least of the runes that fold to the same, in lower case where that is a letter
// of ASCII: none of the others has fewer bytes.
func least(r rune) rune {
	least := r
	for v := unicode.SimpleFold(r); v != r; v = unicode.SimpleFold(v) {
		least = min(least, v)
	}
	if least < utf8.RuneSelf {
		return unicode.ToLower(least)
	}
	return least
}

// Find returns where the first match begins and ends, or -1, -1.
func (f *Finder) Find(text []byte) (start, end int) {
	if f.letters == nil {
		if start = bytes.Index(text, f.pattern); start < 0 {
			return -1, -1
		}
		return start, start + len(f.pattern)
	}
	var buffer [2 * window]byte
	size, folded := max(window, f.longest), buffer[:]
	if most := size + f.longest; most > len(folded) && len(text) > len(folded) {
		folded = make([]byte, most)
	}
	for low := 0; low < len(text); low += size {
		piece := text[low:min(low+size+f.longest, len(text))]
		if at := bytes.Index(f.fold(folded, piece), f.pattern); at >= 0 {
			start = low + f.unfolded(piece, at)
			return start, start + f.unfolded(text[start:], len(f.pattern))
		}
	}
	return -1, -1
}

// fold writes text to a buffer with the letters of the pattern as their least. Bytes that are no
// rune stay as they are, and are in no pattern.
func (f *Finder) fold(buffer, text []byte) []byte {
	to := 0
	for len(text) > 0 {
		n, out := len(text), buffer[to:][:len(text)]
		for i, c := range text {
			if out[i] = f.lower[c]; out[i] == rare {
				n = i
				break
			}
		}
		if to, text = to+n, text[n:]; len(text) == 0 {
			break
		}
		r, size := utf8.DecodeRune(text)
		if letter, ok := f.letters[r]; ok && (r != utf8.RuneError || size > 1) {
			to += utf8.EncodeRune(buffer[to:], letter)
		} else {
			to += copy(buffer[to:], text[:size])
		}
		text = text[size:]
	}
	return buffer[:to]
}

// unfolded returns how many bytes of a text become n when it is folded.
func (f *Finder) unfolded(text []byte, n int) int {
	var letter [utf8.UTFMax]byte
	at := 0
	for n > 0 {
		_, size := utf8.DecodeRune(text[at:])
		n -= len(f.fold(letter[:], text[at:at+size]))
		at += size
	}
	return at
}
