// Package fold makes texts comparable without regard to case, by Unicode simple case folding, rune by rune: "ſ" and
// "s" are equal, "ß" and "ss" are not. It folds as [strings.EqualFold] and package regexp do.
package fold

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// Append appends text to dst, with [Rune] of each rune in place of the rune. Bytes that are not UTF-8 stay. In texts
// that are folded so, a search for equal bytes finds what a search without regard to case finds.
func Append(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		b := text[i]
		if b < utf8.RuneSelf {
			if 'A' <= b && b <= 'Z' {
				b += 'a' - 'A'
			}
			dst = append(dst, b)
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 || isCaseless(r) {
			dst = append(dst, text[i:i+size]...)
		} else {
			dst = utf8.AppendRune(dst, tableRune(r))
		}
		i += size
	}
	return dst
}

// isCaseless reports whether a rune is in a large block of scripts without case: from the radicals of Han to Yi, and
// Hangul.
func isCaseless(r rune) bool { return 0x2E80 <= r && r < 0xA640 || 0xAC00 <= r && r < 0xD800 }

// alphabets has the folded runes of Latin, Greek, Cyrillic and Armenian.
var alphabets struct {
	sync.Once
	folded [0x590]rune
}

// tableRune returns Rune(r). For a rune of alphabets it looks the result up in a table, which its first call makes.
func tableRune(r rune) rune {
	if int(r) >= len(alphabets.folded) {
		return Rune(r)
	}
	alphabets.Do(func() {
		for i := range alphabets.folded {
			alphabets.folded[i] = Rune(rune(i)) //nolint:gosec // an index
		}
	})
	return alphabets.folded[r]
}

// Rune returns the same rune for all runes that are equal to r without regard to case: the first lower-case one of
// them, or the first of them if none is lower-case.
func Rune(r rune) rune {
	first, firstLower := r, rune(-1)
	for v := unicode.SimpleFold(r); ; v = unicode.SimpleFold(v) {
		first = min(first, v)
		if unicode.IsLower(v) && (firstLower < 0 || v < firstLower) {
			firstLower = v
		}
		if v == r { // back at the beginning of the orbit
			break
		}
	}
	if firstLower >= 0 {
		return firstLower
	}
	return first
}
