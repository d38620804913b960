// Package fold makes texts comparable without regard to case, by Unicode simple case folding, rune by rune: "ſ" and
// "s" are equal, "ß" and "ss" are not. It folds as [strings.EqualFold] and package regexp do.
package fold

import (
	"encoding/binary"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Append appends text to dst, with [Rune] of each rune in place of the rune. Bytes that are not UTF-8 stay. Texts that
// differ only in case become the same bytes.
func Append(dst, text []byte) []byte {
	for len(text) > 0 {
		if len(text) >= 8 {
			if word := binary.LittleEndian.Uint64(text); word&high == 0 { // eight bytes of ASCII
				dst, text = binary.LittleEndian.AppendUint64(dst, lower(word)), text[8:]
				continue
			}
		}
		b, size := text[0], 1
		switch {
		case b < utf8.RuneSelf:
			dst = append(dst, byte(lower(uint64(b)))) //nolint:gosec // a byte
		case isCaselessByte(b): // it begins a rune without case, such as a Chinese one, or is inside of a rune
			for size < len(text) && isCaselessByte(text[size]) {
				size++
			}
			dst = append(dst, text[:size]...)
		default:
			var r rune
			r, size = utf8.DecodeRune(text)
			if r == utf8.RuneError && size == 1 || isCaseless(r) { // not UTF-8, or without case
				dst = append(dst, text[:size]...)
			} else {
				dst = utf8.AppendRune(dst, tableRune(r)) // Rune(r), for common runes from a table
			}
		}
		text = text[size:]
	}
	return dst
}

// ones has 1 in each byte of a word, and high the highest bit of each byte.
const (
	ones = 0x0101010101010101
	high = 0x80 * ones
)

// lower returns eight bytes of ASCII in lower case.
func lower(word uint64) uint64 {
	fromA, afterZ := word+(0x80-'A')*ones, word+(0x80-'Z'-1)*ones // highest bit of a byte: set from 'A' on, or after 'Z'
	return word | ((fromA^afterZ)&high)>>2                        // sets 0x80>>2, which makes 'a' of 'A', from 'A' to 'Z'
}

// isCaselessByte reports whether a byte is not ASCII and never begins a rune with case: it is inside of a rune, or begins
// one from U+3000 to U+9FFF, or a rune of Hangul. Bytes that are not UTF-8 stay anyway.
func isCaselessByte(b byte) bool { return 0x80 <= b && b < 0xC0 || 0xE3 <= b && b < 0xEE && b != 0xEA }

// isCaseless reports whether r is in one of four ranges of common runes without case. These are, in order: punctuation
// and symbols; the scripts from Han to Vai; Hangul; punctuation and digits of full width.
func isCaseless(r rune) bool {
	return 0x2000 <= r && r < 0x2100 || 0x2E80 <= r && r < 0xA640 || 0xAC00 <= r && r < 0xD800 || 0xFF00 <= r && r < 0xFF21
}

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
