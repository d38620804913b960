// Package fold makes text of which case is no matter comparable byte for byte, by
// Unicode simple case folding, rune by rune: "ſ" and "s" are the same, "ß" and "ss" are
// not. It is the folding of [strings.EqualFold] and of package regexp.
package fold

import (
	"encoding/binary"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Version changes when the same text may be folded to another one: with the tables of
// Unicode, and with the rune that is taken for those that are equal.
const Version = "1-" + unicode.Version

// Append appends text to dst with each rune replaced by one that stands for all that it is
// equal to: a small letter, where there is one. Bytes that are not UTF-8 stay as they are.
//
// As text in UTF-8 has a rune only where one begins, one folded text holds another, byte
// for byte, exactly where the texts match rune for rune.
func Append(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		if i+8 <= len(text) {
			if word := binary.LittleEndian.Uint64(text[i:]); word&high == 0 {
				dst = binary.LittleEndian.AppendUint64(dst, small(word))
				i += 8
				continue
			}
		}
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
			dst = utf8.AppendRune(dst, known(r))
		}
		i += size
	}
	return dst
}

// Each byte of a word has the highest bit there, or the lowest one.
const (
	high = 0x8080808080808080
	low  = 0x0101010101010101
)

// small returns eight ASCII characters with small letters in place of large ones.
func small(word uint64) uint64 {
	fromA, behindZ := word+(0x80-'A')*low, word+(0x80-'Z'-1)*low // have the highest bits of those from A on, and behind Z
	return word | (fromA&^behindZ&high)>>2
}

// isCaseless reports whether a rune is one of a large block of scripts without case: from
// the radicals of Han to Yi, and Hangul.
func isCaseless(r rune) bool { return 0x2E80 <= r && r < 0xA640 || 0xAC00 <= r && r < 0xD800 }

// alphabets are the runes of Latin, Greek, Cyrillic and Armenian, folded once.
var alphabets struct {
	once   sync.Once
	folded [0x590]rune
}

// known is Rune, fast for alphabets.
func known(r rune) rune {
	if int(r) >= len(alphabets.folded) {
		return Rune(r)
	}
	alphabets.once.Do(func() {
		for i := range alphabets.folded {
			alphabets.folded[i] = Rune(rune(i)) //nolint:gosec // an index
		}
	})
	return alphabets.folded[r]
}

// Rune returns the rune that stands for all that r is equal to: the first small letter of
// them, or where none is one, the first.
func Rune(r rune) rune {
	least, small := r, rune(-1)
	for v := unicode.SimpleFold(r); ; v = unicode.SimpleFold(v) {
		least = min(least, v)
		if unicode.IsLower(v) && (small < 0 || v < small) {
			small = v
		}
		if v == r {
			break
		}
	}
	if small >= 0 {
		return small
	}
	return least
}
